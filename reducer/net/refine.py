"""`refine_transition`: gives a shell its inside. One level; the inside obeys the net's own rules.

The maps join borders: entry {parent's flow input: a place inside}, success exit {parent's success
output: a place inside}, failure exit {parent's failure output, or its flow input if it has none:
a place inside}. Agents also write the exits the other way round, {inside: outside}; since ids are
unique that is read as it is meant, and stored one way.
"""

from __future__ import annotations

from ..vocabulary import event as ev
from ..vocabulary import patch as op_
from ..vocabulary.terms import PlaceType, TransitionState
from .patching import Draft, refuse
from .rules import is_live
from .state import Transition
from .structure import connect, create_place, create_transition


def refine_transition(draft: Draft, op: op_.RefineTransition, path: str) -> None:
    shell = draft.transition(op.transition_id, f"{path}.transitionId")
    _must_be_refinable(shell, path)
    inside = {place.place_id for place in op.subnet.places}
    assert shell.flow is not None and shell.success is not None
    entry = _border(op.entry_map, shell.flow, inside, f"{path}.entryMap")
    success = _border(op.success_exit_map, shell.success, inside, f"{path}.successExitMap")
    failure = None
    if op.failure_exit_map is not None:
        outer = shell.failure or shell.flow
        failure = _border(op.failure_exit_map, outer, inside, f"{path}.failureExitMap")
    ends = [next(iter(pair.values())) for pair in (entry, success, failure) if pair]
    if len(set(ends)) != len(ends):
        raise refuse("refinement_invalid", path, "entry and exits on different places")
    _build(draft, op, path)
    draft.emit(
        ev.TransitionRefined(
            transition_id=shell.transition_id,
            place_ids=tuple(place.place_id for place in op.subnet.places),
            transition_ids=tuple(step.transition_id for step in op.subnet.transitions),
            entry_map=entry,
            success_exit_map=success,
            failure_exit_map=failure,
            op_index=draft.op_index,
        )
    )


def _must_be_refinable(shell: Transition, path: str) -> None:
    where = f"{path}.transitionId"
    if not is_live(shell):
        raise refuse("not_live", where, f"a live transition, not {shell.state}")
    if shell.state is TransitionState.ACTIVE:
        raise refuse("is_active", where, "refinement before activation")
    if shell.parent is not None:
        raise refuse("refinement_nested", where, f"a transition outside {shell.parent}")
    if shell.refinement is not None:
        raise refuse("refinement_nested", where, "a shell not refined yet; connect extends it")
    if shell.flow is None or shell.success is None:
        raise refuse("refinement_invalid", where, "its flow and success arcs connected first")


def _border(pair: op_.PlaceMap, outer: str, inside: set[str], path: str) -> dict[str, str]:
    left, right = next(iter(pair.items()))
    if left in inside and right == outer:
        left, right = right, left
    if left != outer or right not in inside:
        raise refuse(
            "refinement_invalid", path, f"{{{outer}: a place of the subnet}}", sorted(inside)[:24]
        )
    return {left: right}


def _build(draft: Draft, op: op_.RefineTransition, path: str) -> None:
    """The inside, by the same rules as anything else; then that nothing leads out of it."""
    subnet = op.subnet
    for index, place in enumerate(subnet.places):
        where = f"{path}.subnet.places[{index}]"
        if place.type is PlaceType.GOAL:
            raise refuse("refinement_invalid", f"{where}.type", "the Goal outside of shells")
        create_place(draft, place, where)
    for index, step in enumerate(subnet.transitions):
        create_transition(draft, step, f"{path}.subnet.transitions[{index}]")
    names = {place.place_id for place in subnet.places}
    names |= {step.transition_id for step in subnet.transitions}
    for index, arc in enumerate(subnet.arcs):
        where = f"{path}.subnet.arcs[{index}]"
        _must_stay_inside(draft, arc, names, where)
        connect(draft, arc, where)


def _must_stay_inside(draft: Draft, arc: op_.Connect, names: set[str], path: str) -> None:
    strangers = {arc.from_id, arc.to_id} - names
    reads_outside = (
        arc.arc.value == "read"
        and arc.to_id in names
        and (place := draft.net.places.get(arc.from_id)) is not None
        and place.parent is None
    )
    if strangers and not reads_outside and all(draft.net.knows(name) for name in strangers):
        raise refuse(
            "crosses_refinement",
            path,
            "both ends in the subnet, or a read from outside",
            sorted(names)[:24],
        )
