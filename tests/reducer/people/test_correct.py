"""Corrections as events: every type, what it changes, what it refuses (RULES 38, 39)."""

from __future__ import annotations

import pytest
from declared_story import Story, activate, complete, step, tell

from wayfinder.reducer.net.invariants import check
from wayfinder.reducer.people.constraints import standing
from wayfinder.reducer.vocabulary.answer import Conflict, Rejected
from wayfinder.reducer.vocabulary.patch import (
    CreatePlace,
    GraphPatch,
    MarkGate,
    SetTransitionContract,
)
from wayfinder.reducer.vocabulary.people import CorrectionType as Kind
from wayfinder.reducer.vocabulary.terms import (
    GateState,
    Level,
    PlaceType,
    TransitionState,
)


@pytest.fixture
def story() -> Story:
    """Active: tr_a; idle: tr_b behind it, tr_old beside it."""
    story = Story()
    story.start("tr_a", intent="optimise")
    story.patch(*step("tr_b", flow="pl_tr_a"), *step("tr_old", intent="patch the UI"))
    yield story
    assert not check(story.session.net)


def code(answer: object) -> str:
    assert isinstance(answer, Rejected)
    return answer.faults[0].code


def test_free_text_changes_no_net_and_is_delivered_verbatim(story: Story) -> None:
    """RULES 39: words go to the agent as they were said; the revision stays."""
    revision = story.session.revision
    words = "先不要优化，  只验证根因"
    assert story.human(Kind.TEXT, text=words) is None
    assert story.session.revision == revision
    (constraint,) = standing(story.session)
    assert (constraint.text, constraint.revision) == (words, revision)


def test_a_goal_of_a_person_stands_above_the_agents(story: Story) -> None:
    """The old goal stays, superseded; the agent's next one is refused (RULES 18)."""
    story.patch(CreatePlace("pl_g", PlaceType.GOAL, "fix the test"))
    assert story.human(Kind.GOAL, text="restore login") is None
    net = story.session.net
    assert net.goal is not None
    assert (net.goal.text, net.goal.level) == ("restore login", Level.HUMAN)
    assert net.places["pl_g"].superseded_by == net.goal.place_id
    mine = CreatePlace(
        "pl_g3",
        PlaceType.GOAL,
        "mine",
        replaces_goal_id=net.goal.place_id,
        reason="better",
    )
    assert code(story.patch(mine)) == "human_constraint"


def test_a_long_goal_keeps_its_words_in_the_constraint(story: Story) -> None:
    """The label is cut, the person's words are not."""
    words = "恢复登录行为 " * 60
    story.human(Kind.GOAL, text=words[:600])
    assert standing(story.session)[0].text == words[:600]


def test_retiring_an_idle_branch(story: Story) -> None:
    """It ends with the person's reason and can never be started again."""
    assert story.human(Kind.RETIRE, "tr_old", text="no longer matters") is None
    old = story.session.net.transitions["tr_old"]
    assert (old.state, old.reason) == (TransitionState.RETIRED, "no longer matters")


def test_retiring_the_active_step_is_a_word_to_the_agent(story: Story) -> None:
    """It cannot be taken from under the agent; the lock keeps it from being declared on."""
    revision = story.session.revision
    assert story.human(Kind.RETIRE) is None
    assert story.session.revision == revision
    assert standing(story.session)[0].target_id == "tr_a"
    refused = story.patch(SetTransitionContract("tr_a", why_now="still"))
    assert code(refused) == "human_constraint"


def test_a_gate_is_read_by_its_step_and_only_a_person_opens_it(story: Story) -> None:
    """RULES 39: `--gate ID` is a closed Gate plus a read arc."""
    assert story.human(Kind.GATE, "tr_b", text="I decide about this") is None
    (gate_id,) = story.session.net.transitions["tr_b"].reads
    assert story.session.net.places[gate_id].gate_state is GateState.CLOSED
    assert code(story.patch(MarkGate(gate_id, GateState.OPEN))) == "human_constraint"
    story.patch(complete("tr_a"))
    assert isinstance(story.patch(activate("tr_b")), Rejected)
    assert story.human(Kind.OPEN_GATE, "tr_b") is None
    assert story.patch(activate("tr_b")) is None


def test_opening_where_nothing_is_shut(story: Story) -> None:
    """The refusal names the gates there are."""
    assert code(story.human(Kind.OPEN_GATE, "tr_b")) == "not_a_gate"


def test_redescribing_changes_words_and_keeps_the_step(story: Story) -> None:
    """It is no denial and no lock."""
    assert story.human(Kind.REDESCRIBE, "tr_a", text="narrow the cause") is None
    assert story.session.net.transitions["tr_a"].intent == "narrow the cause"
    assert not story.session.net.locks


def test_only_this_step(story: Story) -> None:
    """What does not serve it cannot be started while it stands; it ends when the step is done."""
    story.human(Kind.ONLY, "tr_b")
    story.patch(complete("tr_a"), activate("tr_b"), complete("tr_b"))
    assert story.session.net.locks == {}
    assert standing(story.session) == ()


def test_forcing_a_step_out_of_the_way(story: Story) -> None:
    """RULES 5: a person may supersede what is active; the token goes back."""
    assert story.human(Kind.SUPERSEDE, "tr_a", other="tr_old", text="look there") is None
    net = story.session.net
    assert net.transitions["tr_a"].state is TransitionState.SUPERSEDED
    assert net.active_transition() is None
    assert story.patch(activate("tr_old")) is None


def test_an_accepted_proposal_is_a_patch_of_the_persons(story: Story) -> None:
    """RULES 14: its cause is the correction; its evidence must come from the agent itself."""
    proposal = GraphPatch("pr_1", 0, "k", step("tr_new"))
    assert story.human(Kind.ACCEPT, "pr_1", proposal=proposal) is None
    assert "tr_new" in story.session.net.transitions
    with_evidence = GraphPatch("pr_2", 0, "k2", (tell("tr_a"),))
    refused = story.human(Kind.ACCEPT, "pr_2", proposal=with_evidence)
    assert code(refused) == "evidence_type_not_allowed"
    assert code(story.human(Kind.ACCEPT, "pr_3")) == "unknown_id"


@pytest.mark.parametrize(
    ("kind", "target", "text", "other"),
    [
        (Kind.TEXT, None, None, None),
        (Kind.GOAL, None, None, None),
        (Kind.RETIRE, "tr_nowhere", None, None),
        (Kind.GATE, "tr_nowhere", None, None),
        (Kind.REDESCRIBE, "tr_a", None, None),
        (Kind.ONLY, None, None, None),
        (Kind.WRONG_STEP, "pl_start", None, None),
        (Kind.REASSOCIATE, "ep_9", None, "tr_a"),
        (Kind.SUPERSEDE, "tr_a", None, None),
        (Kind.SUPERSEDE, "tr_a", None, "tr_nowhere"),
        (Kind.UNDO, "hc_9", None, None),
        (Kind.REJECT, None, None, None),
    ],
)
def test_what_cannot_be_done_says_why(
    story: Story, kind: Kind, target: str | None, text: str | None, other: str | None
) -> None:
    """A refusal has code, path and what was expected; nothing is changed."""
    before = story.session.seq
    answer = story.human(kind, target, text=text, other=other)
    assert isinstance(answer, Rejected)
    assert answer.faults[0].expected and answer.faults[0].path.startswith("$")
    assert story.session.seq == before


# --- RULES 38 ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Kind.RETIRE, Kind.GATE, Kind.REDESCRIBE, Kind.ONLY])
def test_it_rebases_unless_its_target_changed(story: Story, kind: Kind) -> None:
    """RULES 38: other nodes may have changed since the person looked; the target may not."""
    seen = story.session.revision
    story.patch(*step("tr_far"))
    assert story.human(kind, "tr_old", text="as I saw it", base=seen) is None
    story.human(Kind.UNDO, story.newest_correction)
    story.patch(SetTransitionContract("tr_b", why_now="changed meanwhile"))
    answer = story.human(kind, "tr_b", text="as I saw it", base=seen)
    assert isinstance(answer, Conflict)
    assert "tr_b" in answer.conflicting


# --- undo -------------------------------------------------------------------------------------


def test_undoing_a_goal_brings_the_old_one_back(story: Story) -> None:
    """As a new place: the record keeps all three."""
    story.patch(CreatePlace("pl_g", PlaceType.GOAL, "fix the test"))
    story.human(Kind.GOAL, text="restore login")
    assert story.human(Kind.UNDO, story.newest_correction) is None
    net = story.session.net
    assert net.goal is not None and net.goal.text == "fix the test"
    assert len([each for each in net.places.values() if each.type is PlaceType.GOAL]) == 3
    assert not net.locks


def test_undoing_a_retirement_makes_a_copy(story: Story) -> None:
    """RULES 4: retired never fires again, so a new step stands in its place."""
    story.human(Kind.RETIRE, "tr_old")
    assert story.human(Kind.UNDO, story.newest_correction) is None
    net = story.session.net
    copy = net.transitions["tr_old_2"]
    assert (copy.intent, copy.flow, copy.success) == ("patch the UI", "pl_start", "pl_tr_old")
    assert net.transitions["tr_old"].state is TransitionState.RETIRED


def test_undoing_a_gate_opens_it(story: Story) -> None:
    """And the lock ends with it."""
    story.human(Kind.GATE, "tr_b")
    assert story.human(Kind.UNDO, story.newest_correction) is None
    (gate_id,) = story.session.net.transitions["tr_b"].reads
    assert story.session.net.places[gate_id].gate_state is GateState.OPEN
    assert not story.session.net.locks


def test_an_undo_is_done_once(story: Story) -> None:
    """What was taken back cannot be taken back again."""
    story.human(Kind.TEXT, text="words")
    first = story.newest_correction
    assert story.human(Kind.UNDO, first) is None
    assert code(story.human(Kind.UNDO, first)) == "unknown_id"
    assert standing(story.session) == ()


@pytest.mark.parametrize("kind", [Kind.REDESCRIBE, Kind.OPEN_GATE])
def test_what_has_no_way_back_names_the_way_on(story: Story, kind: Kind) -> None:
    """The hint says which correction to make instead."""
    story.human(Kind.GATE, "tr_a")
    assert story.human(kind, "tr_a", text="words") is None
    answer = story.human(Kind.UNDO, story.newest_correction)
    assert isinstance(answer, Rejected)
    assert "--" in answer.faults[0].expected
