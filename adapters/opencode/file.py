"""`opencode export <id>`: one document `{info, messages: [{info, parts}]}`; `--sanitize` too.

Sessions of older versions lie in many small files and are not read; the database is (`live.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...reducer.vocabulary.observation import AnyObservation, Opened, SessionInfo
from ..document import Document
from ..jsonl import Skips
from ..normalise.calls import Place, at_ms
from ..normalise.plans import PlanLedger
from ..normalise.ports import Refs
from ..reader import Format, Source, project_of, session_id
from . import live, normal
from .records import Export, Info, Message

AGENT: Final = "opencode"
KNOWN_PARTS: Final = frozenset({
    "text", "reasoning", "tool", "step-start", "step-finish", "patch", "snapshot", "compaction",
    "subtask", "agent", "retry", "file",
})  # fmt: skip


class OpenCodeSession:
    """One export."""

    def __init__(self, source: Source, refs: Refs) -> None:
        self.skips = Skips()
        self.info = SessionInfo(session_id(AGENT, source.session, source.path), AGENT)
        self.unanswered = 0
        self._document = Document(source.path, Export, self.skips)
        self._refs = refs
        self._given = 0

    def drafts(self, *, final: bool = True) -> Iterator[AnyObservation]:
        for export in self._document.changed():
            drafts = list(self._all(export))
            yield from drafts[self._given :]
            self._given = max(self._given, len(drafts))

    def _all(self, export: Export) -> Iterator[AnyObservation]:
        self.info = info_of(export.info, self._refs)
        place = Place(export.info.directory or "", self._refs)
        plan = PlanLedger()
        self.unanswered = 0
        yield Opened(0, self.info.started_at, info=self.info)
        for message in export.messages:
            yield from self._message(message, place, plan)

    def _message(
        self, message: Message, place: Place, plan: PlanLedger
    ) -> Iterator[AnyObservation]:
        info, time = message.info, message.info.time
        begun = (time.created if time else None) or 0
        if info.role == "user":
            yield from normal.prompted(info, message.parts, begun)
            return
        calls = 0
        for part in message.parts:
            if part.type == "tool":
                calls += 1
                told = list(normal.ended(part, begun, place, plan))
                self.unanswered += not told
                yield from told
            elif part.type not in KNOWN_PARTS:
                self.skips.unknown[f"part {part.type[:48]}"] += 1
        done = (time.completed if time else None) or begun
        yield from normal.settled(info, done, stopped=not calls)


def info_of(info: Info, refs: Refs) -> SessionInfo:
    cwd = info.directory or ""
    sanitised = cwd.startswith("[redacted:")
    return SessionInfo(
        session_id=session_id(AGENT, info.id or None, Path("session")),
        agent=AGENT,
        agent_version=info.version[:200] if info.version else None,
        project=None if sanitised else project_of(cwd),
        project_ref=refs.ref("project", cwd) if cwd and not sanitised else None,
        parent_session_id=session_id(AGENT, info.parent_id, Path("_")) if info.parent_id else None,
        relation="subagent" if info.parent_id else None,
        started_at=at_ms((info.time.created if info.time else None) or 0),
    )


def recognises(head: bytes) -> bool:
    start = head.lstrip()[:600]
    if live.recognises(head):
        return True
    return start.startswith(b"{") and b'"info"' in start[:40] and b'"ses' in start[:200]


def open_session(source: Source, refs: Refs) -> OpenCodeSession | live.DatabaseSession:
    if source.path.suffix == ".db":
        return live.DatabaseSession(source, refs)
    return OpenCodeSession(source, refs)


FORMAT: Final = Format(AGENT, recognises, live.discover, open_session)
