"""One committed payload in; the net moves on. Table by payload class, one function each.

Rules for editors of this file:
* A payload was decided already: nothing is refused here and nothing is looked up outside the net.
* Each function changes records by replacing them through `net.put_*`, which marks the digest.
* The meaning of a step never changes for an old log: a new meaning is a new function in the
  table of the next logic version; `session.started` pins the version a session folds by.
* A node's `changed_revision` is `revision + 1`: the first revision that includes the change,
  inside a batch and for what stands alone between two batches.
"""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from ..vocabulary import event as ev
from ..vocabulary.codec import canonical
from ..vocabulary.ids import MAIN_AGENT_ID
from ..vocabulary.people import CorrectionType
from ..vocabulary.terms import ArcKind, PlaceType, TransitionState
from .contract import keyed_only
from .digest import GOAL_PART
from .state import Goal, Lock, Net, Place, Refinement, Token, Transition, start_place

LOCKING: Final = frozenset(
    {
        CorrectionType.TEXT,
        CorrectionType.GOAL,
        CorrectionType.RETIRE,
        CorrectionType.GATE,
        CorrectionType.ONLY,
    }
)


def fold(net: Net, payload: Any) -> None:
    """Raises KeyError for a payload that says nothing about the net (see `FOLDS`)."""
    _VERSIONS[net.logic_version][type(payload)](net, payload)


def _session_started(net: Net, started: ev.SessionStarted) -> None:
    net.logic_version = started.logic_version
    net.put_place(start_place(started.start_place_id))
    net.put_token(Token(started.token_id, MAIN_AGENT_ID, started.start_place_id))
    net.born = 1


def _root_intent_set(net: Net, root: ev.RootIntentSet) -> None:
    if net.goal is not None:
        net.retired_goals = (*net.retired_goals, net.goal)
    if root.replaces_place_id is not None and root.place_id is not None:
        old = net.places[root.replaces_place_id]
        net.put_place(replace(old, superseded_by=root.place_id, changed_revision=net.revision + 1))
    if root.place_id is not None and net.places[root.place_id].superseded_by is not None:
        net.put_place(replace(net.places[root.place_id], superseded_by=None))  # reinstated
    net.goal = Goal(root.text, root.level, root.place_id, root.reason)
    net.tree.touch(GOAL_PART)


def _evidence_attached(net: Net, attached: ev.EvidenceAttached) -> None:
    evidence = attached.evidence
    net.evidence[evidence.evidence_id] = evidence
    net.evidence_chain.update(canonical(evidence) + b"\n")
    _cite(net, evidence.target_id, (evidence.evidence_id,))


def _cite(net: Net, node_id: str, evidence_ids: tuple[str, ...]) -> None:
    """Evidence has its own digest, so the tree stays clean."""
    place = net.places.get(node_id)
    if place is not None:
        merged = _merged(place.evidence_ids, evidence_ids)
        net.places[node_id] = replace(place, evidence_ids=merged)
        return
    transition = net.transitions[node_id]
    merged = _merged(transition.evidence_ids, evidence_ids)
    net.transitions[node_id] = replace(transition, evidence_ids=merged)


def _merged(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return (*old, *(item for item in dict.fromkeys(new) if item not in old)) if new else old


# --- batches ----------------------------------------------------------------------------------


def _path_declared(net: Net, _: ev.PathDeclared) -> None:
    net.correction_id = None


def _human_corrected(net: Net, human: ev.HumanCorrected) -> None:
    correction = human.correction
    net.correction_id = correction.correction_id
    if correction.type in LOCKING:
        net.locks[correction.correction_id] = Lock(
            correction.correction_id,
            correction.type,
            net.revision,
            correction.target_id,
            correction.text,
        )
    elif correction.type is CorrectionType.UNDO:
        net.locks.pop(correction.target_id or "", None)
    elif correction.type is CorrectionType.OPEN_GATE:
        _end_locks(net, lambda lock: _holds_gate(lock, correction.target_id))


def _holds_gate(lock: Lock, gate_id: str | None) -> bool:
    return lock.type is CorrectionType.GATE and gate_id in (lock.gate_id, lock.target_id)


def _end_locks(net: Net, over: Callable[[Lock], bool]) -> None:
    if net.locks:
        net.locks = {key: lock for key, lock in net.locks.items() if not over(lock)}


def _patch_committed(net: Net, _: ev.PatchCommitted) -> None:
    net.revision += 1
    lock = net.locks.get(net.correction_id or "")
    if lock is not None:
        net.locks[lock.correction_id] = replace(lock, revision=net.revision)
    net.correction_id = None


# --- structure --------------------------------------------------------------------------------


def _place_confirmed(net: Net, confirmed: ev.PlaceConfirmed) -> None:
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


def _transition_proposed(net: Net, proposed: ev.TransitionProposed) -> None:
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


def _arc_connected(net: Net, arc: ev.ArcConnected) -> None:
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


def _place_state_set(net: Net, setting: ev.PlaceStateSet) -> None:
    place = net.places[setting.place_id]
    net.put_place(
        replace(
            place,
            state=setting.state,
            evidence_ids=_merged(place.evidence_ids, setting.evidence_ids),
            changed_revision=net.revision + 1,
        )
    )


def _gate_marked(net: Net, marked: ev.GateMarked) -> None:
    place = net.places[marked.place_id]
    net.put_place(
        replace(
            place,
            gate_state=marked.gate_state,
            evidence_ids=_merged(place.evidence_ids, marked.evidence_ids),
            changed_revision=net.revision + 1,
        )
    )


# How the contract's wire names are spelled on the record, where they differ.
_RENAMED: Final = {
    "expected_evidence": "expected",
    "evidence_selectors": "selectors",
    "allowed_episode_kinds": "kinds",
}


def _transition_contract_set(net: Net, setting: ev.TransitionContractSet) -> None:
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


def _transition_retired(net: Net, retired: ev.TransitionRetired) -> None:
    net.put_transition(
        replace(
            net.transitions[retired.transition_id],
            state=TransitionState.RETIRED,
            reason=retired.reason,
            changed_revision=net.revision + 1,
        )
    )


def _transition_superseded(net: Net, superseded: ev.TransitionSuperseded) -> None:
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


def _transition_refined(net: Net, refined: ev.TransitionRefined) -> None:
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


# --- firing -----------------------------------------------------------------------------------


def _transition_activated(net: Net, activated: ev.TransitionActivated) -> None:
    """A shell holds no token of its own: `token.moved` takes it to the entry place."""
    step = net.transitions[activated.transition_id]
    net.firings += 1
    net.put_transition(
        replace(
            step,
            state=TransitionState.ACTIVE,
            firing_id=activated.firing_id,
            firings=step.firings + 1,
            changed_revision=net.revision + 1,
        )
    )
    if step.refinement is None:
        token = net.tokens[activated.token_id]
        net.put_token(replace(token, reserved_by=step.transition_id))


def _transition_fired(net: Net, fired: ev.TransitionFired) -> None:
    step = _end_firing(net, fired, TransitionState.COMPLETED)
    _claim(net, step.success, fired.firing_id)
    _end_locks(net, lambda lock: lock.target_id == step.transition_id)


def _transition_failed(net: Net, failed: ev.TransitionFailed) -> None:
    step = _end_firing(net, failed, TransitionState.FAILED)
    _claim(net, step.failure, failed.firing_id)


def _end_firing(
    net: Net, ended: ev.TransitionFired | ev.TransitionFailed, state: TransitionState
) -> Transition:
    step = net.transitions[ended.transition_id]
    net.put_transition(
        replace(
            step,
            state=state,
            evidence_ids=_merged(step.evidence_ids, ended.evidence_ids),
            changed_revision=net.revision + 1,
        )
    )
    token = net.tokens[ended.token_id]
    if token.reserved_by is not None:
        net.put_token(replace(token, reserved_by=None))
    return step


def _claim(net: Net, place_id: str | None, firing_id: str) -> None:
    if place_id is not None:
        net.put_place(replace(net.places[place_id], claimed_by=firing_id))


def _token_moved(net: Net, moved: ev.TokenMoved) -> None:
    net.put_token(replace(net.tokens[moved.token_id], place_id=moved.to_place_id))


# What each payload means, by logic version. A later version starts as `{**_V1, …}`.
_V1: Final[dict[type[Any], Callable[[Net, Any], None]]] = {
    ev.SessionStarted: _session_started,
    ev.RootIntentSet: _root_intent_set,
    ev.EvidenceAttached: _evidence_attached,
    ev.PathDeclared: _path_declared,
    ev.HumanCorrected: _human_corrected,
    ev.PlaceConfirmed: _place_confirmed,
    ev.TransitionProposed: _transition_proposed,
    ev.ArcConnected: _arc_connected,
    ev.PlaceStateSet: _place_state_set,
    ev.TransitionContractSet: _transition_contract_set,
    ev.TransitionActivated: _transition_activated,
    ev.TransitionFired: _transition_fired,
    ev.TransitionFailed: _transition_failed,
    ev.TokenMoved: _token_moved,
    ev.TransitionRetired: _transition_retired,
    ev.TransitionSuperseded: _transition_superseded,
    ev.TransitionRefined: _transition_refined,
    ev.GateMarked: _gate_marked,
    ev.PatchCommitted: _patch_committed,
}
_VERSIONS: Final = {1: _V1}
FOLDS: Final = _V1  # the newest table; its keys are every payload that touches a net
