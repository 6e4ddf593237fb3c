"""Tokens, reservation, firing, and what firing says of places (RULES 1–7)."""

from __future__ import annotations

from net_build import (
    applied,
    arc,
    codes,
    corrected,
    evidence,
    gate,
    mark,
    new_net,
    on,
    place,
    refine,
    refused,
    state,
    step,
    supersede,
    wired,
)

from wayfinder.reducer.net.evidence import evidence_of
from wayfinder.reducer.net.fold import fold
from wayfinder.reducer.net.rules import preconditions_gone
from wayfinder.reducer.net.standing import Standing, is_unreachable, standing, token_status
from wayfinder.reducer.net.state import Net
from wayfinder.reducer.vocabulary.event import EvidenceAttached
from wayfinder.reducer.vocabulary.evidence import EvidenceDraft
from wayfinder.reducer.vocabulary.people import CorrectionType
from wayfinder.reducer.vocabulary.terms import (
    Channel,
    EvidenceType,
    FactResult,
    PlaceState,
    TokenStatus,
    TransitionState,
)


def path() -> Net:
    net = new_net()
    applied(
        net,
        place("pl_a"),
        place("pl_goal", "Goal"),
        place("pl_bad"),
        *wired("tr_a", "pl_start", "pl_a"),
        *wired("tr_b", "pl_a", "pl_goal", "pl_bad"),
    )
    return net


def shell(failure_exit: bool = True, failure_arc: bool = False) -> Net:
    net = new_net()
    applied(net, place("pl_a"), place("pl_bad"), *wired("tr_s", "pl_start", "pl_a"))
    if failure_arc:
        applied(net, arc("tr_s", "pl_bad", "failure"))
    outer = "pl_bad" if failure_arc else "pl_start"
    applied(net, refine("tr_s", "pl_start", "pl_a", outer if failure_exit else ""))
    return net


def token_at(net: Net) -> str:
    return net.tokens["tok_main"].place_id


def observe(net: Net, target: str, result: FactResult = FactResult.PASS) -> None:
    """What an adapter attaches, outside any patch."""
    draft = EvidenceDraft("12 passed", type=EvidenceType.TEST_RESULT, result=result)
    name = f"ev_seen_{len(net.evidence)}"
    stored = evidence_of(
        net, target, draft, evidence_id=name, channel=Channel.OBSERVED, source="ep_7", now_ms=5
    )
    fold(net, EvidenceAttached(stored))


def test_activation_reserves_the_token_where_it_stands() -> None:
    """The formal marking stays on the input place while the step is at work."""
    net = path()
    answer = applied(net, on("activate", "tr_a"))
    assert (token_at(net), net.tokens["tok_main"].reserved_by) == ("pl_start", "tr_a")
    assert (answer.where.active, answer.where.enabled) == ("tr_a", ())


def test_completion_moves_the_token_and_claims_the_place() -> None:
    """Firing never sets a condition: the reached place is claimed, not satisfied (RULES 3)."""
    net = path()
    answer = applied(net, on("activate", "tr_a"), on("complete", "tr_a"))
    assert answer.where.place_id == "pl_a"
    assert answer.where.enabled == ("tr_b",)
    assert net.places["pl_a"].state is PlaceState.UNKNOWN
    assert standing(net, "pl_a") is Standing.CLAIMED


def test_failure_goes_to_the_failure_place() -> None:
    """A declared failure branch takes the token there."""
    net = path()
    applied(net, on("activate", "tr_a"), on("complete", "tr_a"), on("activate", "tr_b"))
    applied(net, on("fail", "tr_b"))
    assert token_at(net) == "pl_bad"
    assert net.transitions["tr_b"].state is TransitionState.FAILED


def test_failure_without_a_branch_returns_the_token() -> None:
    """Back to the flow input, failed, and free to fire again under a new firing id (RULES 4)."""
    net = path()
    applied(net, on("activate", "tr_a"))
    first = net.transitions["tr_a"].firing_id
    applied(net, on("fail", "tr_a"))
    assert token_at(net) == "pl_start"
    assert net.transitions["tr_a"].state is TransitionState.FAILED
    applied(net, on("activate", "tr_a"))
    assert net.transitions["tr_a"].firing_id != first
    assert net.transitions["tr_a"].firings == 2


def test_reads_and_gates_are_checked_at_activation_only() -> None:
    """A precondition that goes away never aborts a firing (RULES 7)."""
    net = path()
    applied(net, gate("gate_a", "closed"), arc("gate_a", "tr_a", "read"))
    assert codes(net, on("activate", "tr_a")) == ["not_enabled"]
    applied(net, mark("gate_a", "open"), on("activate", "tr_a"))
    applied(net, mark("gate_a", "blocked"))
    assert preconditions_gone(net, net.transitions["tr_a"]) == ("gate_a",)
    applied(net, on("complete", "tr_a"))
    assert standing(net, "pl_a") is Standing.CLAIMED


def test_every_unmet_precondition_is_named() -> None:
    """All obstacles are told at once: token, conditions and gates."""
    net = path()
    applied(net, gate("gate_a", "closed"), arc("gate_a", "tr_b", "read"))
    applied(net, arc("pl_bad", "tr_b", "read"))
    faults = refused(net, on("activate", "tr_b")).faults
    assert [fault.known for fault in faults] == [("pl_start",), ("gate_a",), ("pl_bad",)]


def test_a_place_is_verified_by_what_was_observed_since_the_last_edit() -> None:
    """Claimed, then verified by a passing test, then only claimed again after an edit."""
    net = path()
    applied(net, on("activate", "tr_a"))
    observe(net, "tr_a")
    applied(net, on("complete", "tr_a"))
    assert standing(net, "pl_a") is Standing.VERIFIED
    net.note_edit()
    assert standing(net, "pl_a") is Standing.CLAIMED
    observe(net, "pl_a", FactResult.FAIL)
    assert standing(net, "pl_a") is Standing.CLAIMED
    observe(net, "pl_a")
    assert standing(net, "pl_a") is Standing.VERIFIED


def test_an_agent_s_own_claim_never_verifies() -> None:
    """`result: pass` in a declaration is a word, not an observation."""
    net = path()
    applied(net, evidence("pl_a", "ev_a", result="pass"), state("pl_a", "satisfied", "ev_a"))
    assert standing(net, "pl_a") is Standing.SATISFIED
    applied(net, state("pl_a", "invalidated", "ev_a"))
    assert standing(net, "pl_a") is Standing.INVALIDATED


def test_evidence_of_an_earlier_firing_does_not_verify_a_later_one() -> None:
    """Evidence belongs to one firing of its step (RULES 4)."""
    net = path()
    applied(net, *wired("tr_back", "pl_a", "pl_start"), on("activate", "tr_a"))
    observe(net, "tr_a")
    applied(net, on("complete", "tr_a"), on("activate", "tr_back"), on("complete", "tr_back"))
    applied(net, on("activate", "tr_a"), on("complete", "tr_a"))
    assert standing(net, "pl_a") is Standing.CLAIMED


def test_superseding_inherits_nothing_and_dims_what_it_cut_off() -> None:
    """Downstream stays; a place whose only producers are dead is unreachable (RULES 5)."""
    net = path()
    applied(net, step("tr_new"), supersede("tr_b", "tr_new"))
    old = net.transitions["tr_b"]
    assert (old.state, old.superseded_by) == (TransitionState.SUPERSEDED, "tr_new")
    assert net.transitions["tr_new"].flow is None
    assert standing(net, "pl_goal") is Standing.UNREACHABLE
    assert not is_unreachable(net, "pl_start")


def test_a_person_may_force_an_active_step_out_of_the_way() -> None:
    """The token goes back to the step's flow input; the history stays."""
    net = path()
    applied(net, on("activate", "tr_a"))
    corrected(net, CorrectionType.SUPERSEDE, supersede("tr_a", "tr_b"), target="tr_a")
    assert (token_at(net), net.tokens["tok_main"].reserved_by) == ("pl_start", None)
    assert net.transitions["tr_a"].state is TransitionState.SUPERSEDED


def test_a_person_may_force_a_shell_with_a_step_at_work_inside() -> None:
    """Shell and inner step end together, and the token stands before the shell."""
    net = shell()
    applied(net, step("tr_new"), on("activate", "tr_s"), on("activate", "tr_s_step"))
    corrected(net, CorrectionType.SUPERSEDE, supersede("tr_s", "tr_new"), target="tr_s")
    assert token_at(net) == "pl_start"
    assert net.transitions["tr_s_step"].state is TransitionState.SUPERSEDED


def test_a_shell_takes_the_token_inside_and_holds_none_itself() -> None:
    """Activation moves the token to the entry; the shell does not count toward one active."""
    net = shell()
    answer = applied(net, on("activate", "tr_s"))
    assert (answer.where.place_id, answer.where.active) == ("pl_s_in", "tr_s")
    answer = applied(net, on("activate", "tr_s_step"))
    assert answer.where.active == "tr_s_step"
    assert net.transitions["tr_s"].state is TransitionState.ACTIVE


def test_reaching_the_exit_ends_the_shell_in_the_same_batch() -> None:
    """One patch, one batch: nobody ever sees the token rest on an exit place."""
    net = shell()
    applied(net, on("activate", "tr_s"), on("activate", "tr_s_step"))
    applied(net, on("complete", "tr_s_step"))
    assert token_at(net) == "pl_a"
    assert net.transitions["tr_s"].state is TransitionState.COMPLETED
    assert net.transitions["tr_s"].firings == 1
    assert standing(net, "pl_a") is Standing.CLAIMED


def test_a_failure_exit_leads_to_the_shell_s_failure_place() -> None:
    """With a failure arc the token goes there; without, back to the shell's input."""
    for failure_arc, where in ((True, "pl_bad"), (False, "pl_start")):
        net = shell(failure_arc=failure_arc)
        applied(net, on("activate", "tr_s"), on("activate", "tr_s_step"))
        applied(net, on("fail", "tr_s_step"))
        assert token_at(net) == where
        assert net.transitions["tr_s"].state is TransitionState.FAILED


def test_a_shell_may_be_given_up_between_steps() -> None:
    """`fail` on the shell is legal while none of its steps holds the token (RULES 6)."""
    net = shell()
    applied(net, on("activate", "tr_s"), on("fail", "tr_s"))
    assert token_at(net) == "pl_start"
    assert codes(net, on("fail", "tr_s")) == ["not_active"]


def test_a_shell_may_be_entered_again() -> None:
    """Completed and failed steps may fire again, shells too, each time from the entry."""
    net = shell()
    for _ in range(2):
        applied(net, on("activate", "tr_s"), on("activate", "tr_s_step"), on("fail", "tr_s_step"))
    assert net.transitions["tr_s"].firings == 2


def test_later_ops_extend_an_inside() -> None:
    """A loose node joins the inside it is connected to; a tied one would cross the border."""
    net = shell()
    applied(net, place("pl_more"), step("tr_more"), arc("pl_s_bad", "tr_more", "flow"))
    applied(net, arc("tr_more", "pl_more", "success"))
    assert net.transitions["tr_more"].parent == net.places["pl_more"].parent == "tr_s"
    applied(net, step("tr_far"), arc("tr_far", "pl_a", "success"))
    assert codes(net, arc("pl_more", "tr_far", "flow")) == ["crosses_refinement"]


def test_an_inside_may_read_what_is_outside() -> None:
    """A read from outside is the one arc that crosses a shell's border."""
    net = shell()
    applied(net, gate("gate_a", "closed"), arc("gate_a", "tr_s_step", "read"))
    applied(net, on("activate", "tr_s"))
    assert codes(net, on("activate", "tr_s_step")) == ["not_enabled"]


def test_exits_may_be_written_either_way_round() -> None:
    """Agents write {inside: outside} as often as {outside: inside}; both are read as meant."""
    net = new_net()
    applied(net, place("pl_a"), *wired("tr_s", "pl_start", "pl_a"))
    turned = refine("tr_s", "pl_start", "pl_a")
    turned["successExitMap"] = {"pl_s_ok": "pl_a"}
    applied(net, turned)
    inside = net.transitions["tr_s"].refinement
    assert inside is not None and inside.success_exit == "pl_s_ok"


def test_an_unrefined_shell_fires_with_a_warning() -> None:
    """Its inner steps are Unknown, and the answer says so (RULES 6)."""
    net = new_net()
    applied(net, place("pl_a"), *wired("tr_s", "pl_start", "pl_a", hierarchical=True))
    assert any("not refined" in word for word in applied(net, on("activate", "tr_s")).warnings)


def test_a_token_s_status_is_derived() -> None:
    """Active, waiting, blocked by a gate, complete on the goal: told from the net, never stored."""
    net = path()
    applied(net, gate("gate_a", "closed"), arc("gate_a", "tr_b", "read"))
    seen = [token_status(net, net.tokens["tok_main"])]
    story = [
        [on("activate", "tr_a")],
        [on("complete", "tr_a")],
        [mark("gate_a", "open"), on("activate", "tr_b"), on("complete", "tr_b")],
    ]
    for ops in story:
        applied(net, *ops)
        seen.append(token_status(net, net.tokens["tok_main"]))
    assert seen == [
        TokenStatus.WAITING,
        TokenStatus.ACTIVE,
        TokenStatus.BLOCKED,
        TokenStatus.COMPLETE,
    ]
