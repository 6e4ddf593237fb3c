"""What a person may say, and what becomes of it. Seed, "人类纠正"; RULES 38–40.

A correction is one line and one type. It is stored verbatim (redacted), never deletes history,
and is receipted: sent → in the turn → acknowledged by a patch → obeyed or violated.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from .ids import NodeId, OpaqueId, Revision, SessionId, Text, Wire
from .terms import GateState


class CorrectionType(StrEnum):
    TEXT = "text"  # free words, delivered verbatim; changes no net
    GOAL = "goal"  # a new North Star
    RETIRE = "retire"  # this branch no longer matters
    GATE = "gate"  # from here on a person decides
    OPEN_GATE = "open_gate"
    REDESCRIBE = "redescribe"  # the words of a step are wrong
    ONLY = "only"  # work on this step alone for now
    WRONG_STEP = "wrong_step"  # this is not what should be done now
    REASSOCIATE = "reassociate"  # this episode belongs to that step
    SUPERSEDE = "supersede"  # force an active step out of the way
    UNDO = "undo"  # take back an earlier correction
    ACCEPT = "accept"  # accept a proposal
    REJECT = "reject"


class HumanIntentPatch(Wire, frozen=True):
    """`base_revision` is what the person was looking at; it rebases unless its target changed."""

    correction_id: OpaqueId
    session_id: SessionId
    type: CorrectionType
    text: Text | None = None
    target_id: OpaqueId | None = None
    other_id: NodeId | None = None
    gate_state: GateState | None = None
    base_revision: Revision | None = None
    confirmed: bool = False
    schema_version: Literal[1] = 1


class ReceiptStage(StrEnum):
    SENT = "sent"  # handed to the agent's extension
    IN_TURN = "in_turn"  # stood in a model request
    ACKNOWLEDGED = "acknowledged"  # a patch after it took it up
    OBEYED = "obeyed"
    VIOLATED = "violated"
    LAPSED = "lapsed"  # undone, or its target completed, before the agent acted on it


class Constraint(Wire, frozen=True):
    """What goes to the agent: only the person's own words and ids, never observed text."""

    correction_id: OpaqueId
    type: CorrectionType
    revision: Revision
    text: Text | None = None
    target_id: OpaqueId | None = None
