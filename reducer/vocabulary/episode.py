"""Episodes: meaningful stretches of observed work. Seed, "Session 后处理"; RULES 19–21.

An episode's core is built only from observations, so file, live and recovered episodes of one
session are byte-identical; `timing` is a live-only annotation outside bytes and digest.
A `Segment` is the unit the reconciler accepts: contiguous positions, acknowledged after COMMIT.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from .ids import Count, HmacRef, Label, OpaqueId, Position, TimeMs, Wire
from .observation import (
    Fact,
    Noted,
    Opened,
    Patched,
    Planned,
    Prompted,
    Refusal,
    SessionInfo,
    Settled,
    Signature,
)
from .terms import Boundary, Coverage, EpisodeKind, Outcome


class ToolCount(Wire, frozen=True):
    tool: Label
    count: Count


class OutcomeCount(Wire, frozen=True):
    outcome: Outcome
    count: Count


class SignatureCount(Wire, frozen=True):
    """`failing_streak` counts the signature since the approach last changed (an edit, another
    command): progress resets it, so a repair loop with new approaches never reads as stuck."""

    signature: Signature
    count: Count
    failing_streak: Count = 0


class RefusalCount(Wire, frozen=True):
    refusal: Refusal
    count: Count


class Resume(Wire, frozen=True):
    """All the next episode needs to know of those before it; small on purpose.

    `streaks` are (signature digest, repeats without a changed approach), most recent last.
    `known` are digests already seen, so that a *new* signature can close an episode.
    """

    streaks: Annotated[tuple[tuple[str, int], ...], Meta(max_length=32)] = ()
    known: Annotated[tuple[str, ...], Meta(max_length=256)] = ()
    gates: Annotated[tuple[str, ...], Meta(max_length=64)] = ()
    edits: Count = 0
    coverage: Coverage = Coverage.FULL  # of a gap between episodes, for the next one
    coverage_reason: Label | None = None


class Timing(Wire, frozen=True):
    """Live only: start, time spent, time spent waiting for a person."""

    started_at: TimeMs
    duration_ms: Count
    waiting_ms: Count = 0


class Episode(Wire, frozen=True):
    """One stretch. `episode_id` is `ep_<from_position>`; `ended_at` is event time.

    `facts` stand in the order last seen; the first `facts_before_edit` of them were last seen
    before the stretch's last edit, so a pass among them says nothing of the code as it is now.
    """

    episode_id: OpaqueId
    from_position: Position
    to_position: Position
    kind: EpisodeKind
    outcome: Outcome
    boundary: Boundary
    coverage: Coverage
    ended_at: TimeMs
    calls: Count
    tools: tuple[ToolCount, ...] = ()
    outcomes: tuple[OutcomeCount, ...] = ()
    facts: Annotated[tuple[Fact, ...], Meta(max_length=128)] = ()
    signatures: tuple[SignatureCount, ...] = ()
    refusals: tuple[RefusalCount, ...] = ()
    files_read: Count = 0
    files_changed: Count = 0
    changed_refs: Annotated[tuple[HmacRef, ...], Meta(max_length=256)] = ()
    coverage_reason: Label | None = None
    transition_id: OpaqueId | None = None
    inner_calls: Count = 0
    facts_before_edit: Count = 0


class EpisodeItem(Wire, frozen=True, tag_field="item", tag="episode"):
    episode: Episode
    timing: Timing | None = None


class FactItem(Wire, frozen=True, tag_field="item", tag="fact"):
    """An observation that is news by itself, in order among the episodes."""

    fact: Opened | Prompted | Patched | Planned | Settled | Noted


class Segment(Wire, frozen=True):
    """Positions `from_position … to_position` of one session, each in exactly one segment.

    The receiver accepts only `from_position == last + 1`, commits, then acknowledges
    `to_position`; anything else is answered with the last committed position.
    """

    info: SessionInfo
    from_position: Position
    to_position: Position
    items: Annotated[tuple[EpisodeItem | FactItem, ...], Meta(max_length=512)]
    resume: Resume = Resume()
    live: bool = True
    schema_version: Literal[1] = 1
