"""OpenCode's own database, read-only: the append-only `event` table, tailed by (session, seq).

    event(id, aggregate_id = session, seq, type, data)
        session.created.1, session.updated.1    {info}
        message.updated.1                       {info}      again whenever it changes
        message.part.updated.1                  {part}      again whenever it changes

A user message is told when something follows it (its parts come one by one), a tool part in its
last state, an assistant message when it is finished; each once. A session older than the table is
read from `session`, `message` and `part`, as an export would show it.

Opened with mode=ro: nothing is ever written, no lock is held between two readings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import apsw
import msgspec
from msgspec import Struct

from ...reducer.vocabulary.observation import AnyObservation, Opened, SessionInfo
from ..jsonl import Skips
from ..normalise.calls import Place
from ..normalise.plans import PlanLedger
from ..normalise.ports import Refs
from ..reader import Source, session_id
from . import normal
from .records import Info, Part
from .session import AGENT, info_of, message_drafts

BUSY_MS: Final = 2_000
ROWS_MAX: Final = 1_000
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
_VERSION: Final = re.compile(r"\.\d+\Z")


class Data(Struct):
    """Of any event; what it has not is None."""

    info: Info | None = None
    part: Part | None = None


_data: Final = msgspec.json.Decoder(Data)
_info: Final = msgspec.json.Decoder(Info)
_part: Final = msgspec.json.Decoder(Part)


class DatabaseSession:
    """One session of a database; `source.session` is its id."""

    def __init__(self, source: Source, refs: Refs) -> None:
        self.skips = Skips()
        self.info = SessionInfo(session_id(AGENT, source.session, source.path), AGENT)
        self._source = source
        self._refs = refs
        self._place = Place("", refs)
        self._plan = PlanLedger()
        self._seq = -1
        self._opened = False
        self._asked: tuple[Info, list[Part]] | None = None  # a user message, parts arriving
        self._roles: dict[str, str] = {}
        self._with_calls: set[str] = set()
        self._told: set[str] = set()
        self._running: set[str] = set()
        self._given = 0

    @property
    def unanswered(self) -> int:
        return len(self._running)

    def drafts(self, *, final: bool = True) -> Iterator[AnyObservation]:
        try:
            with connected(self._source.path) as database:
                if self._seq >= 0 or has_events(database, self._source.session):
                    yield from self._events(database)
                else:
                    yield from self._tables(database)
        except apsw.Error as error:
            self.skips.lost[f"database {type(error).__name__}"] += 1

    # --- events -------------------------------------------------------------------------------

    def _events(self, database: apsw.Connection) -> Iterator[AnyObservation]:
        sql = "SELECT seq, type, data FROM event WHERE aggregate_id = ? AND seq > ? ORDER BY seq"
        for seq, kind, data in _rows(database, sql, (self._source.session, self._seq)):
            self._seq = seq
            try:
                event = _data.decode(str(data))
            except (msgspec.DecodeError, RecursionError):
                self.skips.lost["odd_shape"] += 1
                continue
            yield from self._event(_VERSION.sub("", str(kind)), event)

    def _event(self, kind: str, event: Data) -> Iterator[AnyObservation]:
        if kind in ("session.created", "session.updated") and event.info is not None:
            yield from self._open(event.info)
        elif kind == "message.updated" and event.info is not None:
            yield from self._message(event.info)
        elif kind == "message.part.updated" and event.part is not None:
            yield from self._part(event.part)
        elif not kind.startswith(("message.", "session.", "todo.", "permission.", "question.")):
            self.skips.unknown[kind[:64]] += 1

    def _open(self, info: Info) -> Iterator[AnyObservation]:
        if not self._opened:
            self._opened = True
            self.info = info_of(info, self._refs, self._source.session)
            self._place = Place(info.directory or "", self._refs)
            yield Opened(0, self.info.started_at, info=self.info)

    def _message(self, info: Info) -> Iterator[AnyObservation]:
        self._roles[info.id] = info.role or ""
        if info.role == "user":
            if self._asked is None or self._asked[0].id != info.id:
                yield from self._flush()
                if f"user {info.id}" not in self._told:
                    self._asked = info, []
            return
        yield from self._flush()
        finished = info.error is not None or info.finish is not None
        if finished and f"reply {info.id}" not in self._told:
            self._told.add(f"reply {info.id}")
            yield from normal.settled(info, _done(info), stopped=info.id not in self._with_calls)

    def _flush(self) -> Iterator[AnyObservation]:
        """The user message is complete: something follows it."""
        if self._asked is not None:
            info, parts = self._asked
            self._asked = None
            self._told.add(f"user {info.id}")
            yield from normal.prompted(info, parts, _begun(info))

    def _part(self, part: Part) -> Iterator[AnyObservation]:
        if self._asked is not None and part.message_id == self._asked[0].id:
            others = [other for other in self._asked[1] if other.id != part.id]
            self._asked = self._asked[0], [*others, part]
            return
        if part.type != "tool" or part.id is None or part.id in self._told:
            return
        yield from self._flush()
        self._with_calls.add(part.message_id or "")
        told = list(normal.ended(part, 0, self._place, self._plan))
        if told:
            self._told.add(part.id)
            self._running.discard(part.id)
        else:
            self._running.add(part.id)
        yield from told

    # --- tables -------------------------------------------------------------------------------

    def _tables(self, database: apsw.Connection) -> Iterator[AnyObservation]:
        """As an export would show it; read whole, and told as far as it was not told before."""
        drafts = list(self._exported(database))
        yield from drafts[self._given :]
        self._given = max(self._given, len(drafts))

    def _exported(self, database: apsw.Connection) -> Iterator[AnyObservation]:
        own = self._source.session
        found = list(_rows(database, "SELECT * FROM session WHERE id = ?", (own,), named=True))
        if not found:
            return
        self.info = info_of(_session_row(found[0]), self._refs, own)
        place, plan = Place(str(found[0].get("directory") or ""), self._refs), PlanLedger()
        yield Opened(0, self.info.started_at, info=self.info)
        self._running.clear()
        sql = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
        for message_id, data in list(_rows(database, sql, (own,))):
            info = self._decoded(_info, data)
            if info is None:
                continue
            info.id = str(message_id)
            parts = list(self._parts(database, info.id))
            told = list(message_drafts(info, parts, place, plan, self.skips))
            self._running.update(normal.running(parts))
            yield from told

    def _parts(self, database: apsw.Connection, message_id: str) -> Iterator[Part]:
        sql = "SELECT id, data FROM part WHERE message_id = ? ORDER BY id"
        for part_id, data in list(_rows(database, sql, (message_id,))):
            part = self._decoded(_part, data)
            if part is not None:
                part.id, part.message_id = str(part_id), message_id
                yield part

    def _decoded(self, decoder: msgspec.json.Decoder[Any], data: Any) -> Any:
        try:
            return decoder.decode(str(data))
        except (msgspec.DecodeError, RecursionError):
            self.skips.lost["odd_shape"] += 1
            return None


def connected(path: Path) -> apsw.Connection:
    """Read-only, beside a writer. Raises apsw.Error."""
    uri = f"file:{_quoted(path)}?mode=ro"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    database = apsw.Connection(uri, flags=flags)
    database.set_busy_timeout(BUSY_MS)
    return database


def has_events(database: apsw.Connection, session: str | None) -> bool:
    if "event" not in _tables_of(database):
        return False
    sql = "SELECT 1 FROM event WHERE aggregate_id = ? LIMIT 1"
    return any(True for _ in _rows(database, sql, (session,)))


def sessions_of(path: Path) -> Iterator[Source]:
    """The sessions in a database, newest first; those of sub-agents belong to their parents."""
    try:
        with connected(path) as database:
            if "session" not in _tables_of(database):
                return
            sql = """SELECT id, time_updated FROM session WHERE parent_id IS NULL
                     ORDER BY time_updated DESC"""
            for own, updated in list(_rows(database, sql, ())):
                if _ID.fullmatch(str(own)):
                    yield Source(AGENT, path, str(own), float(updated or 0) / 1000)
    except apsw.Error:
        return


def discover() -> Iterator[Source]:
    home = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    path = Path(home) / "opencode" / "opencode.db"
    if path.is_file():
        yield from sessions_of(path)


def recognises(head: bytes) -> bool:
    return head.startswith(b"SQLite format 3\0")


def _rows(
    database: apsw.Connection, sql: str, bindings: tuple[Any, ...], *, named: bool = False
) -> Iterator[Any]:
    cursor = database.cursor()
    for row in cursor.execute(sql, bindings):
        yield dict(zip((d[0] for d in cursor.description), row, strict=True)) if named else row


def _tables_of(database: apsw.Connection) -> set[str]:
    sql = "SELECT name FROM sqlite_schema WHERE type = 'table'"
    return {str(name) for (name,) in _rows(database, sql, ())}


def _session_row(row: dict[str, Any]) -> Info:
    known = {
        "id": row.get("id"),
        "parentID": row.get("parent_id"),
        "directory": row.get("directory"),
        "version": row.get("version"),
        "time": {"created": row.get("time_created")},
    }
    return msgspec.convert(known, Info)


def _begun(info: Info) -> float:
    return (info.time.created if info.time else None) or 0


def _done(info: Info) -> float:
    return (info.time.completed if info.time else None) or _begun(info)


def _quoted(path: Path) -> str:
    """A path inside a file: URI; only these three characters mean something there."""
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
