"""Events: what is true, in order. The envelope is the specification's, field for field.

    {"schemaVersion":1,"eventId":"evt_…","sessionSeq":184,"ts":"2026-07-14T15:08:11.210Z",
     "sessionId":"…","actor":{"type":"agent","id":"main"},"source":"declared-path",
     "kind":"transition.activated","causationId":"patch_…","correlationId":"turn_42",
     "graphRevisionBefore":17,"graphRevisionAfter":18,"payload":{},
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

from .ids import (
    Confidence,
    HmacRef,
    OpaqueId,
    Revision,
    SessionId,
    SessionSeq,
    Wire,
)
from .patch import (
    Actor,
)
from .payload import (
    AnchorRequested,
    ArcConnected,
    ConstraintReceipted,
    EpisodeAnnotated,
    EpisodeCompleted,
    EvidenceAttached,
    GateMarked,
    HumanCorrected,
    PatchCommitted,
    PathDeclared,
    PathDiverged,
    PlaceConfirmed,
    PlaceStateSet,
    PlanPublished,
    PromptReceived,
    RootIntentSet,
    SessionNoted,
    SessionSettled,
    SessionStarted,
    StreamAdvanced,
    TokenMoved,
    TransitionActivated,
    TransitionContractSet,
    TransitionFailed,
    TransitionFired,
    TransitionProposed,
    TransitionRefined,
    TransitionRetired,
    TransitionSuperseded,
    ViewFocused,
)
from .terms import Channel, Level


class Provenance(Wire, frozen=True):
    level: Level
    confidence: Confidence = 1.0
    redacted: bool = True
    raw_ref_hash: HmacRef | None = None


LOOKED: Final = "view.focused"  # a person looked: no activity of the session itself


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
    LOOKED: ViewFocused,
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

# Every kind an op may write; a test holds decide to it. A step that ends on its shell's exit ends
# the shell in the same batch, either way.
EVENTS_OF_OP: Final[dict[str, tuple[str, ...]]] = {
    "create_place": ("place.confirmed", "root_intent.set"),
    "create_transition": ("transition.proposed",),
    "connect": ("arc.connected",),
    "set_place_state": ("place.state_set",),
    "set_transition_contract": ("transition.contract_set",),
    "activate_transition": ("transition.activated", "token.moved"),
    "complete_transition": ("transition.fired", "token.moved", "transition.failed"),
    "fail_transition": ("transition.failed", "token.moved", "transition.fired"),
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
