"""Random ops over few names, so that they meet: legal ones, nearly legal ones, and nonsense."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from naive_net import Naive
from net_build import (
    Op,
    arc,
    contract,
    evidence,
    gate,
    mark,
    on,
    place,
    refine,
    state,
    step,
    supersede,
    wired,
)

PLACES = ["pl_start", "pl_a", "pl_b", "pl_c", "gate_a", "pl_goal", "pl_s_in", "pl_s_ok", "pl_s_bad"]
STEPS = ["tr_a", "tr_b", "tr_s", "tr_s_step"]
EVIDENCE = ["ev_a", "ev_b", "ev_c"]
KINDS = ["flow", "read", "success", "failure"]
NAMES = [*PLACES, *STEPS, "nowhere"]

Ops = st.SearchStrategy[Op]


def _pick(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


def _some(names: list[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(names), max_size=2, unique=True)


_KEYS = _pick([], [{"key": "ee1", "text": "it shows"}], [{"key": "k2", "text": "it shows too"}])
_STEP = st.sampled_from([*STEPS, "tr_new"])
_PLACE = st.sampled_from(PLACES)


def _step(name: str, keys: list[Any], bare: bool) -> Op:
    return step(name, expectedEvidence=keys, **({"exitCondition": None} if bare else {}))


def _goal(name: str, fields: Op) -> Op:
    return place(name, "Goal", **fields)


def _on(op: str, name: str, evidence_ids: list[str]) -> Op:
    cited = {"evidenceIds": evidence_ids} if op in ("complete", "fail") else {}
    return on(op, name, **({"reason": "not needed"} if op == "retire" else cited))


def _refine(shell: str, ends: tuple[str, str, str], change: str) -> Op:
    op = refine(shell, *ends)
    if change == "read from outside":
        op["subnet"]["arcs"].append(arc("pl_c", "tr_s_step", "read"))
    elif change == "arc to the outside":
        op["subnet"]["arcs"].append(arc("tr_s_step", "pl_a", "success"))
    elif change == "ends coincide":
        op["successExitMap"] = {ends[1]: next(iter(op["entryMap"].values()))}
    elif change == "no inside":
        op["subnet"]["places"].pop(0)
    return op


create_place: Ops = st.one_of(
    st.builds(place, _pick("pl_a", "pl_b", "pl_c", "tr_a")),
    st.builds(gate, st.just("gate_a"), _pick("open", "closed")),
    st.builds(place, st.just("pl_b"), _pick("Gate", "Verified"), gateState=st.just("blocked")),
    st.builds(place, st.just("pl_b"), st.just("Gate")),
    st.builds(
        _goal,
        _pick("pl_goal", "pl_c"),
        st.fixed_dictionaries(
            {}, optional={"replacesGoalId": _pick("pl_goal", "pl_c"), "reason": st.just("better")}
        ),
    ),
)
create_transition: Ops = st.builds(_step, _STEP, _KEYS, _pick(False, False, False, True))
connect: Ops = st.one_of(
    st.builds(arc, _PLACE, st.sampled_from(STEPS), _pick("flow", "read")),
    st.builds(arc, st.sampled_from(STEPS), _PLACE, _pick("success", "failure")),
    st.builds(arc, st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(KINDS)),
)
set_state: Ops = st.builds(
    lambda name, value, ids: state(name, value, *ids),
    _PLACE,
    _pick("unknown", "satisfied", "invalidated"),
    _some(EVIDENCE),
)
mark_gate: Ops = st.builds(
    lambda name, value, ids: mark(name, value, *ids),
    _pick("gate_a", "gate_a", "pl_b"),
    _pick("open", "closed", "blocked"),
    _some(EVIDENCE),
)
set_contract: Ops = st.builds(
    lambda name, fields: contract(name, **fields),
    _STEP,
    st.fixed_dictionaries(
        {}, optional={"expectedEvidence": _KEYS, "exitCondition": _pick("a", "b")}
    ),
)
attach: Ops = st.builds(
    lambda name, evidence_id, keys: evidence(name, evidence_id, *keys),
    st.sampled_from(NAMES),
    st.sampled_from(EVIDENCE),
    _some(["ee1", "k2"]),
)
move: Ops = st.builds(
    _on, _pick("activate", "complete", "fail", "retire"), _STEP, _some(EVIDENCE[:1])
)
end: Ops = st.builds(supersede, _STEP, _STEP)
refined: Ops = st.builds(
    _refine,
    _pick("tr_s", "tr_s", "tr_a", "tr_s_step"),
    _pick(("pl_start", "pl_a", "pl_start"), ("pl_a", "pl_b", "pl_c"), ("pl_start", "pl_b", "")),
    _pick("", "", "", "read from outside", "arc to the outside", "ends coincide", "no inside"),
)

any_op: Ops = st.one_of(
    create_place,
    create_transition,
    connect,
    connect,
    set_state,
    mark_gate,
    set_contract,
    attach,
    move,
    move,
    end,
    refined,
)


@st.composite
def fitting_op(draw: st.DrawFn, naive: Naive) -> Op:
    """An op about things that exist, or new ones under new names: mostly legal, deep in."""
    places, steps = sorted(naive.places), sorted(naive.steps) or ["tr_none"]
    gates = [name for name in places if naive.places[name] == "Gate"] or ["gate_none"]
    known = sorted(naive.evidence)[-1:]
    at, name = draw(st.sampled_from(places)), draw(st.sampled_from(steps))
    keys = [e["key"] for e in naive.contract.get(name, {}).get("expectedEvidence", [])]
    fresh = naive.revision
    choices: list[Op] = [
        place(f"pl_{fresh}"),
        step(f"tr_{fresh}"),
        *(arc(at, name, kind) for kind in ("flow", "read")),
        *(arc(name, at, kind) for kind in ("success", "failure")),
        *(state(at, value, *known) for value in ("satisfied", "satisfied", "unknown")),
        *(mark(gates[-1], value, *known) for value in ("open", "closed")),
        evidence(name, f"ev_{fresh}", *keys),
        evidence(at, f"ev_{fresh}"),
        contract(name, exitCondition=f"at {fresh}"),
        supersede(name, steps[-1]),
        supersede(name, steps[0]),
        on("retire", name, reason="not needed"),
        on("activate", name),
    ]
    return draw(st.sampled_from(choices))


def wired_start() -> list[Op]:
    """Two ordinary steps, one to be refined, a gate, a goal: enough for every rule to matter."""
    return [
        place("pl_a"),
        place("pl_b"),
        gate("gate_a", "closed"),
        place("pl_goal", "Goal"),
        *wired("tr_a", "pl_start", "pl_a"),
        *wired("tr_b", "pl_a", "pl_goal", "pl_start"),
        *wired("tr_s", "pl_start", "pl_a"),
        arc("gate_a", "tr_b", "read"),
        evidence("gate_a", "ev_a"),
    ]
