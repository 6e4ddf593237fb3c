"""Observations: what an adapter saw, redacted and normalised, in the agent's own order.

Two kinds of fact must never be mixed:

* **Observations** exist live *and* in the agent's session file. They carry a `position`, counted
  1, 2, 3 … per session without gaps, identical for live feed, file import and recovery. Episodes
  are built from these alone.
* **Live notes** exist only on the live channel (a tool began, a question is open). They carry no
  position, age quickly, and never reach an episode's bytes (RULES 20–22; DESIGN "Identical").

Where a patch stands in the order: before every call result of the model reply that made it.
No text but allow-listed, redacted facts may stand here; hidden reasoning never.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from .ids import Count, HmacRef, Label, OpaqueId, Position, SessionId, Text, TimeMs, Wire
from .terms import Coverage, EpisodeKind, FactKind, FactResult, Outcome


class SessionInfo(Wire, frozen=True):
    """Who is watched. Travels with every patch and segment, so that whichever is first opens it."""

    session_id: SessionId
    agent: Label  # pi, claude, codex, opencode, gemini
    agent_version: Label | None = None
    project: Label | None = None  # last folder name only, for people to tell sessions apart
    project_ref: HmacRef | None = None
    parent_session_id: SessionId | None = None
    relation: Label | None = None  # fork, subagent
    started_at: TimeMs = 0


class Fact(Wire, frozen=True):
    """One allow-listed, redacted name a selector may match: `kind:name[=pass|fail]`."""

    kind: FactKind
    name: Label
    result: FactResult | None = None


class Signature(Wire, frozen=True):
    """The shape of one trouble: `digest` over normalised text, tool class and outcome class.

    `sample` is one redacted line for people. Numbers, paths, ids, times and hex are masked before
    the digest is taken, so the same trouble keeps its digest when only such details change.
    """

    digest: HmacRef
    tool_class: EpisodeKind
    outcome: Outcome
    sample: Label


class Refusal(Wire, frozen=True):
    """A gate met: something outside the agent said no. The ledger counts equal digests as one."""

    digest: HmacRef
    quote: Label


class Observation(Wire, frozen=True, tag_field="seen"):
    """`at` is event time; `entry_id` the agent's own record id where it has one."""

    position: Position
    at: TimeMs


class Opened(Observation, frozen=True, tag="opened"):
    """The session's first fact: position 1 of every stream."""

    info: SessionInfo


class Prompted(Observation, frozen=True, tag="prompted"):
    """A person (or a schedule, `machine`) asked. One redacted line is all that is kept."""

    line: Label
    machine: bool = False
    entry_id: OpaqueId | None = None


class Called(Observation, frozen=True, tag="called"):
    """A tool call ended. `command_ref` names the failing command itself, whatever it printed."""

    call_id: OpaqueId
    tool: Label
    kind: EpisodeKind
    outcome: Outcome
    entry_id: OpaqueId | None = None
    facts: Annotated[tuple[Fact, ...], Meta(max_length=64)] = ()
    files_read: Annotated[tuple[HmacRef, ...], Meta(max_length=256)] = ()
    files_changed: Annotated[tuple[HmacRef, ...], Meta(max_length=256)] = ()
    signature: Signature | None = None
    refusal: Refusal | None = None
    command_ref: HmacRef | None = None
    transition_id: OpaqueId | None = None  # only if the agent itself named one
    inner_calls: Count = 0  # calls a delegate made inside; evidence, never a token (RULES 22)


class Patched(Observation, frozen=True, tag="patched"):
    """Marks where an `update_action_path` call stands; the patch itself travels on its own way."""

    call_id: OpaqueId


class PlanState(StrEnum):
    PENDING = "pending"
    ACTIVE = "active"
    DONE = "done"
    DROPPED = "dropped"


class PlanItem(Wire, frozen=True):
    """One step of a plan the agent published by its own means. `item_id` survives rewording."""

    item_id: OpaqueId
    text: Label
    state: PlanState
    reason: Text | None = None


class Planned(Observation, frozen=True, tag="planned"):
    """The whole plan as it stands after this call (RULES 24)."""

    call_id: OpaqueId
    items: Annotated[tuple[PlanItem, ...], Meta(max_length=128)]


class SettleReason(StrEnum):
    STOP = "stop"
    ABORTED = "aborted"
    ERROR = "error"
    OUTAGE = "outage"
    RATE_LIMIT = "rate_limit"
    LENGTH = "length"
    ENDED = "ended"  # the session itself is over


class Settled(Observation, frozen=True, tag="settled"):
    """The agent stopped working and waits, or its session ended."""

    reason: SettleReason


class NoteCode(StrEnum):
    COMPACTION = "compaction"
    BRANCH = "branch"  # the person went back in the session's tree
    RESUMED = "resumed"
    SUBAGENT = "subagent"
    MODE = "mode"


class Noted(Observation, frozen=True, tag="noted"):
    """Something that explains the stream without being work."""

    code: NoteCode


class Gap(Observation, frozen=True, tag="gap"):
    """Facts are missing here; every episode that touches it has coverage below full."""

    coverage: Coverage
    reason: Label
    count: Count = 0


AnyObservation = Opened | Prompted | Called | Patched | Planned | Settled | Noted | Gap


class LiveNote(Wire, frozen=True):
    """Live only: `what` is tool_started, tool_ended, waiting, resumed, receipt, gone."""

    session_id: SessionId
    what: Label
    at: TimeMs
    after: Position  # the last observation before it
    name: Label | None = None
    ref: OpaqueId | None = None
