"""Reading the log: sessions, events, backup. Works with the daemon on or off.

Used by the viewer, by every reading command (imports stay few: `wayfinder brief` starts cold), and
by the writer itself to fold a session again. All transactions are short: a long one would keep the
WAL from being reset.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import apsw
from msgspec import Struct

from ...reducer.vocabulary.codec import decode
from ...reducer.vocabulary.event import Envelope
from .connection import LogUnavailable, open_reader
from .order import Order, OutOfOrder

PAGE_ROWS: Final = 512


class SessionRow(Struct, frozen=True, rename="camel"):
    """One session as the list of sessions shows it; nothing is folded for this.

    `title` is the North Star with its source mark `title_level`; `settled` why it rests, if so.
    """

    session_id: str
    last_seq: int
    revision: int
    started_ts: str
    last_ts: str
    agent: str
    project: str | None
    parent_id: str | None
    title: str | None
    title_level: str | None
    settled: str | None


_SESSION_COLUMNS: Final = ", ".join(SessionRow.__struct_fields__)


class Proposal(Struct, frozen=True):
    """What waits for a person; `body` as in `reducer/remarks/proposals.py`."""

    proposal_id: str
    agent_id: str
    at_ms: int
    base_revision: int
    body: str
    decision: str | None
    decided_at_ms: int | None
    decided_by: str | None


_PROPOSAL_COLUMNS: Final = ", ".join(Proposal.__struct_fields__)


class Reader:
    def __init__(self, connection: apsw.Connection) -> None:
        # apsw's stubs leave buffers untyped, which strict checking would repeat at each call.
        self._db: Any = connection

    @classmethod
    def open(cls, path: Path, *, vfs: str | None = None) -> Reader:
        """Raises NoLog, LogUnavailable."""
        return cls(open_reader(path, vfs=vfs))

    def close(self) -> None:
        self._db.close()

    def sessions(self, limit: int = 1_000) -> list[SessionRow]:
        """The most recently active first."""
        sql = f"SELECT {_SESSION_COLUMNS} FROM sessions ORDER BY last_ts DESC, session_key DESC"
        return [SessionRow(*row) for row in self._rows(sql + " LIMIT ?", limit)]

    def session(self, session_id: str) -> SessionRow | None:
        sql = f"SELECT {_SESSION_COLUMNS} FROM sessions WHERE session_id = ?"
        return next((SessionRow(*row) for row in self._rows(sql, session_id)), None)

    def last_seq(self, session_id: str) -> int:
        row = self._row("SELECT last_seq FROM sessions WHERE session_id = ?", session_id)
        return row[0] if row else 0

    def events(
        self, session_id: str, from_seq: int = 1, to_seq: int | None = None
    ) -> Iterator[Envelope]:
        """In order, whole batches only, each checked against the one before it.

        Raises OutOfOrder where the file is not what was written. An unknown session has no events.
        """
        row = self._row("SELECT session_key, last_seq FROM sessions WHERE session_id = ?",
                        session_id)  # fmt: skip
        if row is None:
            return
        key, last = row
        end = last if to_seq is None else min(to_seq, last)
        order = self._order_at(session_id, key, from_seq)
        while order.seq < end:
            page = self._page(key, order.seq, end)
            if not page:
                raise OutOfOrder(f"session {session_id}: event {order.seq + 1} of {end} is missing")
            for text, chain in page:
                body = text.encode()
                envelope = decode(body, Envelope)
                if order.step(envelope, body) != chain:
                    raise OutOfOrder(
                        f"session {session_id}: the bytes of event {order.seq} are not what was "
                        f"written"
                    )
                yield envelope

    def _order_at(self, session_id: str, key: int, from_seq: int) -> Order:
        if from_seq <= 1:
            return Order(session_id)
        sql = "SELECT chain FROM net_events WHERE session_key = ? AND session_seq = ?"
        before = self._row(sql, key, from_seq - 1)
        if before is None:
            raise OutOfOrder(f"session {session_id}: there is no event {from_seq - 1}")
        return Order(session_id, from_seq - 1, None, before[0])

    def _page(self, key: int, after_seq: int, end: int) -> list[tuple[str, bytes]]:
        sql = (
            "SELECT body, chain FROM net_events WHERE session_key = ? AND session_seq > ?"
            " AND session_seq <= ? ORDER BY session_seq LIMIT ?"
        )
        return [(body, chain) for body, chain in self._rows(sql, key, after_seq, end, PAGE_ROWS)]

    def stream(self, session_id: str) -> tuple[int, str]:
        """(position committed up to, resume as JSON); (0, "{}") for an unknown session."""
        sql = (
            "SELECT to_position, resume FROM streams JOIN sessions USING (session_key)"
            " WHERE session_id = ?"
        )
        return self._row(sql, session_id) or (0, "{}")

    def answer(self, session_id: str, agent_id: str, key: str) -> tuple[str, str] | None:
        """(ops digest, answer as JSON) that an applied patch bound to this key."""
        sql = (
            "SELECT ops_digest, body FROM answers JOIN sessions USING (session_key)"
            " WHERE session_id = ? AND agent_id = ? AND idempotency_key = ?"
        )
        return self._row(sql, session_id, agent_id, key)

    def proposals(self, session_id: str) -> list[Proposal]:
        sql = (
            f"SELECT {_PROPOSAL_COLUMNS} FROM patch_proposals JOIN sessions USING (session_key)"
            " WHERE session_id = ? ORDER BY position"
        )
        return [Proposal(*row) for row in self._rows(sql, session_id)]

    def waiting_proposals(self, session_id: str) -> tuple[Proposal, ...]:
        """Undecided ones, oldest first."""
        sql = (
            f"SELECT {_PROPOSAL_COLUMNS} FROM patch_proposals JOIN sessions USING (session_key)"
            " WHERE session_id = ? AND decision IS NULL ORDER BY position"
        )
        return tuple(Proposal(*row) for row in self._rows(sql, session_id))

    def counts(self, session_id: str) -> dict[str, int]:
        """How many rows of each kind stand beside the events of a session."""
        tables = ("answers", "patch_proposals", "rejections", "empty_updates")
        where = "JOIN sessions USING (session_key) WHERE session_id = ?"
        return {
            table: self._row(f"SELECT count(*) FROM {table} {where}", session_id)[0]
            for table in tables
        }

    def backup(self, to: Path) -> None:
        """A consistent copy, made while the writer goes on. Raises LogUnavailable, FileExistsError.

        One read transaction; under SQLite's backup API the copy is the log at one moment.
        """
        os.close(os.open(to, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
        target = apsw.Connection(str(to))
        try:
            with target.backup("main", self._db, "main") as copying:
                copying.step()
        except apsw.Error as error:
            raise LogUnavailable(f"the backup to {to} failed: {error}") from error
        finally:
            target.close()

    def check(self) -> list[str]:
        """SQLite's own findings about the file; empty if it is sound."""
        found = [str(row[0]) for row in self._rows("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    def _row(self, sql: str, *values: Any) -> Any:
        return self._db.execute(sql, values).fetchone()
