"""What export and database share: who a session is, and one whole message → drafts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...reducer.vocabulary.observation import AnyObservation, SessionInfo
from ..jsonl import Skips
from ..normalise.calls import Place, at_ms
from ..normalise.plans import PlanLedger
from ..normalise.ports import Refs
from ..reader import project_of, session_id
from . import normal
from .records import Info, Part

AGENT: Final = "opencode"
KNOWN_PARTS: Final = frozenset({
    "text", "reasoning", "tool", "step-start", "step-finish", "patch", "snapshot", "compaction",
    "subtask", "agent", "retry", "file",
})  # fmt: skip


def info_of(info: Info, refs: Refs, own: str | None = None) -> SessionInfo:
    cwd = info.directory or ""
    sanitised = cwd.startswith("[redacted:")
    parent = info.parent_id
    return SessionInfo(
        session_id=session_id(AGENT, info.id or own, Path("session")),
        agent=AGENT,
        agent_version=info.version[:200] if info.version else None,
        project=None if sanitised else project_of(cwd),
        project_ref=refs.ref("project", cwd) if cwd and not sanitised else None,
        parent_session_id=session_id(AGENT, parent, Path("_")) if parent else None,
        relation="subagent" if parent else None,
        started_at=at_ms((info.time.created if info.time else None) or 0),
    )


def message_drafts(
    info: Info, parts: list[Part], place: Place, plan: PlanLedger, skips: Skips
) -> Iterator[AnyObservation]:
    """A message with all its parts, as it stands."""
    begun = (info.time.created if info.time else None) or 0
    if info.role == "user":
        yield from normal.prompted(info, parts, begun)
        return
    calls = 0
    for part in parts:
        if part.type == "tool":
            calls += 1
            yield from normal.ended(part, begun, place, plan)
        elif part.type not in KNOWN_PARTS:
            skips.unknown[f"part {part.type[:48]}"] += 1
    done = (info.time.completed if info.time else None) or begun
    yield from normal.settled(info, done, stopped=not calls)
