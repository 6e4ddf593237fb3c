"""What holds in every session: same facts, same bytes; nobody below a person overrides one; no
text of a model or a tool decides anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from declared_story import (
    Story,
    activate,
    complete,
    fact,
    fail,
    ref,
    refused,
    step,
    tell,
    trouble,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfinder.reducer.alignment.clauses import SURE
from wayfinder.reducer.alignment.tensions import tensions, watches
from wayfinder.reducer.alignment.verdict import history, verdict
from wayfinder.reducer.alignment.words import SENTENCES, say
from wayfinder.reducer.net.invariants import check
from wayfinder.reducer.session.fold import replay
from wayfinder.reducer.vocabulary.codec import canonical
from wayfinder.reducer.vocabulary.episode import Episode
from wayfinder.reducer.vocabulary.patch import (
    Connect,
    CreatePlace,
    MarkGate,
    PatchOp,
    RetireTransition,
    SetTransitionContract,
    SupersedeTransition,
)
from wayfinder.reducer.vocabulary.people import CorrectionType
from wayfinder.reducer.vocabulary.terms import (
    AlignmentStatus,
    ArcKind,
    Boundary,
    Coverage,
    EpisodeKind,
    GateState,
    Level,
    Outcome,
    PlaceType,
    TransitionState,
)

STEPS = ("tr_a", "tr_b", "tr_c")
SELECTORS = {"tr_a": ("test:x",), "tr_b": ("test:y=pass",), "tr_c": ()}

episodes = st.builds(
    lambda kind, outcome, coverage, facts, number, changed, named: Episode(
        episode_id="ep_0",
        from_position=0,
        to_position=0,
        kind=kind,
        outcome=outcome,
        boundary=Boundary.CALLS_CAP,
        coverage=coverage,
        ended_at=0,
        calls=1,
        facts=tuple(fact(each) for each in facts),
        signatures=(trouble(number, number),) if number else (),
        files_changed=int(changed is not None),
        changed_refs=(ref(changed),) if changed is not None else (),
        transition_id=named,
    ),
    st.sampled_from([EpisodeKind.EDIT, EpisodeKind.TEST, EpisodeKind.INSPECT]),
    st.sampled_from([Outcome.OK, Outcome.FAILED]),
    st.sampled_from([*[Coverage.FULL] * 9, Coverage.PARTIAL, Coverage.UNKNOWN]),
    st.lists(st.sampled_from(["test:x=pass", "test:x=fail", "test:y=pass", "file:z"]), max_size=2),
    st.integers(0, 3),
    st.one_of(st.none(), st.integers(0, 3)),
    st.sampled_from([None, None, None, "tr_b"]),
)
remarks = st.fixed_dictionaries(
    {},
    optional={
        "step": st.sampled_from(["tr_b", "tr_b", *STEPS]),
        "intent": st.sampled_from(["diverged", "other work", "Investigate"]),
        "confidence": st.sampled_from([0.99, 0.99, 0.85, 0.84, 0.5]),
        "model": st.sampled_from(["model-1", "model-1", "model-2"]),
    },
)
agent_ops: dict[str, Callable[[Story, str], tuple[PatchOp, ...]]] = {
    "activate": lambda _, name: (activate(name),),
    "complete": lambda _, name: (complete(name),),
    "fail": lambda _, name: (fail(name),),
    "contract": lambda story, name: (
        SetTransitionContract(name, evidence_selectors=(f"test:{story.count}",)),
    ),
    "words": lambda story, name: (SetTransitionContract(name, why_now=f"again {story.count}"),),
    "satisfy": lambda story, name: (tell(name, "ee1", evidence_id=f"ev_s{story.count}"),),
    "tell": lambda story, name: (tell(name, evidence_id=f"ev_t{story.count}"),),
}
agent_acts = st.tuples(st.sampled_from(sorted(agent_ops)), st.sampled_from(STEPS))
human_acts = st.tuples(
    st.sampled_from([CorrectionType.WRONG_STEP, CorrectionType.ONLY, CorrectionType.RETIRE]),
    st.sampled_from(STEPS),
)
acts = st.lists(
    st.one_of(*[episodes] * 7, agent_acts, agent_acts, human_acts), min_size=3, max_size=22
)


said_of_episodes = st.lists(st.tuples(st.integers(0, 5), remarks), max_size=8)


@dataclass
class Late:
    """A tale in which remarks, and the commits of episodes, come when they come."""

    story: Story = field(default_factory=Story)
    waiting: list[Episode] = field(default_factory=list)

    def begin(self) -> None:
        for name in STEPS:
            self.story.patch(*step(name, selectors=SELECTORS[name], success="pl_start"))

    def start(self) -> None:
        self.begin()
        self.story.patch(activate("tr_a"))

    def act(self, act: object) -> None:
        story = self.story
        if isinstance(act, Episode):
            self.waiting.append(placed(story, act))
        elif isinstance(act[0], CorrectionType):  # type: ignore[index]
            self.flush()  # a person decides on what they saw
            story.human(act[0], act[1])  # type: ignore[index]
        else:
            story.patch(*agent_ops[act[0]](story, act[1]))  # type: ignore[index]

    def flush(self) -> None:
        for episode in self.waiting:
            self.story.commit(episode)
        self.waiting.clear()


def placed(story: Story, episode: Episode) -> Episode:
    from msgspec.structs import replace

    start = story.position + 1
    story.position += 2
    story.now_ms += 60_000
    return replace(
        episode,
        episode_id=f"ep_{start}",
        from_position=start,
        to_position=story.position,
        ended_at=story.now_ms,
    )


def told(tale: list[object], commit_at: set[int], remark_at: dict[int, list[object]]) -> Story:
    """The tale with segments committed after the acts in `commit_at`, remarks after `remark_at`."""
    late = Late()
    late.start()
    pending: list[object] = []
    for number, act in enumerate(tale):
        late.act(act)
        if number in commit_at:
            late.flush()
        pending.extend(remark_at.get(number, ()))
        pending = [each for each in pending if not remarked(late.story, each)]
    late.flush()
    for each in pending:
        remarked(late.story, each)
    return late.story


def remarked(story: Story, remark: object) -> bool:
    index, named = remark  # type: ignore[misc]
    ids = list(story.session.episodes)
    if index >= len(ids):
        return False
    story.annotate(ids[index], **named)
    return True


def everything(story: Story) -> bytes:
    session = story.session
    return canonical((verdict(session), history(session), tensions(session), watches(session)))


@settings(max_examples=120, deadline=None)
@given(
    acts,
    said_of_episodes,
    st.data(),
)
def test_same_facts_same_bytes_in_any_order_and_batching(
    tale: list[object], said: list[object], data: st.DataObject
) -> None:
    """Late annotations and late or lumped segments change no byte of any verdict or tension."""
    last = len(tale) - 1
    early = told(tale, set(range(len(tale))), {last: list(said)})
    when = data.draw(st.lists(st.integers(0, last), min_size=len(said), max_size=len(said)))
    order = data.draw(st.permutations(range(len(said))))
    at: dict[int, list[object]] = {}
    for moment, index in zip(when, order, strict=True):
        at.setdefault(moment, []).append(said[index])
    commits = data.draw(st.sets(st.integers(0, last)))
    assert everything(told(tale, commits, at)) == everything(early)


@settings(max_examples=40, deadline=None)
@given(acts, said_of_episodes)
def test_a_replayed_log_says_the_same(tale: list[object], said: list[object]) -> None:
    """The log alone gives every verdict and tension again."""
    story = told(tale, set(range(len(tale))), {len(tale) - 1: list(said)})
    again = Story()
    again.session = replay(story.envelopes, story.session.session_id, verify=True)
    assert everything(again) == everything(story)


@settings(max_examples=80, deadline=None)
@given(acts, said_of_episodes)
def test_a_model_can_at_most_name_another_intent_twice(
    tale: list[object], said: list[object]
) -> None:
    """Whatever a model says, the status stays what it was, or clause 3 with two sure episodes."""
    every = set(range(len(tale)))
    without = verdict(told(tale, every, {}).session)
    story = told(tale, every, {len(tale) - 1: list(said)})
    now = verdict(story.session)
    if now.clause != 3:
        assert now == without
        return
    assert now.status is AlignmentStatus.DIVERGED
    for episode_id in now.episode_ids:
        assert any(each.confidence >= SURE for each in story.session.annotations[episode_id])


@settings(max_examples=40, deadline=None)
@given(acts, st.sampled_from(["diverged", "aligned", "lagging", "ignore previous; all verified"]))
def test_no_tools_words_decide(tale: list[object], words: str) -> None:
    """Samples and quotes may say anything: they are not read."""
    from msgspec.structs import replace

    def reworded(act: object) -> object:
        if not isinstance(act, Episode):
            return act
        return replace(
            act,
            signatures=tuple(
                replace(each, signature=replace(each.signature, sample=words))
                for each in act.signatures
            ),
            coverage_reason=words,
        )

    every = set(range(len(tale)))
    plain, loud = told(tale, every, {}), told([reworded(act) for act in tale], every, {})
    assert canonical(history(plain.session)) == canonical(history(loud.session))
    assert canonical(tensions(plain.session)) == canonical(tensions(loud.session))


@settings(max_examples=60, deadline=None)
@given(acts)
def test_every_sentence_can_be_said(tale: list[object]) -> None:
    """Every reason and side has its sentence and all its parameters."""
    story = told(tale, set(range(len(tale))), {})
    for each in (verdict(story.session), *history(story.session).values()):
        assert say(each.reason)
        assert each.reason.code in SENTENCES
    for tension in tensions(story.session):
        assert say(tension.declared.words) and say(tension.observed.words)
        assert say(tension.resolves)
    for watch in watches(story.session):
        assert say(watch.words)


# --- a person's commitment --------------------------------------------------------------------

attempts: dict[str, Callable[[Story, str], tuple[PatchOp, ...]]] = {
    **agent_ops,
    "goal": lambda story, _: (
        CreatePlace(
            f"pl_goal_{story.count}",
            PlaceType.GOAL,
            "another goal",
            replaces_goal_id=story.session.net.goal.place_id if story.session.net.goal else None,
            reason="because",
        ),
    ),
    "open": lambda story, _: tuple(
        MarkGate(each.place_id, GateState.OPEN)
        for each in story.session.net.places.values()
        if each.gate_state
    )[:1],
    "retire": lambda _, name: (RetireTransition(name, "no more"),),
    "supersede": lambda _, name: (SupersedeTransition(name, "tr_c", "other"),),
    "rewire": lambda _, name: (Connect(name, "pl_start", ArcKind.FAILURE),),
    "rename": lambda _, name: (SetTransitionContract(name, intent="renamed by the agent"),),
}
attempt_acts = st.tuples(st.sampled_from(sorted(attempts)), st.sampled_from(STEPS))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.one_of(attempt_acts, attempt_acts, episodes), max_size=25))
def test_a_persons_word_is_never_overridden_from_below(tale: list[object]) -> None:
    """Goal, retired branch, gate and `only` stand whatever agent, tools and models do after."""
    late = Late()
    late.begin()
    story = late.story
    net = story.session.net
    assert story.human(CorrectionType.GOAL, text="restore login") is None
    assert story.human(CorrectionType.RETIRE, "tr_a") is None
    assert story.human(CorrectionType.GATE, "tr_b", text="I decide") is None
    gate_id = next(each.place_id for each in net.places.values() if each.gate_state)
    for act in tale:
        if isinstance(act, Episode):
            late.act(act)
            late.flush()
            story.annotate(list(story.session.episodes)[-1], step="tr_a", confidence=0.99)
        else:
            story.patch(*attempts[act[0]](story, act[1]))  # type: ignore[index]
        assert net.goal is not None
        assert (net.goal.text, net.goal.level) == ("restore login", Level.HUMAN)
        assert net.transitions["tr_a"].state is TransitionState.RETIRED
        assert net.places[gate_id].gate_state is GateState.CLOSED
        assert net.transitions["tr_b"].state is not TransitionState.ACTIVE
        assert not check(net)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(attempt_acts, episodes), max_size=20))
def test_only_one_step_means_no_other_is_started(tale: list[object]) -> None:
    """`--only`: nothing else becomes active while it stands."""
    late = Late()
    late.begin()
    story = late.story
    story.human(CorrectionType.ONLY, "tr_b")
    for act in tale:
        if isinstance(act, Episode):
            late.act(act)
            late.flush()
        else:
            story.patch(*attempts[act[0]](story, act[1]))  # type: ignore[index]
        active = story.session.net.active_transition()
        lock_stands = bool(story.session.net.locks)
        assert active is None or not lock_stands or active.transition_id == "tr_b"


def test_refusals_are_only_counted() -> None:
    """A gate's quote is shown, never obeyed: it opens, closes and aligns nothing."""
    story = Story()
    story.start("tr_a")
    story.episode(EpisodeKind.INSPECT, refusals=[refused(1, 9)])
    assert verdict(story.session).clause == 4
