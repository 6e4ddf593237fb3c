"""Every rejection code is raised by what it is for, at the right place, and teaches the way out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import get_args

import pytest
from net_build import (
    Op,
    applied,
    arc,
    contract,
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
    submit,
    supersede,
    wired,
)

from wayfinder.reducer.net.decide import OPS
from wayfinder.reducer.net.entrance import read_patch
from wayfinder.reducer.net.state import Net
from wayfinder.reducer.vocabulary.answer import CODES, Code, Fault, Rejected
from wayfinder.reducer.vocabulary.patch import PatchOp
from wayfinder.reducer.vocabulary.people import CorrectionType

# Said by the reconciler and the people's room, which know keys, sessions and corrections.
ELSEWHERE: set[Code] = {
    "idempotency_conflict",
    "session_unknown",
    "second_instance",
    "not_undoable",
}
# An issuer's prefix, put together here so that no file holds anything like a key.
LIKE_A_KEY = "gh" + "p_" + "a1B2c3D4" * 3


def begun() -> Net:
    """Two steps in a row, one to spare, a gate, a goal, and a shell not yet refined."""
    net = new_net()
    applied(
        net,
        place("pl_a"),
        place("pl_b"),
        gate("gate_a", "closed"),
        place("pl_goal", "Goal"),
        *wired("tr_a", "pl_start", "pl_a"),
        *wired("tr_b", "pl_a", "pl_goal"),
        *wired("tr_s", "pl_start", "pl_b", hierarchical=True),
        step("tr_loose"),
        evidence("tr_a", "ev_a", "ee1"),
    )
    return net


def active() -> Net:
    net = begun()
    applied(net, on("activate", "tr_a"))
    return net


def spare_active() -> Net:
    net = begun()
    applied(net, on("activate", "tr_s"))
    return net


def inside() -> Net:
    net = begun()
    applied(net, refine("tr_s", "pl_start", "pl_b"), on("activate", "tr_s"))
    return net


def deep_inside() -> Net:
    net = inside()
    applied(net, on("activate", "tr_s_step"))
    return net


def retired() -> Net:
    net = begun()
    applied(net, on("retire", "tr_loose", reason="not needed"))
    return net


def human_goal() -> Net:
    net = begun()
    goal = place("pl_new", "Goal", replacesGoalId="pl_goal", reason="that is what matters")
    corrected(net, CorrectionType.GOAL, goal, text="that is what matters")
    return net


def without_contract() -> Net:
    net = new_net()
    applied(
        net,
        place("pl_a"),
        *wired("tr_a", "pl_start", "pl_a", expectedEvidence=None, exitCondition=None),
    )
    return net


# code → net, op, JSON path below the op, an id or word that the answer offers (or "").
CASES: list[tuple[Code, Callable[[], Net], Op, str, str]] = [
    ("unknown_id", begun, arc("pl_a", "tr_nowhere", "flow"), ".toId", "tr_loose"),
    ("unknown_id", begun, on("activate", "tr_c"), ".transitionId", "tr_a"),
    ("unknown_id", begun, state("pl_c", "unknown"), ".placeId", "pl_a"),
    ("unknown_id", begun, evidence("pl_c", "ev_x"), ".targetId", "pl_a"),
    ("id_taken", begun, place("tr_a"), ".placeId", "tr_a"),
    ("id_taken", begun, step("tok_main"), ".transitionId", "tok_main"),
    ("id_taken", begun, evidence("tr_a", "ev_a"), ".evidence.evidenceId", "ev_a"),
    ("id_like_secret", begun, place(LIKE_A_KEY), ".placeId", ""),
    ("id_like_secret", begun, evidence("tr_a", LIKE_A_KEY), ".evidence.evidenceId", ""),
    ("not_bipartite", begun, arc("pl_a", "pl_b", "flow"), "", ""),
    ("not_bipartite", begun, arc("tr_a", "pl_b", "read"), "", ""),
    ("arity", begun, arc("pl_b", "tr_a", "flow"), ".arc", "pl_start"),
    ("arity", begun, on("activate", "tr_loose"), ".transitionId", "tr_loose"),
    ("arc_exists", begun, arc("pl_start", "tr_a", "flow"), "", ""),
    ("crosses_refinement", inside, arc("pl_s_in", "tr_b", "read"), "", ""),
    ("crosses_refinement", inside, arc("pl_s_bad", "tr_loose", "read"), "", ""),
    ("gate_state_missing", begun, place("pl_g", "Gate"), ".gateState", ""),
    ("gate_state_misplaced", begun, place("pl_g", gateState="open"), ".gateState", ""),
    ("not_a_gate", begun, mark("pl_a", "open"), ".placeId", ""),
    ("is_a_gate", begun, state("gate_a", "satisfied", "ev_a"), ".placeId", ""),
    ("evidence_required", begun, state("pl_a", "satisfied"), ".evidenceIds", "ev_a"),
    ("evidence_unknown", begun, state("pl_a", "satisfied", "ev_x"), ".evidenceIds[0]", "ev_a"),
    (
        "evidence_type_not_allowed",
        begun,
        evidence("tr_a", "ev_x", type="test_result"),
        ".evidence.type",
        "agent_declaration",
    ),
    ("evidence_key_unknown", begun, evidence("tr_a", "ev_x", "k9"), ".evidence.satisfies[0]",
     "ee1"),
    ("evidence_key_in_use", begun, contract("tr_a", expectedEvidence=["other"]),
     ".expectedEvidence", "ee1"),
    ("contract_incomplete", without_contract, on("activate", "tr_a"), ".transitionId",
     "expectedEvidence"),
    ("contract_incomplete", spare_active, contract("tr_s", expectedEvidence=[]), "", ""),
    ("contract_empty", begun, contract("tr_a"), "", ""),
    ("not_enabled", begun, on("activate", "tr_b"), ".transitionId", "pl_start"),
    ("already_active", active, on("activate", "tr_s"), ".transitionId", "tr_a"),
    ("not_active", begun, on("complete", "tr_a"), ".transitionId", ""),
    ("not_active", active, on("fail", "tr_b"), ".transitionId", "tr_a"),
    ("token_unknown", begun, on("activate", "tr_a", tokenId="tok_x"), ".tokenId", "tok_main"),
    ("token_reserved", active, on("activate", "tr_a"), ".transitionId", "tr_a"),
    ("not_live", retired, on("activate", "tr_loose"), ".transitionId", ""),
    ("not_live", retired, contract("tr_loose", intent="again"), ".transitionId", ""),
    ("not_live", retired, supersede("tr_a", "tr_loose"), ".newTransitionId", ""),
    ("not_live", begun, supersede("tr_a", "tr_a"), ".newTransitionId", ""),
    ("is_active", active, on("retire", "tr_a", reason="bored"), ".transitionId", ""),
    ("is_active", active, supersede("tr_a", "tr_s"), ".oldTransitionId", ""),
    ("is_active", active, refine("tr_a", "pl_start", "pl_a"), ".transitionId", ""),
    ("goal_exists", begun, place("pl_new", "Goal"), ".replacesGoalId", "pl_goal"),
    ("goal_exists", begun, place("pl_new", "Goal", replacesGoalId="pl_goal"), ".reason", ""),
    ("goal_unknown", begun, place("pl_new", "Goal", replacesGoalId="pl_a", reason="x"),
     ".replacesGoalId", "pl_goal"),
    ("refinement_invalid", begun, refine("tr_s", "pl_a", "pl_b"), ".entryMap", "pl_s_in"),
    ("refinement_invalid", begun, refine("tr_loose", "pl_a", "pl_b"), ".transitionId", ""),
    ("refinement_nested", inside, refine("tr_s_step", "pl_s_in", "pl_s_ok"), ".transitionId", ""),
    ("shell_not_completable", inside, on("complete", "tr_s"), ".transitionId", "pl_s_ok"),
    ("shell_child_active", deep_inside, on("fail", "tr_s"), ".transitionId", "tr_s_step"),
    ("human_constraint", human_goal, place("pl_x", "Goal", replacesGoalId="pl_new", reason="x"),
     ".type", "cor_1"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "build", "op", "path", "known"), CASES, ids=lambda v: v if isinstance(v, str) else None
)
def test_a_wrong_op_is_told_what_where_and_what_instead(
    code: Code, build: Callable[[], Net], op: Op, path: str, known: str
) -> None:
    """A refusal has its code, the JSON path of the field, what was expected, and ids that exist."""
    fault = refused(build(), op).faults[0]
    assert fault.code == code
    assert fault.path.startswith(f"$.ops[0]{path}")
    assert fault.expected
    assert not known or known in fault.known


def at_the_entrance(patch: dict[str, object]) -> Fault:
    raw = {"patchId": "p", "baseRevision": 0, "idempotencyKey": "k", **patch}
    answer = read_patch(json.dumps(raw).encode(), new_net())
    assert isinstance(answer, Rejected)
    assert answer.where is not None
    return answer.faults[0]


ENTRANCE: list[tuple[Code, dict[str, object], str, str]] = [
    ("malformed", {"ops": [{"op": "create_node"}]}, "$.ops[0].op", "create_place"),
    ("malformed", {"ops": [place("pl_a", "Thing")]}, "$.ops[0].type", "Condition"),
    ("malformed", {"ops": [step("tr_a", "Think")]}, "$.ops[0].type", "Investigate"),
    ("malformed", {"ops": [arc("pl_a", "tr_a", "next")]}, "$.ops[0].arc", "flow"),
    ("malformed", {"ops": [place("pl_a", name="x")]}, "$.ops[0]", "label"),
    ("malformed", {"ops": [{"op": "connect", "fromId": "pl_a"}]}, "$.ops[0]", "arc"),
    ("malformed", {"ops": [evidence("tr_a", "ev_a", type="proof")]}, "$.ops[0].evidence.type",
     "agent_declaration"),
    ("malformed", {"ops": [], "thoughts": "x"}, "$", "ops"),
    ("malformed", {"ops": [place("pl a")]}, "$.ops[0].placeId", ""),
    ("too_large", {"ops": [place("pl_a", label="x" * 201)]}, "$.ops[0].label", ""),
    ("too_large", {"ops": [place(f"pl_{n}") for n in range(65)]}, "$.ops", ""),
    ("too_large", {"ops": [], "patchId": "x" * (1 << 20)}, "$", ""),
]  # fmt: skip


@pytest.mark.parametrize(("code", "patch", "path", "known"), ENTRANCE)
def test_a_malformed_patch_is_told_the_words_that_may_stand_there(
    code: Code, patch: dict[str, object], path: str, known: str
) -> None:
    """At the entrance the first wrong field is named with the fields or words it may have."""
    fault = at_the_entrance(patch)
    assert (fault.code, fault.path) == (code, path)
    assert not known or known in fault.known


def test_a_pattern_is_told_in_words() -> None:
    """No regular expression reaches an agent."""
    assert "letter" in at_the_entrance({"ops": [place("pl a")]}).expected


def test_a_base_from_the_future_is_rejected() -> None:
    """`revision_ahead` names the revision there is."""
    fault = refused(begun(), place("pl_x"), base=99).faults[0]
    assert (fault.code, fault.known) == ("revision_ahead", ("1",))


def test_two_keys_alike_in_one_contract_are_malformed() -> None:
    """A key of expected evidence may stand once, or evidence could not tell which it names."""
    twice = [{"key": "k", "text": "a"}, {"key": "k", "text": "b"}]
    fault = refused(new_net(), step("tr_a", expectedEvidence=twice)).faults[0]
    assert (fault.code, fault.path) == ("malformed", "$.ops[0].expectedEvidence[1].key")


def test_every_code_is_raised_here() -> None:
    """The three tables of this file cover the documented codes, but for the reconciler's own."""
    raised = {case[0] for case in CASES} | {case[0] for case in ENTRANCE} | {"revision_ahead"}
    assert raised | ELSEWHERE == set(CODES)


def test_every_op_has_its_function() -> None:
    """The table of ops covers the vocabulary's thirteen."""
    assert set(OPS) == set(get_args(PatchOp))


def test_all_faults_that_stand_on_their_own_are_told_at_once() -> None:
    """Ops that only lean on a faulty one are not judged: one mistake is one fault."""
    faults = refused(
        begun(),
        place("pl_a"),  # taken
        *wired("tr_x", "pl_a", "pl_b"),  # leans on pl_a, which op 0 put in doubt
        mark("pl_b", "open"),  # wrong by itself, but tr_x made pl_b doubtful too
        contract("tr_b"),  # wrong by itself
    ).faults
    assert [(fault.code, fault.path) for fault in faults] == [
        ("id_taken", "$.ops[0].placeId"),
        ("contract_empty", "$.ops[5]"),
    ]


def test_a_refused_patch_leaves_no_trace() -> None:
    """Whole or nothing: ops before the faulty one are not applied either."""
    net = begun()
    submit(net, place("pl_x"), contract("tr_b"))
    assert "pl_x" not in net.places
    assert net.revision == 1
