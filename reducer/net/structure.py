"""Ops that shape the net: places, transitions, arcs, states, contracts, endings, evidence.

One function per op: refuse, or emit. The order of checks is the order of what an agent must mend
first: does it exist, is it the right sort of thing, may it be done.
"""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from ..vocabulary import event as ev
from ..vocabulary import patch as op_
from ..vocabulary.patch import ExpectedEvidence
from ..vocabulary.terms import (
    ArcKind,
    Level,
    PlaceState,
    PlaceType,
    TransitionState,
)
from . import contract
from .evidence import TYPES_BY_CHANNEL, evidence_of, next_evidence_id
from .patching import Draft, refuse, similar
from .rules import is_live
from .secretlike import looks_like_secret
from .state import Net, Place, Transition

# --- places -----------------------------------------------------------------------------------


def create_place(draft: Draft, op: op_.CreatePlace, path: str) -> None:
    draft.claim_id(op.place_id, f"{path}.placeId")
    is_gate = op.type is PlaceType.GATE
    if is_gate and op.gate_state is None:
        raise refuse("gate_state_missing", f"{path}.gateState", "open, closed or blocked")
    if not is_gate and op.gate_state is not None:
        raise refuse("gate_state_misplaced", f"{path}.gateState", f"none on a {op.type}")
    if op.type is PlaceType.GOAL:
        _create_goal(draft, op, path)
    elif op.replaces_goal_id is not None:
        raise refuse("goal_unknown", f"{path}.replacesGoalId", "this field on a Goal only")
    else:
        draft.emit(ev.PlaceConfirmed(op, draft.op_index))


def _create_goal(draft: Draft, op: op_.CreatePlace, path: str) -> None:
    """The first Goal is the North Star; a later one must say which it replaces, and why."""
    goal = draft.net.goal
    standing = None if goal is None or goal.level is Level.INFERRED else goal
    if op.replaces_goal_id is None:
        if standing is not None:
            raise refuse(
                "goal_exists",
                f"{path}.replacesGoalId",
                "replacesGoalId of the standing goal, and a reason",
                (standing.place_id,) if standing.place_id else (),
            )
    elif standing is None or op.replaces_goal_id != standing.place_id:
        raise refuse(
            "goal_unknown",
            f"{path}.replacesGoalId",
            "the standing goal",
            (standing.place_id,) if standing and standing.place_id else (),
        )
    elif op.reason is None:
        raise refuse("goal_exists", f"{path}.reason", "why the goal changes")
    draft.emit(ev.PlaceConfirmed(op, draft.op_index))
    draft.emit(
        ev.RootIntentSet(
            text=op.label,
            level=Level.HUMAN if draft.by_person else Level.DECLARED,
            place_id=op.place_id,
            replaces_place_id=op.replaces_goal_id,
            reason=op.reason,
        )
    )


def set_place_state(draft: Draft, op: op_.SetPlaceState, path: str) -> None:
    place = draft.place(op.place_id, f"{path}.placeId")
    if place.type is PlaceType.GATE:
        raise refuse("is_a_gate", f"{path}.placeId", "mark_gate for a Gate")
    if op.state is not PlaceState.UNKNOWN and not op.evidence_ids:
        raise refuse(
            "evidence_required",
            f"{path}.evidenceIds",
            "an evidence id; attach_evidence earlier in this patch gives one",
            _newest_evidence(draft.net),
        )
    draft.evidence_known(op.evidence_ids, path)
    if place.state is not op.state or _adds(place, op.evidence_ids):
        draft.emit(ev.PlaceStateSet(op.place_id, op.state, op.evidence_ids, draft.op_index))


def mark_gate(draft: Draft, op: op_.MarkGate, path: str) -> None:
    place = draft.place(op.place_id, f"{path}.placeId")
    if place.type is not PlaceType.GATE:
        raise refuse("not_a_gate", f"{path}.placeId", f"a Gate; {op.place_id} is a {place.type}")
    draft.evidence_known(op.evidence_ids, path)
    if place.gate_state is not op.gate_state or _adds(place, op.evidence_ids):
        draft.emit(ev.GateMarked(op.place_id, op.gate_state, op.evidence_ids, draft.op_index))


def _adds(place: Place, evidence_ids: tuple[str, ...]) -> bool:
    return not set(evidence_ids) <= set(place.evidence_ids)


def _newest_evidence(net: Net) -> tuple[str, ...]:
    return similar("", net.evidence)[:8]


# --- transitions ------------------------------------------------------------------------------


def create_transition(draft: Draft, op: op_.CreateTransition, path: str) -> None:
    draft.claim_id(op.transition_id, f"{path}.transitionId")
    expected = _keyed(op.expected_evidence, (), path)
    inferred = not op.allowed_episode_kinds
    kinds = contract.KINDS_BY_TYPE[op.type] if inferred else op.allowed_episode_kinds
    step = replace(op, expected_evidence=expected, allowed_episode_kinds=kinds)
    draft.emit(ev.TransitionProposed(step, draft.op_index, inferred))
    _tell_keys(draft, op.transition_id, expected)


def set_transition_contract(draft: Draft, op: op_.SetTransitionContract, path: str) -> None:
    step = draft.transition(op.transition_id, f"{path}.transitionId")
    given = {
        name: value
        for name in op.__struct_fields__
        if name != "transition_id" and (value := getattr(op, name)) is not UNSET
    }
    if not given:
        raise refuse("contract_empty", path, "at least one field besides transitionId")
    if not is_live(step):
        raise refuse("not_live", f"{path}.transitionId", f"a live transition, not {step.state}")
    inferred = step.kinds_inferred
    if "expected_evidence" in given:
        given["expected_evidence"] = _replaced_keys(draft, op, step, path)
        _tell_keys(draft, step.transition_id, given["expected_evidence"])
    if "allowed_episode_kinds" in given:
        inferred = not given["allowed_episode_kinds"]
        if inferred:
            given["allowed_episode_kinds"] = contract.KINDS_BY_TYPE[step.type]
    setting = ev.TransitionContractSet(
        op_.SetTransitionContract(step.transition_id, **given),
        step.contract_version + 1,
        draft.op_index,
        inferred,
    )
    if _changes(step, given, inferred):
        draft.emit(setting)


# The record's names where they differ from the op's.
_ON_RECORD = {
    "expected_evidence": "expected",
    "evidence_selectors": "selectors",
    "allowed_episode_kinds": "kinds",
}


def _changes(step: Transition, given: dict[str, object], inferred: bool) -> bool:
    return inferred != step.kinds_inferred or any(
        getattr(step, _ON_RECORD.get(name, name)) != value for name, value in given.items()
    )


def _replaced_keys(
    draft: Draft, op: op_.SetTransitionContract, step: Transition, path: str
) -> tuple[ExpectedEvidence, ...]:
    """A key that evidence refers to stays, with its text; only superseding the step ends it."""
    wanted = op.expected_evidence
    assert wanted is not UNSET
    expected = _keyed(wanted, step.expected, path)
    texts = {item.key: item.text for item in expected}
    used = contract.keys_in_use(draft.net, step)
    for before in step.expected:
        if before.key in used and texts.get(before.key) != before.text:
            raise refuse(
                "evidence_key_in_use",
                f"{path}.expectedEvidence",
                f"{before.key} kept as it is: {used[before.key]} refers to it",
                (before.key,),
            )
    if not expected and step.state is TransitionState.ACTIVE and not draft.by_person:
        raise refuse(
            "contract_incomplete", f"{path}.expectedEvidence", "expectedEvidence while active"
        )
    return expected


def _keyed(
    wanted: tuple[str | ExpectedEvidence, ...], before: tuple[ExpectedEvidence, ...], path: str
) -> tuple[ExpectedEvidence, ...]:
    try:
        return contract.keyed(wanted, before)
    except contract.KeyTwice as twice:
        place = f"{path}.expectedEvidence[{twice.index}].key"
        raise refuse("malformed", place, f"each key once, but {twice.key} stands twice") from twice


def _tell_keys(draft: Draft, transition_id: str, expected: tuple[ExpectedEvidence, ...]) -> None:
    if expected:
        draft.evidence_keys[transition_id] = tuple(item.key for item in expected)


def retire_transition(draft: Draft, op: op_.RetireTransition, path: str) -> None:
    step = draft.transition(op.transition_id, f"{path}.transitionId")
    _must_live(step, f"{path}.transitionId")
    if step.state is TransitionState.ACTIVE:
        raise refuse(
            "is_active", f"{path}.transitionId", "complete_transition or fail_transition first"
        )
    draft.emit(ev.TransitionRetired(op.transition_id, op.reason, draft.op_index))


def _must_live(step: Transition, path: str) -> None:
    if not is_live(step):
        raise refuse("not_live", path, f"a live transition; {step.transition_id} is {step.state}")


# --- arcs -------------------------------------------------------------------------------------


def connect(draft: Draft, op: op_.Connect, path: str) -> None:
    """At most one flow, success and failure arc per transition: Phase 1's limit stands here."""
    place, step = _ends(draft, op, path)
    _must_live(step, f"{path}.{'toId' if op.from_id == place.place_id else 'fromId'}")
    if op.arc is ArcKind.READ:
        taken = place.place_id if place.place_id in step.reads else None
    else:
        taken = getattr(step, op.arc.value)
    if taken == place.place_id:
        raise refuse("arc_exists", path, f"an arc other than this {op.arc} arc")
    if taken is not None:
        raise refuse(
            "arity",
            f"{path}.arc",
            f"one {op.arc} arc; {step.transition_id} has one, {taken}",
            (taken,),
        )
    _must_not_cross(draft, op, place, step, path)
    draft.emit(ev.ArcConnected(op.from_id, op.to_id, op.arc, draft.op_index))


def _ends(draft: Draft, op: op_.Connect, path: str) -> tuple[Place, Transition]:
    net = draft.net
    for node_id, field in ((op.from_id, "fromId"), (op.to_id, "toId")):
        if not net.knows(node_id):
            known = similar(node_id, (*net.places, *net.transitions))
            raise refuse("unknown_id", f"{path}.{field}", "a place or transition", known)
    inward = op.arc in (ArcKind.FLOW, ArcKind.READ)
    place_id, step_id = (op.from_id, op.to_id) if inward else (op.to_id, op.from_id)
    place, step = net.places.get(place_id), net.transitions.get(step_id)
    if place is None or step is None:
        way = "a place to a transition" if inward else "a transition to a place"
        raise refuse("not_bipartite", path, f"a {op.arc} arc from {way}")
    return place, step


def _must_not_cross(
    draft: Draft, op: op_.Connect, place: Place, step: Transition, path: str
) -> None:
    """Inside and outside of a shell meet by reads from outside only; a loose node may join in."""
    if place.parent == step.parent:
        return
    if op.arc is ArcKind.READ:
        allowed = place.parent is None
    elif place.parent is None:
        allowed = _is_loose_place(draft.net, place)
    else:
        allowed = step.parent is None and _is_loose_step(step)
    if not allowed:
        raise refuse(
            "crosses_refinement",
            path,
            f"both ends inside {place.parent or step.parent}, or a read from outside",
        )


def _is_loose_place(net: Net, place: Place) -> bool:
    at = place.place_id
    tied = any(index.get(at) for index in (net.flows_from, net.read_by, net.led_to_by))
    held = any(token.place_id == at for token in net.tokens.values())
    return not tied and not held and place.type is not PlaceType.GOAL


def _is_loose_step(step: Transition) -> bool:
    """Never fired, not refined, and tied to nothing that would be left outside."""
    ends = (step.flow, step.success, step.failure)
    return all(end is None for end in ends) and not step.firings and step.refinement is None


# --- evidence ---------------------------------------------------------------------------------


def attach_evidence(draft: Draft, op: op_.AttachEvidence, path: str) -> None:
    net, evidence = draft.net, op.evidence
    if not net.knows(op.target_id):
        known = similar(op.target_id, (*net.places, *net.transitions))
        raise refuse("unknown_id", f"{path}.targetId", "a place or transition", known)
    allowed = TYPES_BY_CHANNEL[draft.channel]
    if evidence.type is not None and evidence.type not in allowed:
        raise refuse(
            "evidence_type_not_allowed",
            f"{path}.evidence.type",
            "what this channel may claim",
            [type_.value for type_ in allowed],
        )
    step = net.transitions.get(op.target_id)
    keys = [item.key for item in step.expected] if step else []
    for index, key in enumerate(evidence.satisfies):
        if key not in keys:
            where = f"{path}.evidence.satisfies[{index}]"
            raise refuse("evidence_key_unknown", where, f"a key of {op.target_id}", keys)
    evidence_id = _evidence_id(draft, evidence.evidence_id, f"{path}.evidence.evidenceId")
    stored = evidence_of(
        net,
        op.target_id,
        evidence,
        evidence_id=evidence_id,
        channel=draft.channel,
        source=draft.source,
        now_ms=draft.now_ms,
    )
    draft.emit(ev.EvidenceAttached(stored, draft.op_index))
    draft.evidence_ids.append(evidence_id)


def _evidence_id(draft: Draft, named: str | None, path: str) -> str:
    if named is None:
        return next_evidence_id(draft.net)
    if named in draft.net.evidence:
        raise refuse("id_taken", path, f"an id other than {named}", (named,))
    if looks_like_secret(named):
        raise refuse("id_like_secret", path, "a plain name, such as ev_stable_failure")
    draft.new_ids.append(named)
    return named
