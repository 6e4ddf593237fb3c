"""Admission: the six grounds, and nothing else (seed, 准入规则; RULES 3, 10, 23)."""

from __future__ import annotations

import random

import pytest
from declared_story import Story, refused, step, trouble

from wayfinder.reducer.alignment.confirm import EVIDENCE_PER_EPISODE_MAX, gate_state
from wayfinder.reducer.net.digest import net_digest
from wayfinder.reducer.vocabulary.patch import CreatePlace
from wayfinder.reducer.vocabulary.people import CorrectionType
from wayfinder.reducer.vocabulary.terms import (
    ActorType,
    EpisodeKind,
    EvidenceType,
    GateState,
    Outcome,
    PlaceState,
    PlaceType,
)

TEST, EDIT, INSPECT = EpisodeKind.TEST, EpisodeKind.EDIT, EpisodeKind.INSPECT


@pytest.fixture
def story() -> Story:
    return Story()


def gate(story: Story, *selectors: str, state: GateState = GateState.CLOSED) -> None:
    place = CreatePlace("gate_ci", PlaceType.GATE, "CI", state, selectors)
    assert story.patch(place) is None


def evidence_of(story: Story, node_id: str) -> list[tuple[str, str]]:
    net = story.session.net
    node = net.transitions.get(node_id) or net.places[node_id]
    found = [net.evidence[each] for each in node.evidence_ids]
    return [(str(each.type), each.summary) for each in found]


def test_ten_thousand_noisy_episodes_make_no_node(story: Story) -> None:
    """Files, counts, retries and outputs nobody asked for stay in the drawer: same net, same
    revision, no evidence."""
    story.start("tr_a", selectors=["test:auth/refresh=pass"])
    gate(story, "command:ci")
    noise = random.Random(7)
    before = (net_digest(story.session.net), story.session.revision)
    for number in range(10_000):
        story.episode(
            noise.choice(list(EpisodeKind)),
            f"file:src/{number % 97}.py",
            f"test:other/{number % 31}={noise.choice(('pass', 'fail'))}",
            f"command:run {number % 13}=fail",
            outcome=noise.choice(list(Outcome)),
            signatures=[trouble(number % 23, number % 4)],
            refusals=[refused(number % 5)],
            changed=[number % 50],
        )
    assert (net_digest(story.session.net), story.session.revision) == before
    assert len(story.session.net.places) == 3
    assert len(story.session.net.transitions) == 1
    assert not story.session.net.evidence


def test_a_hit_becomes_evidence_of_its_firing(story: Story) -> None:
    """Typed by the fact, vouched for by the adapter, without text of any tool."""
    story.start("tr_a", selectors=["test:auth", "assertion:x", "command:make"])
    episode = story.episode(TEST, "test:auth=pass", "assertion:x=fail", "command:make", "file:y")
    assert evidence_of(story, "tr_a") == [
        ("test_result", "test:auth=pass"),
        ("error_signature", "assertion:x=fail"),
        ("tool_episode", "command:make"),
    ]
    net = story.session.net
    for each in net.evidence.values():
        assert (each.source, each.confidence_owner) == (episode, ActorType.ADAPTER)
        assert each.firing_id == net.transitions["tr_a"].firing_id


def test_a_key_spelled_as_a_selector_is_satisfied_by_its_fact(story: Story) -> None:
    """Expected evidence can name what will be seen."""
    story.start("tr_a", expected=["words only"])
    from wayfinder.reducer.vocabulary.patch import ExpectedEvidence, SetTransitionContract

    proof = ExpectedEvidence("test:auth=pass", "the login test passes")
    assert story.patch(SetTransitionContract("tr_a", expected_evidence=(proof,))) is None
    story.episode(TEST, "test:auth=fail")
    story.episode(TEST, "test:auth=pass")
    satisfied = [each.satisfies for each in story.session.net.evidence.values()]
    assert satisfied == [(), ("test:auth=pass",)]


def test_repeats_say_nothing_new(story: Story) -> None:
    """The same result again is not admitted; another result is."""
    story.start("tr_a", selectors=["test:auth"])
    for result in ("fail", "fail", "fail", "pass", "pass", "fail"):
        story.episode(TEST, f"test:auth={result}")
    summaries = [summary for _, summary in evidence_of(story, "tr_a")]
    assert summaries == ["test:auth=fail", "test:auth=pass", "test:auth=fail"]


def test_a_pass_after_an_edit_counts_anew(story: Story) -> None:
    """RULES 3: verified needs a pass later than the last edit."""
    story.start("tr_a", selectors=["test:auth"])
    story.episode(TEST, "test:auth=pass")
    story.episode(EDIT, changed=[1])
    story.episode(TEST, "test:auth=pass")
    passes = list(story.session.net.evidence.values())
    assert [each.from_edit for each in passes] == [0, 1]


def test_a_pass_before_the_edit_of_its_own_episode_is_older_than_it(story: Story) -> None:
    """Inside one episode, what was seen before the last edit does not verify it."""
    story.start("tr_a", selectors=["test:auth", "test:after"])
    story.episode(EDIT, "test:auth=pass", "test:after=pass", changed=[1], facts_before_edit=1)
    assert [each.from_edit for each in story.session.net.evidence.values()] == [0, 1]


def test_a_gate_opens_and_blocks_by_its_own_selectors(story: Story) -> None:
    """RULES 23: all selectors must have been met; the revision does not move."""
    gate(story, "test:unit", "command:ci")
    revision = story.session.revision
    states = []
    for spelling in ("test:unit=pass", "command:ci=pass", "test:unit=fail", "test:unit=pass"):
        story.episode(TEST, spelling)
        states.append(story.session.net.places["gate_ci"].gate_state)
    assert states == [GateState.CLOSED, GateState.OPEN, GateState.BLOCKED, GateState.OPEN]
    assert story.session.revision == revision
    types = {each.type for each in story.session.net.evidence.values()}
    assert types == {EvidenceType.EXTERNAL_GATE}


def test_a_gate_may_wait_for_a_failure(story: Story) -> None:
    """`=fail`: the gate opens when the failure is reproduced."""
    gate(story, "test:auth=fail")
    story.episode(TEST, "test:auth=pass")
    assert story.session.net.places["gate_ci"].gate_state is GateState.BLOCKED
    story.episode(TEST, "test:auth=fail")
    assert story.session.net.places["gate_ci"].gate_state is GateState.OPEN


def test_a_gate_without_selectors_is_never_touched(story: Story) -> None:
    """A refusal in the ledger opens and closes nothing."""
    gate(story)
    story.episode(INSPECT, "command:ci=pass", refusals=[refused(1, 5)])
    assert story.session.net.places["gate_ci"].gate_state is GateState.CLOSED


def test_only_a_person_opens_a_persons_gate(story: Story) -> None:
    """RULES 39: observed facts do not open what a person closed."""
    gate(story, "command:ci", state=GateState.OPEN)
    assert story.human(CorrectionType.GATE, "gate_ci", text="I decide") is None
    story.episode(TEST, "command:ci=pass")
    assert story.session.net.places["gate_ci"].gate_state is GateState.CLOSED


def test_a_condition_gets_evidence_and_keeps_its_state(story: Story) -> None:
    """准入规则 1: observed facts prove or disprove; who declared it draws the conclusion."""
    place = CreatePlace(
        "pl_ok", PlaceType.CONDITION, "login works", evidence_selectors=("test:login=pass",)
    )
    story.patch(place)
    story.episode(TEST, "test:login=fail")
    assert evidence_of(story, "pl_ok") == [("test_result", "test:login=fail")]
    assert story.session.net.places["pl_ok"].state is PlaceState.UNKNOWN


def test_a_flood_of_hits_is_bounded_and_failures_come_first(story: Story) -> None:
    """A broad selector cannot flood the net."""
    story.start("tr_a", selectors=["test:*"])
    facts = [f"test:{number}=pass" for number in range(60)]
    story.episode(TEST, *facts, "test:bad=fail")
    summaries = [summary for _, summary in evidence_of(story, "tr_a")]
    assert len(summaries) == EVIDENCE_PER_EPISODE_MAX
    assert "test:bad=fail" in summaries


def test_a_set_aside_step_takes_no_more_evidence(story: Story) -> None:
    """An episode that names a retired step adds nothing to it."""
    story.start("tr_a")
    story.patch(*step("tr_old", selectors=["test:auth"]))
    story.human(CorrectionType.RETIRE, "tr_old")
    story.episode(TEST, "test:auth=pass", transition_id="tr_old")
    assert not story.session.net.evidence


def test_a_gate_with_nothing_seen_stays() -> None:
    """No evidence, no opinion."""
    assert gate_state(("test:a",), []) is None
    assert gate_state((), []) is None


def test_ids_an_agent_took_are_left_alone(story: Story) -> None:
    """System evidence steps around an agent's id of the same name."""
    from wayfinder.reducer.vocabulary.evidence import EvidenceDraft
    from wayfinder.reducer.vocabulary.patch import AttachEvidence

    story.start("tr_a", selectors=["test:auth"])
    taken = f"obs_{story.position + 2}_1"
    story.patch(AttachEvidence("tr_a", EvidenceDraft("mine", evidence_id=taken)))
    story.episode(TEST, "test:auth=pass")
    assert set(story.session.net.evidence) == {taken, taken[:-1] + "2"}
