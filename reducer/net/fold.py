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

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from ..vocabulary import event as ev
from ..vocabulary.codec import canonical
from ..vocabulary.ids import MAIN_AGENT_ID
from ..vocabulary.people import CorrectionType
from . import fold_firing as firing
from . import fold_structure as structure
from .digest import GOAL_PART
from .state import Goal, Lock, Net, Token, merged, start_place

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
    net.tree.dirty.add(GOAL_PART)


def _evidence_attached(net: Net, attached: ev.EvidenceAttached) -> None:
    evidence = attached.evidence
    net.evidence[evidence.evidence_id] = evidence
    net.evidence_chain.update(canonical(evidence) + b"\n")
    _cite(net, evidence.target_id, (evidence.evidence_id,))


def _cite(net: Net, node_id: str, evidence_ids: tuple[str, ...]) -> None:
    """Evidence has its own digest, so the tree stays clean."""
    place = net.places.get(node_id)
    if place is not None:
        cited = merged(place.evidence_ids, evidence_ids)
        net.places[node_id] = replace(place, evidence_ids=cited)
    else:
        step = net.transitions[node_id]
        cited = merged(step.evidence_ids, evidence_ids)
        net.transitions[node_id] = replace(step, evidence_ids=cited)


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
        net.end_locks(lambda lock: lock.holds_gate(correction.target_id))


def _patch_committed(net: Net, _: ev.PatchCommitted) -> None:
    net.revision += 1
    lock = net.locks.get(net.correction_id or "")
    if lock is not None:
        net.locks[lock.correction_id] = replace(lock, revision=net.revision)
    net.correction_id = None


# What each payload means, by logic version. A later version starts as `{**_V1, …}`.
_V1: Final[dict[type[Any], Callable[[Net, Any], None]]] = {
    ev.SessionStarted: _session_started,
    ev.RootIntentSet: _root_intent_set,
    ev.EvidenceAttached: _evidence_attached,
    ev.PathDeclared: _path_declared,
    ev.HumanCorrected: _human_corrected,
    ev.PlaceConfirmed: structure.place_confirmed,
    ev.TransitionProposed: structure.transition_proposed,
    ev.ArcConnected: structure.arc_connected,
    ev.PlaceStateSet: structure.place_state_set,
    ev.TransitionContractSet: structure.transition_contract_set,
    ev.TransitionActivated: firing.transition_activated,
    ev.TransitionFired: firing.transition_fired,
    ev.TransitionFailed: firing.transition_failed,
    ev.TokenMoved: firing.token_moved,
    ev.TransitionRetired: structure.transition_retired,
    ev.TransitionSuperseded: structure.transition_superseded,
    ev.TransitionRefined: structure.transition_refined,
    ev.GateMarked: structure.gate_marked,
    ev.PatchCommitted: _patch_committed,
}
_VERSIONS: Final = {1: _V1}
FOLDS: Final = _V1  # the newest table; its keys are every payload that touches a net
