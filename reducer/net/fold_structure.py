"""What the events that shape a net mean: nodes, arcs, states, contracts, endings, insides.

Part of `fold.py`; its rules for editors hold here.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from ..vocabulary import event as ev
from ..vocabulary.people import CorrectionType
from ..vocabulary.terms import ArcKind, PlaceType, TransitionState
from .contract import keyed_only
from .state import Net, Place, Refinement, Transition, merged


def place_confirmed(net: Net, confirmed: ev.PlaceConfirmed) -> None:
    place = confirmed.place
    net.put_place(
        Place(
            place.place_id,
            place.type,
            place.label,
            gate_state=place.gate_state,
            selectors=place.evidence_selectors,
            born=net.born,
            changed_revision=net.revision + 1,
        )
    )
    net.born += 1
    lock = net.locks.get(net.correction_id or "")
    if lock is not None and lock.type is CorrectionType.GATE and place.type is PlaceType.GATE:
        net.locks[lock.correction_id] = replace(lock, gate_id=place.place_id)


def transition_proposed(net: Net, proposed: ev.TransitionProposed) -> None:
    step = proposed.transition
    net.put_transition(
        Transition(
            transition_id=step.transition_id,
            type=step.type,
            intent=step.intent,
            why_now=step.why_now,
            action=step.action,
            expected=keyed_only(step.expected_evidence),
            selectors=step.evidence_selectors,
            kinds=step.allowed_episode_kinds,
            kinds_inferred=proposed.kinds_inferred,
            exit_condition=step.exit_condition,
            failure_condition=step.failure_condition,
            owner=step.owner,
            constraints=step.constraints,
            assumptions=step.assumptions,
            refine_when=step.refine_when,
            unknowns=step.unknowns,
            hierarchical=step.hierarchical,
            born=net.born,
            changed_revision=net.revision + 1,
        )
    )
    net.born += 1


def arc_connected(net: Net, arc: ev.ArcConnected) -> None:
    inward = arc.arc in (ArcKind.FLOW, ArcKind.READ)
    place_id, step_id = (arc.from_id, arc.to_id) if inward else (arc.to_id, arc.from_id)
    if arc.arc is not ArcKind.READ:
        _adopt(net, place_id, step_id)
    step, changed = net.transitions[step_id], net.revision + 1
    if arc.arc is ArcKind.READ:
        step = replace(step, reads=(*step.reads, place_id), changed_revision=changed)
    else:
        step = replace(step, **{arc.arc.value: place_id}, changed_revision=changed)
    net.put_transition(step)
    _index(_INDEX_OF[arc.arc](net), place_id, step_id)


_INDEX_OF: Final[dict[ArcKind, Callable[[Net], MutableMapping[str, tuple[str, ...]]]]] = {
    ArcKind.FLOW: lambda net: net.flows_from,
    ArcKind.READ: lambda net: net.read_by,
    ArcKind.SUCCESS: lambda net: net.led_to_by,
    ArcKind.FAILURE: lambda net: net.led_to_by,
}


def _index(index: MutableMapping[str, tuple[str, ...]], place_id: str, step_id: str) -> None:
    known = index.get(place_id, ())
    if step_id not in known:
        index[place_id] = (*known, step_id)


def _adopt(net: Net, place_id: str, step_id: str) -> None:
    """A loose node connected to the inside of a shell becomes part of it (RULES 6: extension)."""
    place, step = net.places[place_id], net.transitions[step_id]
    if place.parent == step.parent:
        return
    if step.parent is not None:
        net.put_place(replace(place, parent=step.parent))
    else:
        net.put_transition(replace(step, parent=place.parent))


def place_state_set(net: Net, setting: ev.PlaceStateSet) -> None:
    place = net.places[setting.place_id]
    net.put_place(
        replace(
            place,
            state=setting.state,
            evidence_ids=merged(place.evidence_ids, setting.evidence_ids),
            changed_revision=net.revision + 1,
        )
    )


def gate_marked(net: Net, marked: ev.GateMarked) -> None:
    place = net.places[marked.place_id]
    net.put_place(
        replace(
            place,
            gate_state=marked.gate_state,
            evidence_ids=merged(place.evidence_ids, marked.evidence_ids),
            changed_revision=net.revision + 1,
        )
    )


# How the contract's wire names are spelled on the record, where they differ.
_RENAMED: Final = {
    "expected_evidence": "expected",
    "evidence_selectors": "selectors",
    "allowed_episode_kinds": "kinds",
}


def transition_contract_set(net: Net, setting: ev.TransitionContractSet) -> None:
    contract = setting.contract
    given = {
        _RENAMED.get(name, name): value
        for name in contract.__struct_fields__
        if name != "transition_id" and (value := getattr(contract, name)) is not UNSET
    }
    if "kinds" in given:
        given["kinds_inferred"] = setting.kinds_inferred
    net.put_transition(
        replace(
            net.transitions[contract.transition_id],
            **given,
            contract_version=setting.contract_version,
            changed_revision=net.revision + 1,
        )
    )


def transition_retired(net: Net, retired: ev.TransitionRetired) -> None:
    net.put_transition(
        replace(
            net.transitions[retired.transition_id],
            state=TransitionState.RETIRED,
            reason=retired.reason,
            changed_revision=net.revision + 1,
        )
    )


def transition_superseded(net: Net, superseded: ev.TransitionSuperseded) -> None:
    """A token that a person's force released may have been held by a step inside the old one."""
    ended = {superseded.old_transition_id}
    token = net.tokens.get(superseded.released_token_id or "")
    if token is not None:
        ended.add(token.reserved_by or superseded.old_transition_id)
        net.put_token(replace(token, reserved_by=None))
    for transition_id in sorted(ended):
        net.put_transition(
            replace(
                net.transitions[transition_id],
                state=TransitionState.SUPERSEDED,
                superseded_by=superseded.new_transition_id,
                reason=superseded.reason,
                changed_revision=net.revision + 1,
            )
        )


def transition_refined(net: Net, refined: ev.TransitionRefined) -> None:
    changed = net.revision + 1
    shell = net.transitions[refined.transition_id]
    failure_map = refined.failure_exit_map
    refinement = Refinement(
        entry=next(iter(refined.entry_map.values())),
        success_exit=next(iter(refined.success_exit_map.values())),
        failure_exit=next(iter(failure_map.values())) if failure_map else None,
    )
    net.put_transition(
        replace(shell, refinement=refinement, hierarchical=True, changed_revision=changed)
    )
    for place_id in refined.place_ids:
        net.put_place(replace(net.places[place_id], parent=shell.transition_id))
    for step_id in refined.transition_ids:
        net.put_transition(replace(net.transitions[step_id], parent=shell.transition_id))
