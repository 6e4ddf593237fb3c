"""What became of a file, as structs: for the command, for `--json`, and between processes."""

from __future__ import annotations

import msgspec

from ...reducer.vocabulary.ids import Count, Wire


class Said(Wire, frozen=True, omit_defaults=False):
    """One thing Wayfinder would have said, and after which observation."""

    position: int
    kind: str
    words: str


class Often(Wire, frozen=True, omit_defaults=False):
    """A gate or a signature, as text for people, and how often it was met."""

    what: str
    outcome: str
    count: Count


class Totals(Wire, frozen=True, omit_defaults=False):
    turns: Count
    machine_turns: Count
    calls: Count
    inner_calls: Count
    outcomes: dict[str, int]
    compactions: Count
    settled: dict[str, int]
    gaps: Count
    episodes: Count
    gates: tuple[Often, ...]
    signatures: tuple[Often, ...]
    spoken: tuple[Said, ...]
    positions: Count


class Result(Wire, frozen=True, omit_defaults=False):
    """What became of one file. `error` set: nothing else says anything."""

    file: str
    agent: str | None = None
    session_id: str | None = None
    project: str | None = None
    bytes: Count = 0
    duration_ms: Count = 0
    totals: Totals | None = None
    fresh: Count = 0  # observations taken now; those taken before are not counted
    unanswered: Count = 0  # calls asked for that never got a result
    skips: dict[str, dict[str, int]] = msgspec.field(default_factory=dict[str, dict[str, int]])
    error: str | None = None
