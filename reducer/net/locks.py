"""What a person decided binds the agent's ops: the table lock type × op class (RULES 39).

A lock never stops the agent from working; it stops a *declaration* that would undo the person's
word, and tells the agent so. A person's own ops are never measured against locks. Free text
cannot be measured: it is delivered, and what comes of it is seen by its receipt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..vocabulary import patch as op_
from ..vocabulary.answer import Fault
from ..vocabulary.people import CorrectionType
from ..vocabulary.terms import PlaceType
from .patching import Draft, Refused
from .rules import is_live, is_met
from .state import Lock, Net, Transition


def refuse_against_locks(draft: Draft, op: op_.Op, path: str) -> None:
    """Raises Refused with `human_constraint` if a standing lock says otherwise."""
    if draft.by_person or not draft.net.locks:
        return
    guard = _GUARDS.get(type(op))
    if guard is not None:
        guard(draft, op, path)


def held_gate(net: Net, gate_id: str) -> Lock | None:
    """The lock that only a person lifts, if the gate stands under one."""
    return next((lock for lock in net.locks.values() if lock.holds_gate(gate_id)), None)


def _of(net: Net, type_: CorrectionType) -> list[Lock]:
    return [lock for lock in net.locks.values() if lock.type is type_]


def _stands(lock: Lock, path: str, expected: str) -> Refused:
    known = tuple(node for node in (lock.target_id, lock.correction_id) if node)
    return Refused(Fault("human_constraint", path, expected, known))


def _retired(draft: Draft, node_id: str, path: str) -> None:
    for lock in _of(draft.net, CorrectionType.RETIRE):
        if lock.target_id == node_id:
            raise _stands(lock, path, f"another path: a person retired {node_id}")


def _create_place(draft: Draft, op: op_.CreatePlace, path: str) -> None:
    goal = draft.net.goal
    for lock in _of(draft.net, CorrectionType.GOAL):
        if op.type is PlaceType.GOAL and goal is not None:
            named = goal.place_id or "the person's words"
            raise _stands(
                lock, f"{path}.type", f"the goal a person set ({named}); propose a change instead"
            )


def _connect(draft: Draft, op: op_.Connect, path: str) -> None:
    _retired(draft, op.from_id, f"{path}.fromId")
    _retired(draft, op.to_id, f"{path}.toId")


def _on_transition(draft: Draft, op: Any, path: str) -> None:
    _retired(draft, op.transition_id, f"{path}.transitionId")


def _activate(draft: Draft, op: op_.ActivateTransition, path: str) -> None:
    net, where = draft.net, f"{path}.transitionId"
    _retired(draft, op.transition_id, where)
    step = net.transitions.get(op.transition_id)
    if step is None:
        return
    only = _of(net, CorrectionType.ONLY)
    wanted = net.transitions.get((only[-1].target_id or "") if only else "")
    if wanted is not None and is_live(wanted) and not serves(net, step, wanted):
        raise _stands(only[-1], where, f"{wanted.transition_id} alone for now, as a person said")
    for place_id in step.reads:
        lock = held_gate(net, place_id)
        if lock is not None and not is_met(net.places[place_id]):
            raise _stands(lock, where, f"a person opens gate {place_id} first")


def serves(net: Net, step: Transition, wanted: Transition) -> bool:
    """The wanted step, its shell, its inside, or a step on a way to where it starts."""
    if wanted.transition_id in (step.transition_id, step.parent):
        return True
    if wanted.parent == step.transition_id:
        return True
    token = net.token_of()
    if wanted.flow is None or (token is not None and token.place_id == wanted.flow):
        return False
    seen: set[str] = set()
    ahead = [end for end in (step.success, step.failure) if end is not None]
    while ahead:
        place_id = ahead.pop()
        if place_id == wanted.flow:
            return True
        if place_id not in seen:
            seen.add(place_id)
            for follower in net.flows_from.get(place_id, ()):
                later = net.transitions[follower]
                ahead += [end for end in (later.success, later.failure) if end is not None]
    return False


def _retire(draft: Draft, op: op_.RetireTransition, path: str) -> None:
    for lock in _of(draft.net, CorrectionType.ONLY):
        if lock.target_id == op.transition_id:
            raise _stands(lock, f"{path}.transitionId", "this step kept: a person asked for it")


def _supersede(draft: Draft, op: op_.SupersedeTransition, path: str) -> None:
    _retired(draft, op.new_transition_id, f"{path}.newTransitionId")
    for lock in _of(draft.net, CorrectionType.ONLY):
        if lock.target_id == op.old_transition_id:
            raise _stands(lock, f"{path}.oldTransitionId", "this step kept: a person asked for it")


def _mark_gate(draft: Draft, op: op_.MarkGate, path: str) -> None:
    lock = held_gate(draft.net, op.place_id)
    if lock is not None:
        raise _stands(lock, f"{path}.placeId", "a person marks this gate; ask and wait")


_GUARDS: Final[dict[type[op_.Op], Callable[[Draft, Any, str], None]]] = {
    op_.CreatePlace: _create_place,
    op_.Connect: _connect,
    op_.SetTransitionContract: _on_transition,
    op_.ActivateTransition: _activate,
    op_.RetireTransition: _retire,
    op_.SupersedeTransition: _supersede,
    op_.RefineTransition: _on_transition,
    op_.MarkGate: _mark_gate,
}
