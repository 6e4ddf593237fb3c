"""GraphPatch and its thirteen operations: what an agent may declare. Seed, "Agent Path Protocol".

This module is the one source of the tool's JSON Schema (`wayfinder schema patch`). It says what
a well-formed patch is; whether it may be applied to a net is `net/decide.py`'s question.

    {"schemaVersion":1,"patchId":"…","baseRevision":17,"idempotencyKey":"…",
     "actor":{"type":"agent","agentId":"main"},"ops":[{"op":"create_place", …}, …]}

Empty `ops` reads the net back (RULES 13).
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from .evidence import EvidenceDraft
from .ids import (
    LIST_ITEMS_MAX,
    MAIN_AGENT_ID,
    MAIN_TOKEN_ID,
    OPS_MAX,
    AgentId,
    EvidenceId,
    Key,
    Label,
    NodeId,
    OpaqueId,
    Revision,
    Selector,
    Text,
    TokenId,
    Wire,
)
from .terms import ActorType, ArcKind, EpisodeKind, GateState, PlaceState, PlaceType, TransitionType

# `kind:name`, optionally with the outcome that counts: `test:auth/refresh=pass` (RULES 10).
Selectors = Annotated[tuple[Selector, ...], Meta(max_length=LIST_ITEMS_MAX)]
Texts = Annotated[tuple[Text, ...], Meta(max_length=LIST_ITEMS_MAX)]
EpisodeKinds = Annotated[tuple[EpisodeKind, ...], Meta(max_length=LIST_ITEMS_MAX)]
EvidenceIds = Annotated[tuple[EvidenceId, ...], Meta(max_length=LIST_ITEMS_MAX)]


class ExpectedEvidence(Wire, frozen=True):
    """A stated proof with a key that evidence can name in `satisfies`."""

    key: Key
    text: Text


# A plain string gets the next free key `ee1`, `ee2`, … in order, returned in the answer.
ExpectedEvidenceList = Annotated[
    tuple[Text | ExpectedEvidence, ...], Meta(max_length=LIST_ITEMS_MAX)
]


class Actor(Wire, frozen=True):
    """Who. Filled in from the channel; a patch that names another actor is corrected."""

    type: ActorType
    id: AgentId = MAIN_AGENT_ID


class PatchActor(Wire, frozen=True):
    """The actor as the specification's patch spells it."""

    type: ActorType = ActorType.AGENT
    agent_id: AgentId = MAIN_AGENT_ID


class Op(Wire, frozen=True, tag_field="op"):
    """One operation. The tag is its wire name; `net/decide.py` has one rule per class."""


class CreatePlace(Op, frozen=True, tag="create_place"):
    """A condition. A Gate needs `gateState`; a later Goal `replacesGoalId` and `reason`."""

    place_id: NodeId
    type: PlaceType
    label: Label
    gate_state: GateState | None = None
    evidence_selectors: Selectors = ()
    replaces_goal_id: NodeId | None = None
    reason: Text | None = None


class CreateTransition(Op, frozen=True, tag="create_transition"):
    """An intended action. A far one needs only type and intent; absent fields are Unknown."""

    transition_id: NodeId
    type: TransitionType
    intent: Label
    why_now: Text | None = None
    action: Text | None = None
    expected_evidence: ExpectedEvidenceList = ()
    evidence_selectors: Selectors = ()
    allowed_episode_kinds: EpisodeKinds = ()
    exit_condition: Text | None = None
    failure_condition: Text | None = None
    owner: Label | None = None
    constraints: Texts = ()
    assumptions: Texts = ()
    refine_when: Text | None = None
    unknowns: Texts = ()
    hierarchical: bool = False


class Connect(Op, frozen=True, tag="connect"):
    """An arc. Place to transition: flow, read. Transition to place: success, failure."""

    from_id: NodeId
    to_id: NodeId
    arc: ArcKind


class SetPlaceState(Op, frozen=True, tag="set_place_state"):
    """What is believed of a condition, with its evidence. Not for Gates."""

    place_id: NodeId
    state: PlaceState
    evidence_ids: EvidenceIds


class SetTransitionContract(Op, frozen=True, tag="set_transition_contract"):
    """Replaces the fields given, keeps the others; each application is a new contract version."""

    transition_id: NodeId
    intent: Label | UnsetType = UNSET
    why_now: Text | UnsetType = UNSET
    action: Text | UnsetType = UNSET
    expected_evidence: ExpectedEvidenceList | UnsetType = UNSET
    evidence_selectors: Selectors | UnsetType = UNSET
    allowed_episode_kinds: EpisodeKinds | UnsetType = UNSET
    exit_condition: Text | UnsetType = UNSET
    failure_condition: Text | UnsetType = UNSET
    owner: Label | UnsetType = UNSET
    constraints: Texts | UnsetType = UNSET
    assumptions: Texts | UnsetType = UNSET
    refine_when: Text | UnsetType = UNSET
    unknowns: Texts | UnsetType = UNSET
    hierarchical: bool | UnsetType = UNSET


class ActivateTransition(Op, frozen=True, tag="activate_transition"):
    """Starts a step: reserves the token on its flow input."""

    transition_id: NodeId
    token_id: TokenId = MAIN_TOKEN_ID


class CompleteTransition(Op, frozen=True, tag="complete_transition"):
    """Ends the active step well: the token moves to the success place."""

    transition_id: NodeId
    token_id: TokenId = MAIN_TOKEN_ID
    evidence_ids: EvidenceIds = ()


class FailTransition(Op, frozen=True, tag="fail_transition"):
    """Ends the active step badly: to the failure place, else back to its input."""

    transition_id: NodeId
    token_id: TokenId = MAIN_TOKEN_ID
    evidence_ids: EvidenceIds = ()


class RetireTransition(Op, frozen=True, tag="retire_transition"):
    """This step, not active, will not be done."""

    transition_id: NodeId
    reason: Text


class SupersedeTransition(Op, frozen=True, tag="supersede_transition"):
    """Another step takes the place of this one. No arc is inherited."""

    old_transition_id: NodeId
    new_transition_id: NodeId
    reason: Text


class Subnet(Wire, frozen=True):
    """The inside of a refined shell: fields as in the ops, one id namespace with the net."""

    places: Annotated[tuple[CreatePlace, ...], Meta(max_length=OPS_MAX)] = ()
    transitions: Annotated[tuple[CreateTransition, ...], Meta(max_length=OPS_MAX)] = ()
    arcs: Annotated[tuple[Connect, ...], Meta(max_length=4 * OPS_MAX)] = ()


# {parent's place: subnet's place}; each map holds exactly one pair in Phase 1.
PlaceMap = Annotated[dict[NodeId, NodeId], Meta(min_length=1, max_length=1)]


class RefineTransition(Op, frozen=True, tag="refine_transition"):
    """Gives a step its inside, before activation. It ends when the token exits the inside."""

    transition_id: NodeId
    subnet: Subnet
    entry_map: PlaceMap
    success_exit_map: PlaceMap
    failure_exit_map: PlaceMap | None = None


class AttachEvidence(Op, frozen=True, tag="attach_evidence"):
    """Puts a piece of evidence on a node; `satisfies` names keys the step expects."""

    target_id: NodeId
    evidence: EvidenceDraft


class MarkGate(Op, frozen=True, tag="mark_gate"):
    """Opens, closes or blocks a Gate."""

    place_id: NodeId
    gate_state: GateState
    evidence_ids: EvidenceIds = ()


PatchOp = (
    CreatePlace
    | CreateTransition
    | Connect
    | SetPlaceState
    | SetTransitionContract
    | ActivateTransition
    | CompleteTransition
    | FailTransition
    | RetireTransition
    | SupersedeTransition
    | RefineTransition
    | AttachEvidence
    | MarkGate
)


class GraphPatch(Wire, frozen=True):
    """One atomic, revisioned change. `position` is stamped by the adapter, never by the agent."""

    patch_id: OpaqueId
    base_revision: Revision
    idempotency_key: OpaqueId
    ops: Annotated[tuple[PatchOp, ...], Meta(max_length=OPS_MAX)]
    schema_version: Literal[1] = 1
    actor: PatchActor = PatchActor()
