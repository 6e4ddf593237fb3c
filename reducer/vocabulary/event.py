"""Events: what is true, in order. The envelope is the specification's, field for field.

    {"schemaVersion":1,"eventId":"evt_…","sessionSeq":184,"ts":"2026-07-14T15:08:11.210Z",
     "sessionId":"…","actor":{"type":"agent","id":"main"},"source":"declared-path",
     "kind":"transition.activated","causationId":"patch_…","correlationId":"turn_42",
     "graphRevisionBefore":17,"graphRevisionAfter":18,"payload":{…},
     "provenance":{"level":"declared","confidence":1,"redacted":true,"rawRefHash":"sha256:…"}}

Order and batches:
* `sessionSeq` is 1, 2, 3 … per session without gaps; `ts` is for people only.
* An event with before == after stands alone. Events with after == before + 1 form a batch, which
  `patch.committed` closes; a fold applies whole batches only.
* `PAYLOADS` is the one table kind → payload; `EVENTS_OF_OP` the one table op → kinds (RULES 16).
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Raw

from .annotation import AnnotateEpisode
from .episode import Episode, Resume, Timing
from .evidence import Evidence
from .ids import (
    Confidence,
    Count,
    Digest,
    HmacRef,
    Label,
    NodeId,
    OpaqueId,
    Position,
    Revision,
    SessionId,
    SessionSeq,
    Text,
    TimeMs,
    TokenId,
    Wire,
)
from .observation import NoteCode, PlanItem, SessionInfo, SettleReason
from .patch import (
    Actor,
    CreatePlace,
    CreateTransition,
    EvidenceIds,
    PlaceMap,
    SetTransitionContract,
)
from .people import HumanIntentPatch, ReceiptStage
from .terms import AlignmentStatus, ArcKind, Channel, GateState, Level, PlaceState


class Provenance(Wire, frozen=True):
    level: Level
    confidence: Confidence = 1.0
    redacted: bool = True
    raw_ref_hash: HmacRef | None = None


class Envelope(Wire, frozen=True, omit_defaults=False):
    """One committed event. `payload` stays raw until its kind's struct is wanted."""

    schema_version: Literal[1]
    event_id: OpaqueId
    session_seq: SessionSeq
    ts: str
    session_id: SessionId
    actor: Actor
    source: Channel
    kind: str
    causation_id: OpaqueId
    correlation_id: OpaqueId | None
    graph_revision_before: Revision
    graph_revision_after: Revision
    payload: Raw
    provenance: Provenance


# --- standing alone ---------------------------------------------------------------------------


class SessionStarted(Wire, frozen=True):
    """Creates `pl_start` and `tok_main` at revision 0. `logic_version` pins decide and fold."""

    info: SessionInfo
    logic_version: Count
    start_place_id: NodeId
    token_id: TokenId


class RootIntentSet(Wire, frozen=True):
    """The North Star with its source: human, else the agent's first Goal, else inferred."""

    text: Text
    level: Level
    place_id: NodeId | None = None
    replaces_place_id: NodeId | None = None
    reason: Text | None = None


class PromptReceived(Wire, frozen=True):
    line: Label
    position: Position
    machine: bool = False


class EpisodeCompleted(Wire, frozen=True):
    """An episode with the reconciler's stamp (RULES 21): the transition active at its start."""

    episode: Episode
    active_transition_id: NodeId | None
    firing_id: NodeId | None
    path_revision: Revision
    timing: Timing | None = None


class PlanPublished(Wire, frozen=True):
    """The `declared-coarse` lane as it now stands (RULES 24)."""

    items: tuple[PlanItem, ...]
    position: Position


class SessionSettled(Wire, frozen=True):
    reason: SettleReason
    position: Position
    at: TimeMs


class SessionNoted(Wire, frozen=True):
    code: NoteCode
    position: Position


class StreamAdvanced(Wire, frozen=True):
    """How far the observation stream is committed, and what the next episode needs to know."""

    to_position: Position
    resume: Resume


class EvidenceAttached(Wire, frozen=True):
    """By an agent inside a batch (`op_index`), by the system or a person outside one."""

    evidence: Evidence
    op_index: Count = 0


class EpisodeAnnotated(Wire, frozen=True):
    episode_id: OpaqueId
    annotation: AnnotateEpisode
    confidence: Confidence
    model_version: Label


class ConstraintReceipted(Wire, frozen=True):
    correction_id: OpaqueId
    stage: ReceiptStage
    at: TimeMs
    because: Label | None = None


class AnchorRequested(Wire, frozen=True):
    """The agent is asked once, for one cause, to say where it stands."""

    cause_id: OpaqueId
    status: AlignmentStatus


class PathDiverged(Wire, frozen=True):
    """A marker that `--verify` compares with the fold; never an input (RULES 16)."""

    transition_id: NodeId | None
    clause: Count
    status: AlignmentStatus


class ViewFocused(Wire, frozen=True):
    """What one viewer pins, folds and has seen (RULES 37)."""

    viewer_id: OpaqueId
    pinned: tuple[NodeId, ...] = ()
    folded: tuple[NodeId, ...] = ()
    seen_up_to: Count = 0


# --- batches: openers, one per op, closer -----------------------------------------------------


class PathDeclared(Wire, frozen=True):
    """Opens an agent's batch. `position` orders it among the observations (0 = no stream)."""

    patch_id: OpaqueId
    idempotency_key: OpaqueId
    ops_digest: Digest
    op_count: Count
    position: Position


class HumanCorrected(Wire, frozen=True):
    """A person's correction. Opens a batch if it changes the net, else stands alone."""

    correction: HumanIntentPatch
    position: Position


class PlaceConfirmed(Wire, frozen=True):
    place: CreatePlace
    op_index: Count


class TransitionProposed(Wire, frozen=True):
    """`transition.expected_evidence` holds keyed entries only; kinds undeclared are inferred."""

    transition: CreateTransition
    op_index: Count
    kinds_inferred: bool = False


class ArcConnected(Wire, frozen=True):
    from_id: NodeId
    to_id: NodeId
    arc: ArcKind
    op_index: Count


class PlaceStateSet(Wire, frozen=True):
    place_id: NodeId
    state: PlaceState
    evidence_ids: EvidenceIds
    op_index: Count


class TransitionContractSet(Wire, frozen=True):
    contract: SetTransitionContract
    contract_version: Count
    op_index: Count


class TransitionActivated(Wire, frozen=True):
    transition_id: NodeId
    token_id: TokenId
    firing_id: NodeId
    op_index: Count


class TransitionFired(Wire, frozen=True):
    transition_id: NodeId
    token_id: TokenId
    firing_id: NodeId
    evidence_ids: EvidenceIds
    op_index: Count


class TransitionFailed(Wire, frozen=True):
    transition_id: NodeId
    token_id: TokenId
    firing_id: NodeId
    evidence_ids: EvidenceIds
    op_index: Count


class TokenMoved(Wire, frozen=True):
    token_id: TokenId
    from_place_id: NodeId
    to_place_id: NodeId
    op_index: Count


class TransitionRetired(Wire, frozen=True):
    transition_id: NodeId
    reason: Text
    op_index: Count


class TransitionSuperseded(Wire, frozen=True):
    """`released_token_id` only when a person forced an active one out of the way."""

    old_transition_id: NodeId
    new_transition_id: NodeId
    reason: Text
    op_index: Count
    released_token_id: TokenId | None = None


class TransitionRefined(Wire, frozen=True):
    """The subnet's nodes and arcs come as their own events before this one, in the same batch."""

    transition_id: NodeId
    place_ids: tuple[NodeId, ...]
    transition_ids: tuple[NodeId, ...]
    entry_map: PlaceMap
    success_exit_map: PlaceMap
    failure_exit_map: PlaceMap | None
    op_index: Count


class GateMarked(Wire, frozen=True):
    """In a batch for agents and people; alone when a declared selector met a fact (RULES 23)."""

    place_id: NodeId
    gate_state: GateState
    evidence_ids: EvidenceIds
    op_index: Count


class PatchCommitted(Wire, frozen=True):
    """Closes a batch; `net_digest` is what a refold must arrive at."""

    patch_id: OpaqueId
    event_count: Count
    net_digest: Digest


Payload = (
    SessionStarted
    | RootIntentSet
    | PromptReceived
    | EpisodeCompleted
    | PlanPublished
    | SessionSettled
    | SessionNoted
    | StreamAdvanced
    | EvidenceAttached
    | EpisodeAnnotated
    | ConstraintReceipted
    | AnchorRequested
    | PathDiverged
    | ViewFocused
    | PathDeclared
    | HumanCorrected
    | PlaceConfirmed
    | TransitionProposed
    | ArcConnected
    | PlaceStateSet
    | TransitionContractSet
    | TransitionActivated
    | TransitionFired
    | TransitionFailed
    | TokenMoved
    | TransitionRetired
    | TransitionSuperseded
    | TransitionRefined
    | GateMarked
    | PatchCommitted
)

PAYLOADS: Final[dict[str, type[Payload]]] = {
    "session.started": SessionStarted,
    "root_intent.set": RootIntentSet,
    "prompt.received": PromptReceived,
    "episode.completed": EpisodeCompleted,
    "plan.published": PlanPublished,
    "session.settled": SessionSettled,
    "session.noted": SessionNoted,
    "stream.advanced": StreamAdvanced,
    "evidence.attached": EvidenceAttached,
    "episode.annotated": EpisodeAnnotated,
    "constraint.receipted": ConstraintReceipted,
    "anchor.requested": AnchorRequested,
    "path.diverged": PathDiverged,
    "view.focused": ViewFocused,
    "path.declared": PathDeclared,
    "human.corrected": HumanCorrected,
    "place.confirmed": PlaceConfirmed,
    "transition.proposed": TransitionProposed,
    "arc.connected": ArcConnected,
    "place.state_set": PlaceStateSet,
    "transition.contract_set": TransitionContractSet,
    "transition.activated": TransitionActivated,
    "transition.fired": TransitionFired,
    "transition.failed": TransitionFailed,
    "token.moved": TokenMoved,
    "transition.retired": TransitionRetired,
    "transition.superseded": TransitionSuperseded,
    "transition.refined": TransitionRefined,
    "gate.marked": GateMarked,
    "patch.committed": PatchCommitted,
}

KIND_OF: Final[dict[type[Payload], str]] = {cls: kind for kind, cls in PAYLOADS.items()}

# Every kind an op may write, in the order it writes them; a test holds decide to it.
EVENTS_OF_OP: Final[dict[str, tuple[str, ...]]] = {
    "create_place": ("place.confirmed", "root_intent.set"),
    "create_transition": ("transition.proposed",),
    "connect": ("arc.connected",),
    "set_place_state": ("place.state_set",),
    "set_transition_contract": ("transition.contract_set",),
    "activate_transition": ("transition.activated", "token.moved"),
    "complete_transition": ("transition.fired", "token.moved"),
    "fail_transition": ("transition.failed", "token.moved"),
    "retire_transition": ("transition.retired",),
    "supersede_transition": ("transition.superseded", "token.moved"),
    "refine_transition": (
        "place.confirmed",
        "transition.proposed",
        "arc.connected",
        "transition.refined",
    ),
    "attach_evidence": ("evidence.attached",),
    "mark_gate": ("gate.marked",),
}
