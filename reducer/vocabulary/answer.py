"""What the reconciler says back. An agent must be able to mend from it alone (seed, 返回值).

Agents get `{status, revision, …}` built from ids, enums and their own words only; observed or
observer text never appears here.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from .ids import Digest, NodeId, Revision, TokenId, Wire
from .people import Constraint


class Fault(Wire, frozen=True):
    """One reason. `path` is the JSON path in the patch, `known` the ids that do exist."""

    code: str
    path: str
    expected: str
    known: tuple[str, ...] = ()


class Where(Wire, frozen=True):
    """Where the agent stands; in every answer, so that its next patch can connect (RULES 1)."""

    token_id: TokenId
    place_id: NodeId
    active: NodeId | None = None
    enabled: tuple[NodeId, ...] = ()


class Answer(Wire, frozen=True, tag_field="status"):
    """Base: the current revision is always told."""

    revision: Revision


class Applied(Answer, frozen=True, tag="applied"):
    id_map: dict[str, str]
    event_ids: tuple[str, ...]
    snapshot_hash: Digest
    where: Where
    # transition id -> the keys of what it expects, so that evidence can name them
    evidence_keys: dict[str, tuple[str, ...]] = msgspec.field(
        default_factory=dict[str, tuple[str, ...]]
    )
    evidence_ids: tuple[str, ...] = ()  # new ones, in op order
    warnings: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


class Unchanged(Answer, frozen=True, tag="unchanged"):
    where: Where
    hints: tuple[str, ...] = ()


class ReadBack(Answer, frozen=True, tag="read"):
    """Answer to empty `ops` (RULES 13)."""

    where: Where
    evidence_ids: tuple[str, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    node_ids: tuple[str, ...] = ()


class Rejected(Answer, frozen=True, tag="rejected"):
    faults: tuple[Fault, ...]
    where: Where | None = None


class Conflict(Answer, frozen=True, tag="conflict"):
    """Stale base. `rebaseable` are indexes of ops that would still apply as they are."""

    conflicting: tuple[str, ...]
    rebaseable: tuple[int, ...]
    where: Where


class Queued(Answer, frozen=True, tag="queued"):
    """Said by the extension when the daemon did not answer in time; never by the reconciler."""


class Proposed(Answer, frozen=True, tag="proposed"):
    proposal_id: str


AnyAnswer = Applied | Unchanged | ReadBack | Rejected | Conflict | Queued | Proposed

Code = Literal[
    "malformed",
    "too_large",
    "unknown_id",
    "id_taken",
    "id_like_secret",
    "not_bipartite",
    "arity",
    "arc_exists",
    "crosses_refinement",
    "gate_state_missing",
    "gate_state_misplaced",
    "not_a_gate",
    "is_a_gate",
    "evidence_required",
    "evidence_unknown",
    "evidence_type_not_allowed",
    "evidence_key_unknown",
    "evidence_key_in_use",
    "contract_incomplete",
    "contract_empty",
    "not_enabled",
    "already_active",
    "not_active",
    "token_unknown",
    "token_reserved",
    "not_live",
    "is_active",
    "goal_exists",
    "goal_unknown",
    "refinement_invalid",
    "refinement_nested",
    "shell_not_completable",
    "shell_child_active",
    "human_constraint",
    "idempotency_conflict",
    "revision_ahead",
    "not_undoable",
    "session_unknown",
    "second_instance",
]

# One line each: what it means and how to mend it. A test asserts that every code is raised once.
CODES: Final[dict[Code, str]] = {
    "malformed": "The patch is not what the schema says; `path` names the first wrong field.",
    "too_large": "A list, text or frame is over its limit.",
    "unknown_id": "The node does not exist at this revision nor earlier in the patch.",
    "id_taken": "The id already names another node; choose a new one.",
    "id_like_secret": "The id looks like a key or token; choose a plain name.",
    "not_bipartite": "Arcs go place→transition (flow, read), transition→place (success, failure).",
    "arity": "At most one flow, success and failure arc; activation needs flow and success.",
    "arc_exists": "That arc is already there.",
    "crosses_refinement": "No arc crosses a subnet's border except a read from outside.",
    "gate_state_missing": "A Gate needs gateState: open, closed or blocked.",
    "gate_state_misplaced": "Only a Gate has a gateState.",
    "not_a_gate": "mark_gate works on Gate places only; use set_place_state.",
    "is_a_gate": "set_place_state does not work on a Gate; use mark_gate.",
    "evidence_required": "`satisfied` and `invalidated` need at least one evidence id.",
    "evidence_unknown": "No such evidence at this revision nor earlier in the patch.",
    "evidence_type_not_allowed": "This channel may not claim that evidence type.",
    "evidence_key_unknown": "`satisfies` names a key the target does not expect.",
    "evidence_key_in_use": "Evidence refers to that expected-evidence key; supersede instead.",
    "contract_incomplete": "Activation needs expectedEvidence and exitCondition.",
    "contract_empty": "set_transition_contract needs at least one field.",
    "not_enabled": "The token is elsewhere, or a read place or gate is not met.",
    "already_active": "Another transition of this agent is active; complete or fail it first.",
    "not_active": "The transition is not the one the token is reserved by.",
    "token_unknown": "No such token.",
    "token_reserved": "The token is reserved by another firing.",
    "not_live": "The transition is retired or superseded.",
    "is_active": "An active transition cannot be retired or superseded by an agent.",
    "goal_exists": "There is a goal; a new one needs replacesGoalId and reason.",
    "goal_unknown": "replacesGoalId does not name the current goal.",
    "refinement_invalid": "The subnet or its maps break a rule; `expected` says which.",
    "refinement_nested": "One refinement per shell, and none inside another.",
    "shell_not_completable": "A refined transition completes by its subnet's exit.",
    "shell_child_active": "A step inside the refined transition is still active.",
    "human_constraint": "A person decided otherwise; their constraint stands.",
    "idempotency_conflict": "The key was used for other ops.",
    "revision_ahead": "baseRevision is beyond the current revision.",
    "not_undoable": "That correction has no way back; make another one in its place.",
    "session_unknown": "No such session.",
    "second_instance": "Another live instance holds this session; this one is observed only.",
}
