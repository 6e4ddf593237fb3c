"""The specification's typical drifts and RULES 7, 18, 30, 39, each a golden case."""

from __future__ import annotations

import pytest
from declared_story import Story, activate, complete, fail, step, tell, trouble

from wayfinder.reducer.alignment.tension import Tension, TensionKind
from wayfinder.reducer.alignment.tensions import tensions
from wayfinder.reducer.alignment.words import say
from wayfinder.reducer.vocabulary.patch import (
    CreatePlace,
    MarkGate,
    SetPlaceState,
    SetTransitionContract,
    SupersedeTransition,
)
from wayfinder.reducer.vocabulary.people import CorrectionType
from wayfinder.reducer.vocabulary.terms import (
    EpisodeKind,
    GateState,
    Level,
    Outcome,
    PlaceState,
    PlaceType,
    TransitionType,
)

IMPLEMENT, VERIFY = TransitionType.IMPLEMENT, TransitionType.VERIFY
EDIT, INSPECT, TEST = EpisodeKind.EDIT, EpisodeKind.INSPECT, EpisodeKind.TEST


@pytest.fixture
def story() -> Story:
    return Story()


def kinds(story: Story) -> list[TensionKind]:
    return [each.kind for each in tensions(story.session)]


def only(story: Story) -> Tension:
    (tension,) = tensions(story.session)
    return tension


def gate(state: GateState, *selectors: str) -> CreatePlace:
    return CreatePlace(
        "gate_ci", PlaceType.GATE, "CI passes", gate_state=state, evidence_selectors=selectors
    )


def test_aligned_work_raises_nothing(story: Story) -> None:
    """Declared, done as declared: no tension at any moment."""
    story.start("tr_a", selectors=["test:auth"])
    assert tensions(story.session) == []
    story.episode(TEST, "test:auth=pass")
    assert tensions(story.session) == []
    story.patch(complete("tr_a"))
    assert tensions(story.session) == []


def test_declared_implementing_but_still_diagnosing(story: Story) -> None:
    """典型漂移 1: both sides named, neutral, from the third episode on, until the next update."""
    story.start("tr_fix", type=IMPLEMENT, intent="write the fix")
    episodes = [story.episode(INSPECT, f"file:{number}") for number in range(3)]
    tension = only(story)
    assert tension.kind is TensionKind.WORK_OF_OTHER_KIND
    assert say(tension.declared.words) == "working on: write the fix"
    assert say(tension.observed.words) == (
        "3 episodes of inspect, declared were edit, build, run, test"
    )
    assert (tension.since_id, tension.episode_ids) == (episodes[2], tuple(episodes))
    assert (tension.declared.level, tension.observed.level) == (Level.DECLARED, Level.OBSERVED)
    story.patch(SetTransitionContract("tr_fix", allowed_episode_kinds=(INSPECT,)))
    assert tensions(story.session) == []


def test_the_same_work_over_and_over(story: Story) -> None:
    """Allowed work that brings nothing new makes a path stale too."""
    story.start("tr_a")
    for number in range(4):
        story.episode(TEST, signatures=[trouble(1, number + 1)], outcome=Outcome.FAILED)
    assert TensionKind.PATH_STALE in kinds(story)


def test_a_tension_keeps_its_id_while_it_lasts(story: Story) -> None:
    """The same conflict is said once: its id does not change with further episodes."""
    story.start("tr_fix", type=IMPLEMENT)
    ids = set()
    for number in range(8):
        story.episode(INSPECT, f"file:{number}")
        ids |= {each.tension_id for each in tensions(story.session)}
    assert len(ids) == 1


def test_superseding_with_a_reason_resolves_and_does_not_accuse(story: Story) -> None:
    """A good re-plan is news, not guilt: nothing of the old tension stays."""
    story.start("tr_fix", type=IMPLEMENT, failure="pl_no")
    for number in range(3):
        story.episode(INSPECT, f"file:{number}")
    story.patch(
        fail("tr_fix"),
        *step("tr_new", flow="pl_no", kinds=[INSPECT]),
        SupersedeTransition("tr_fix", "tr_new", "the cause is elsewhere"),
        activate("tr_new"),
    )
    assert tensions(story.session) == []


def test_declared_done_but_the_gate_is_not_passed(story: Story) -> None:
    """典型漂移 2: complete stays legal (RULES 7), the gate is shown beside the claim."""
    story.patch(gate(GateState.OPEN, "command:ci"))
    story.start("tr_check", type=VERIFY, reads=["gate_ci"], intent="verify the fix")
    story.episode(TEST, "command:ci=fail", outcome=Outcome.FAILED)
    assert kinds(story) == [TensionKind.PRECONDITION_GONE]
    assert story.patch(complete("tr_check")) is None
    tension = only(story)
    assert tension.kind is TensionKind.DONE_BUT_GATE
    assert say(tension.declared.words) == "done: verify the fix"
    assert say(tension.observed.words) == "gate CI passes is blocked"
    story.episode(TEST, "command:ci=pass")
    assert tensions(story.session) == []


def test_declared_done_but_its_test_fails(story: Story) -> None:
    """A claim whose named test was last seen failing; a pass resolves it."""
    story.start("tr_fix", type=IMPLEMENT, selectors=["test:auth=pass"])
    story.episode(EDIT, "test:auth=pass", changed=[1])
    story.patch(complete("tr_fix"))
    assert tensions(story.session) == []
    late = story.episode(TEST, "test:auth=fail", outcome=Outcome.FAILED)
    tension = only(story)
    assert (tension.kind, tension.since_id) == (TensionKind.DONE_BUT_FAILING, late)
    assert say(tension.observed.words) == "last result seen: test:auth=fail"
    story.episode(TEST, "test:auth=pass")
    assert tensions(story.session) == []


def test_a_failure_that_was_asked_for_speaks_against_nothing(story: Story) -> None:
    """An investigation that ends in a stable failure is done, not contradicted."""
    story.start("tr_repro", selectors=["assertion:refresh-token"])
    story.episode(TEST, "assertion:refresh-token=fail", outcome=Outcome.FAILED)
    story.patch(complete("tr_repro"))
    assert tensions(story.session) == []


def test_a_condition_said_to_hold_and_seen_not_to(story: Story) -> None:
    """准入规则 1: an observed result disproves a place condition; its state is left alone."""
    story.patch(
        CreatePlace(
            "pl_green", PlaceType.VERIFIED, "all green", evidence_selectors=("test:all=pass",)
        ),
        tell("pl_green", evidence_id="ev_said"),
        SetPlaceState("pl_green", PlaceState.SATISFIED, ("ev_said",)),
    )
    story.start("tr_a")
    story.episode(TEST, "test:all=fail", outcome=Outcome.FAILED)
    tension = only(story)
    assert tension.kind is TensionKind.CONDITION_CONTRADICTED
    assert story.session.net.places["pl_green"].state is PlaceState.SATISFIED
    assert len(tension.evidence_ids) == 1


def test_failures_go_on_and_no_recovery_is_declared(story: Story) -> None:
    """典型漂移 3: the third failing episode raises it; a declared failure branch resolves it."""
    story.start("tr_fix", type=IMPLEMENT)
    for number in range(3):
        assert TensionKind.FAILURES_NO_RECOVERY not in kinds(story)
        story.episode(EDIT, changed=[number], outcome=Outcome.FAILED, signatures=[trouble(number)])
    tension = only(story)
    assert (tension.kind, say(tension.observed.words)) == (
        TensionKind.FAILURES_NO_RECOVERY,
        "3 failures in a row, no recovery declared",
    )
    story.patch(
        CreatePlace("pl_no", PlaceType.CONDITION, "the fix fails"),
        *_connect_failure("tr_fix", "pl_no"),
    )
    assert tensions(story.session) == []


def _connect_failure(step_id: str, place_id: str) -> tuple:  # type: ignore[type-arg]
    from wayfinder.reducer.vocabulary.patch import Connect
    from wayfinder.reducer.vocabulary.terms import ArcKind

    return (Connect(step_id, place_id, ArcKind.FAILURE),)


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome.REFUSED_BY_USER,
        Outcome.PROVIDER_OUTAGE,
        Outcome.RATE_LIMIT,
        Outcome.SIBLING_FAILED,
        Outcome.ABORTED,
    ],
)
def test_what_is_not_the_agents_trouble_is_no_failure(story: Story, outcome: Outcome) -> None:
    """A person's refusal, an outage or a cascade never reads as failing work."""
    story.start("tr_fix", type=IMPLEMENT)
    for number in range(5):
        story.episode(EDIT, changed=[number], outcome=outcome)
    assert tensions(story.session) == []


def test_a_failed_step_without_a_branch_and_work_goes_on(story: Story) -> None:
    """典型漂移 3, the other way: the step was failed, nothing follows."""
    story.start("tr_fix", type=IMPLEMENT)
    story.patch(fail("tr_fix"))
    for number in range(3):
        story.episode(INSPECT, f"file:{number}")
    tension = only(story)
    assert (tension.kind, tension.transition_id) == (TensionKind.FAILURES_NO_RECOVERY, "tr_fix")


def test_a_precondition_gone_is_said_and_aborts_nothing(story: Story) -> None:
    """RULES 7: the firing goes on; the place and its state are named."""
    story.patch(
        CreatePlace("pl_repro", PlaceType.CONDITION, "the failure is reproduced"),
        tell("pl_repro", evidence_id="ev_repro"),
        SetPlaceState("pl_repro", PlaceState.SATISFIED, ("ev_repro",)),
    )
    story.start("tr_a", reads=["pl_repro"])
    story.patch(SetPlaceState("pl_repro", PlaceState.INVALIDATED, ("ev_repro",)))
    tension = only(story)
    assert (tension.kind, tension.place_id) == (TensionKind.PRECONDITION_GONE, "pl_repro")
    assert say(tension.observed.words) == "the failure is reproduced is invalidated"
    assert story.session.net.transitions["tr_a"].state == "active"
    assert story.patch(complete("tr_a")) is None


def test_a_changed_goal_is_news(story: Story) -> None:
    """RULES 18: the old goal stays and is named; a person's goal ends the news."""
    story.patch(CreatePlace("pl_g1", PlaceType.GOAL, "fix the test"))
    assert tensions(story.session) == []
    story.patch(
        CreatePlace(
            "pl_g2", PlaceType.GOAL, "restore login", replaces_goal_id="pl_g1", reason="found out"
        )
    )
    tension = only(story)
    assert (tension.kind, tension.news) == (TensionKind.GOAL_CHANGED, True)
    assert say(tension.observed.words) == "goal until then: fix the test"
    story.human(CorrectionType.GOAL, text="restore login behaviour")
    assert tensions(story.session) == []


def test_a_person_denies_the_step(story: Story) -> None:
    """RULES 28: the person's side stands first, the agent's second, until the agent moves."""
    story.start("tr_a", intent="optimise")
    story.human(CorrectionType.WRONG_STEP, text="not now")
    tension = only(story)
    assert (tension.kind, tension.declared.level) == (TensionKind.PATH_DENIED, Level.HUMAN)
    assert say(tension.observed.words) == "still on: optimise"


def test_another_intent_seen_twice(story: Story) -> None:
    """Clause 3 as a tension, marked as inferred."""
    story.start("tr_a")
    for number in range(2):
        story.annotate(story.episode(INSPECT, f"file:{number}"), intent="refactoring")
        tension = only(story)
        assert tension.kind is TensionKind.OTHER_INTENT_SEEN
        assert tension.observed.level is Level.INFERRED


def test_one_annotation_moves_nothing(story: Story) -> None:
    """Seed, 关联顺序 3: an alternative is a tension at most; the episode stays where it was."""
    story.start("tr_a")
    story.patch(*step("tr_b"))
    episode = story.episode(INSPECT)
    story.annotate(episode, step="tr_b")
    assert kinds(story) == [TensionKind.OTHER_INTENT_SEEN]
    assert story.session.episodes[episode].transition_id == "tr_a"


def test_nothing_active_is_a_tension_only_if_a_path_was_declared(story: Story) -> None:
    """RULES 30: an undeclared session never nags."""
    for number in range(5):
        story.episode(INSPECT, f"file:{number}")
    assert tensions(story.session) == []
    story.start("tr_a")
    story.patch(complete("tr_a"))
    for number in range(3):
        assert tensions(story.session) == []
        story.episode(INSPECT, f"file:1{number}")
    assert kinds(story) == [TensionKind.NO_STEP_ACTIVE]


# --- RULES 39: acts against what a person decided ---------------------------------------------


def test_work_past_a_persons_gate(story: Story) -> None:
    """A gate set on the active step: going on there is against the person; opening resolves it."""
    story.start("tr_a", intent="migrate the data")
    assert story.human(CorrectionType.GATE, "tr_a", text="I decide about the data") is None
    assert tensions(story.session) == []
    story.episode(INSPECT)
    tension = only(story)
    assert tension.kind is TensionKind.AGAINST_PERSON
    assert say(tension.declared.words) == "a person decides at: I decide about the data"
    assert story.human(CorrectionType.OPEN_GATE, "tr_a") is None
    assert tensions(story.session) == []


def test_work_away_from_the_only_step(story: Story) -> None:
    """`--only X`: after the denial was answered, work elsewhere is against it."""
    story.start("tr_a")
    story.patch(*step("tr_b"))
    story.human(CorrectionType.ONLY, "tr_b")
    assert kinds(story) == [TensionKind.PATH_DENIED]
    story.patch(SetTransitionContract("tr_a", evidence_selectors=("test:x",)))
    story.episode(INSPECT)
    assert kinds(story) == [TensionKind.AGAINST_PERSON]


def test_keeping_to_the_only_step_raises_nothing(story: Story) -> None:
    """Work on the step asked for, and on the way to it."""
    story.start("tr_a")
    story.patch(*step("tr_b", flow="pl_tr_a"))
    story.human(CorrectionType.ONLY, "tr_b")
    story.patch(complete("tr_a"), activate("tr_b"))
    story.episode(INSPECT)
    assert tensions(story.session) == []


def test_work_on_a_branch_set_aside(story: Story) -> None:
    """A retired branch that is worked on by name."""
    story.start("tr_a")
    story.patch(*step("tr_old", intent="patch the UI"))
    story.human(CorrectionType.RETIRE, "tr_old")
    story.episode(EDIT, changed=[1], transition_id="tr_old")
    tension = only(story)
    assert tension.kind is TensionKind.AGAINST_PERSON
    assert say(tension.observed.words) == "work went on at: patch the UI"


def test_a_gate_blocked_for_the_agent_is_no_accusation(story: Story) -> None:
    """A gate the agent itself closed while active reads as a precondition gone."""
    story.patch(gate(GateState.OPEN))
    story.start("tr_a", reads=["gate_ci"])
    story.patch(MarkGate("gate_ci", GateState.CLOSED))
    assert kinds(story) == [TensionKind.PRECONDITION_GONE]
