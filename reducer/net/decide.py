"""A patch against a net: the events it becomes, or the reasons it does not. Nothing is applied.

Rules for editors of this file:
* Whole or nothing: one fault and no event comes out. All faults that stand on their own feet are
  told together; an op that leans on a faulty one is not judged.
* The caller's net never changes and its size never matters: ops run on an overlay.
* The channel says who speaks. Idempotency, storage and the clock belong to the reconciler.

    base == revision               judged
    base <  revision               only evidence: judged (it rebases itself); a person's patch:
                                   judged unless what it names changed since; else Conflict
    base >  revision               rejected, revision_ahead
    no ops                         ReadBack
    nothing would change           Unchanged
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct

from ..vocabulary import event as ev
from ..vocabulary import patch as op_
from ..vocabulary.answer import Applied, Conflict, Fault, ReadBack, Rejected, Unchanged
from ..vocabulary.codec import digest
from ..vocabulary.people import Constraint
from ..vocabulary.terms import Channel
from .digest import net_digest
from .firing import (
    activate_transition,
    complete_transition,
    fail_transition,
    supersede_transition,
)
from .fold import fold
from .locks import refuse_against_locks
from .patching import KNOWN_MAX, Draft, Refused, similar, where
from .refine import refine_transition
from .state import Net
from .structure import (
    attach_evidence,
    connect,
    create_place,
    create_transition,
    mark_gate,
    retire_transition,
    set_place_state,
    set_transition_contract,
)

OPS: Final[dict[type[op_.Op], Callable[[Draft, Any, str], None]]] = {
    op_.CreatePlace: create_place,
    op_.CreateTransition: create_transition,
    op_.Connect: connect,
    op_.SetPlaceState: set_place_state,
    op_.SetTransitionContract: set_transition_contract,
    op_.ActivateTransition: activate_transition,
    op_.CompleteTransition: complete_transition,
    op_.FailTransition: fail_transition,
    op_.RetireTransition: retire_transition,
    op_.SupersedeTransition: supersede_transition,
    op_.RefineTransition: refine_transition,
    op_.AttachEvidence: attach_evidence,
    op_.MarkGate: mark_gate,
}
FAULTS_MAX: Final = 16


class Committed(Struct, frozen=True):
    """One batch, opener to `patch.committed`. `answer` lacks only the event ids of `seal`."""

    payloads: tuple[ev.Payload, ...]
    answer: Applied


Decision = Committed | Unchanged | ReadBack | Rejected | Conflict


def decide(
    net: Net,
    patch: op_.GraphPatch,
    *,
    channel: Channel,
    position: int,
    now_ms: int,
    opener: ev.HumanCorrected | None = None,
) -> Decision:
    """Never raises for anything a patch may say. `opener` is a person's correction, if it is one.

    `position`: where the call stands in the agent's stream; `now_ms`: stamped on new evidence.
    """
    if not patch.ops:
        return read_back(net)
    if patch.base_revision > net.revision:
        ahead = f"a baseRevision of at most {net.revision}"
        fault = Fault("revision_ahead", "$.baseRevision", ahead, (str(net.revision),))
        return Rejected(net.revision, (fault,), where(net))
    if patch.base_revision < net.revision:
        conflict = _stale(net, patch, channel, now_ms)
        if conflict is not None:
            return conflict
    draft = _draft(net, patch, channel, now_ms)
    faults = tuple(fault for _, found in _try(draft, patch.ops) for fault in found)
    if faults:
        return Rejected(net.revision, faults[:FAULTS_MAX], where(net))
    if not draft.payloads:
        return Unchanged(net.revision, where(net))
    return _committed(draft, patch, position, opener)


def read_back(net: Net) -> ReadBack:
    """What an agent needs to go on from here: its place, ids, evidence, what people decided."""
    newest = [*net.places.values(), *net.transitions.values()]
    newest.sort(key=lambda node: -node.born)
    return ReadBack(
        revision=net.revision,
        where=where(net),
        evidence_ids=similar("", net.evidence)[:KNOWN_MAX],
        constraints=constraints(net),
        node_ids=tuple(
            getattr(node, "place_id", None) or getattr(node, "transition_id", "")
            for node in newest[: 2 * KNOWN_MAX]
        ),
    )


def constraints(net: Net) -> tuple[Constraint, ...]:
    """A person's standing words, oldest first."""
    return tuple(
        Constraint(lock.correction_id, lock.type, lock.revision, lock.text, lock.target_id)
        for lock in net.locks.values()
    )


def apply(
    net: Net,
    patch: op_.GraphPatch,
    *,
    channel: Channel = Channel.DECLARED_PATH,
    position: int = 0,
    now_ms: int = 0,
    opener: ev.HumanCorrected | None = None,
) -> Decision:
    """Decides and folds in one go: what the reconciler does around its COMMIT."""
    decision = decide(net, patch, channel=channel, position=position, now_ms=now_ms, opener=opener)
    if isinstance(decision, Committed):
        for payload in decision.payloads:
            fold(net, payload)
    return decision


# --- trying ops -------------------------------------------------------------------------------


def _draft(net: Net, patch: op_.GraphPatch, channel: Channel, now_ms: int) -> Draft:
    net_digest(net)  # a clean tree, so that the overlay hashes only what it changes
    over = net.overlay()
    over.correction_id = None  # what the batch's opener will say, once it is folded
    return Draft(over, channel=channel, source=patch.patch_id, now_ms=now_ms)


def _try(
    draft: Draft, ops: tuple[op_.PatchOp, ...], doubtful: frozenset[str] = frozenset()
) -> Iterator[tuple[int, tuple[Fault, ...]]]:
    """Per judged op its index and faults. `doubtful` ids spread: who leans on them is skipped."""
    leaning = set(doubtful)
    for index, op in enumerate(ops):
        named = set(names(op))
        if named & leaning:
            leaning |= named
            continue
        draft.op_index = index
        path = f"$.ops[{index}]"
        try:
            refuse_against_locks(draft, op, path)
            OPS[type(op)](draft, op, path)
        except Refused as refused:
            leaning |= named
            yield index, refused.faults
        else:
            yield index, ()


# Fields of an op that name something: a node, a token, a piece of evidence.
_ID_FIELDS: Final = (
    "place_id",
    "transition_id",
    "from_id",
    "to_id",
    "old_transition_id",
    "new_transition_id",
    "target_id",
    "token_id",
    "replaces_goal_id",
)


def names(op: op_.Op) -> Iterator[str]:
    """Every id an op mentions, also in maps and inside a subnet."""
    for field in _ID_FIELDS:
        name = getattr(op, field, None)
        if name is not None:
            yield name
    yield from getattr(op, "evidence_ids", ())
    if isinstance(op, op_.AttachEvidence) and op.evidence.evidence_id is not None:
        yield op.evidence.evidence_id
    if isinstance(op, op_.RefineTransition):
        for pair in (op.entry_map, op.success_exit_map, op.failure_exit_map or {}):
            yield from (*pair, *pair.values())
        for inner in (*op.subnet.places, *op.subnet.transitions, *op.subnet.arcs):
            yield from names(inner)


def _stale(net: Net, patch: op_.GraphPatch, channel: Channel, now_ms: int) -> Conflict | None:
    """None if the patch may be judged at today's revision all the same."""
    if all(isinstance(op, op_.AttachEvidence) for op in patch.ops):
        return None
    conflicting = tuple(
        name
        for name in dict.fromkeys(name for op in patch.ops for name in names(op))
        if _changed_since(net, name, patch.base_revision)
    )
    if channel is Channel.HUMAN and not conflicting:
        return None
    tried = _try(_draft(net, patch, channel, now_ms), patch.ops, frozenset(conflicting))
    rebaseable = tuple(index for index, faults in tried if not faults)
    return Conflict(net.revision, conflicting, rebaseable, where(net))


def _changed_since(net: Net, name: str, revision: int) -> bool:
    node = net.places.get(name) or net.transitions.get(name)
    return node is not None and node.changed_revision > revision


def _committed(
    draft: Draft, patch: op_.GraphPatch, position: int, opener: ev.HumanCorrected | None
) -> Committed:
    first: ev.Payload = opener or ev.PathDeclared(
        patch_id=patch.patch_id,
        idempotency_key=patch.idempotency_key,
        ops_digest=digest(patch.ops),
        op_count=len(patch.ops),
        position=position,
    )
    snapshot = net_digest(draft.net)
    closer = ev.PatchCommitted(patch.patch_id, len(draft.payloads) + 2, snapshot)
    answer = Applied(
        revision=draft.net.revision + 1,
        id_map={name: name for name in draft.new_ids},
        event_ids=(),
        snapshot_hash=snapshot,
        where=where(draft.net),
        evidence_keys=draft.evidence_keys,
        evidence_ids=tuple(draft.evidence_ids),
        warnings=tuple(draft.warnings),
    )
    return Committed((first, *draft.payloads, closer), answer)
