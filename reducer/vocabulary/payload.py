"""Payloads: what each kind of event says. The envelope and the tables are in `event.py`.

New fields carry defaults; nothing is removed. A payload holds all that a fold needs: no event
sends its reader to look something up elsewhere.
"""

from __future__ import annotations

from .annotation import AnnotateEpisode
from .episode import Episode, Resume, Timing
from .evidence import Evidence
from .ids import (
    Confidence,
    Count,
    Digest,
    Label,
    NodeId,
    OpaqueId,
    Position,
    Revision,
    Text,
    TimeMs,
    TokenId,
    Wire,
)
from .observation import NoteCode, PlanItem, SessionInfo, SettleReason
from .patch import (
    CreatePlace,
    CreateTransition,
    EvidenceIds,
    PlaceMap,
    SetTransitionContract,
)
from .people import HumanIntentPatch, ReceiptStage
from .terms import AlignmentStatus, ArcKind, GateState, Level, PlaceState

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
    """`position` is the last observation before it: only acts after it can obey or violate."""

    correction_id: OpaqueId
    stage: ReceiptStage
    at: TimeMs
    because: Label | None = None
    position: Position = 0


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
    """`contract.expected_evidence` holds keyed entries only; kinds set to none are inferred."""

    contract: SetTransitionContract
    contract_version: Count
    op_index: Count
    kinds_inferred: bool = False


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
