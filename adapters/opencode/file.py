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
from ..normalise.calls import Place
from ..normalise.plans import PlanLedger
from ..normalise.ports import Refs
from ..reader import Format, Session, Source, compact, session_id
from . import live, normal
from .records import Export
from .session import AGENT, info_of, message_drafts

DATABASE_SUFFIX: Final = ".db"


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
        self.unanswered = sum(len(normal.running(m.parts)) for m in export.messages)
        yield Opened(0, self.info.started_at, info=self.info)
        for message in export.messages:
            yield from message_drafts(message.info, message.parts, place, plan, self.skips)


def recognises(head: bytes) -> bool:
    if live.recognises(head):
        return True
    start = compact(head).lstrip()[:600]
    return start.startswith(b"{") and b'"info"' in start[:40] and b'"ses' in start[:200]


def sources(path: Path) -> Iterator[Source]:
    """A database holds many sessions, an export one."""
    with path.open("rb") as file:
        is_database = live.recognises(file.read(16))
    if is_database:
        yield from live.sessions_of(path)
    else:
        yield Source(AGENT, path)


def open_session(source: Source, refs: Refs) -> Session:
    if source.path.suffix == DATABASE_SUFFIX:
        return live.DatabaseSession(source, refs)
    return OpenCodeSession(source, refs)


FORMAT: Final = Format(AGENT, recognises, live.discover, open_session, sources)
