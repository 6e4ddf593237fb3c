"""Writing the log. One `Writer` exists per file, for the life of the reconciler.

Contract:
* Everything is written inside `with writer.transaction():`. It returns only after COMMIT, that is,
  after the bytes are on the disk; only then may anything be acknowledged or published.
* `append` refuses what breaks an invariant (`order.py`) before it reaches the file.
* If the transaction raises, nothing of it happened, and all that was kept in memory about it must
  be forgotten by the caller.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
from msgspec import Struct

from ...reducer.vocabulary.codec import encode
from ...reducer.vocabulary.event import LOOKED, Envelope
from ..lock import Held, Lock
from . import schema
from .connection import LogUnavailable, forbid_structure, open_writer
from .order import Order
from .reader import Reader


class Head(Struct):
    """The end of one session's events, as of the open transaction."""

    key: int
    order: Order


class Writer:
    def __init__(self, path: Path, *, vfs: str | None = None) -> None:
        """Raises LogUnavailable if another process writes this file, or if it is not ours."""
        try:
            self._lock = Lock(path.with_name(path.name + ".lock")) if vfs is None else None
        except Held as held:
            raise LogUnavailable(f"another process ({held.pid}) writes {path}") from held
        # apsw's stubs leave buffers untyped, which strict checking would repeat at each call.
        self._db: Any = open_writer(path, vfs=vfs)
        self._heads: dict[str, Head] = {}
        self._in_transaction = False
        # Reads through the same connection see what the open transaction has written.
        self.read = Reader(self._db)

    @property
    def connection(self) -> apsw.Connection:
        """For `derived.py` and tests; statements belong inside a transaction."""
        return self._db

    def close(self) -> None:
        self._db.close()
        if self._lock is not None:
            self._lock.release()

    @contextmanager
    def transaction(self) -> Generator[None]:
        assert not self._in_transaction, "transactions do not nest"
        self._db.execute("BEGIN IMMEDIATE")
        self._in_transaction = True
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            self._heads.clear()
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        finally:
            self._in_transaction = False

    def append(self, session_id: str, envelopes: Sequence[Envelope]) -> list[bytes]:
        """The bytes written, one per event. Raises OutOfOrder; after any error the transaction
        must be given up."""
        assert self._in_transaction, "append belongs inside a transaction"
        if not envelopes:
            return []
        head = self._head(session_id)
        bodies = [encode(envelope) for envelope in envelopes]
        rows: list[tuple[Any, ...]] = []
        for envelope, body in zip(envelopes, bodies, strict=True):
            chain = head.order.step(envelope, body)
            rows.append((head.key, envelope.session_seq, envelope.kind, chain, body.decode()))
        head.order.finish()
        self._db.executemany(
            "INSERT INTO net_events (session_key, session_seq, kind, chain, body)"
            " VALUES (?, ?, ?, ?, ?)",
            rows,
        )
        self._db.execute(
            "UPDATE sessions SET last_seq = ?, revision = ?, chain = ?,"
            " last_ts = coalesce(?, last_ts) WHERE session_key = ?",
            (head.order.seq, head.order.revision, head.order.chain, _acted(envelopes), head.key),
        )
        return bodies

    def describe(self, session_id: str, **columns: str | None) -> None:
        """Sets what the list of sessions shows: started_ts agent project parent_id title
        title_level settled."""
        names = ", ".join(f"{name} = ?" for name in columns)
        self._db.execute(
            f"UPDATE sessions SET {names} WHERE session_key = ?",
            (*columns.values(), self._head(session_id).key),
        )

    def advance_stream(self, session_id: str, to_position: int, resume: bytes) -> None:
        self._db.execute(
            "INSERT INTO streams VALUES (?1, ?2, ?3)"
            " ON CONFLICT (session_key) DO UPDATE SET to_position = ?2, resume = ?3",
            (self._head(session_id).key, to_position, resume.decode()),
        )

    def bind_answer(
        self, session_id: str, agent_id: str, key: str, ops_digest: str, answer: bytes
    ) -> None:
        """Raises apsw.ConstraintError if the key is bound: the caller has looked before."""
        self._db.execute(
            "INSERT INTO answers VALUES (?, ?, ?, ?, ?)",
            (self._head(session_id).key, agent_id, key, ops_digest, answer.decode()),
        )

    def record_rejection(
        self, session_id: str, agent_id: str, at_ms: int, position: int, code: str, answer: bytes
    ) -> None:
        self._db.execute(
            "INSERT INTO rejections (session_key, agent_id, at_ms, stream_position, code, body)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (self._head(session_id).key, agent_id, at_ms, position, code, answer.decode()),
        )

    def record_empty_update(
        self, session_id: str, agent_id: str, at_ms: int, position: int, ops_digest: str
    ) -> None:
        self._db.execute(
            "INSERT INTO empty_updates (session_key, agent_id, at_ms, stream_position, ops_digest)"
            " VALUES (?, ?, ?, ?, ?)",
            (self._head(session_id).key, agent_id, at_ms, position, ops_digest),
        )

    def store_proposal(
        self,
        session_id: str,
        proposal_id: str,
        agent_id: str,
        at_ms: int,
        base_revision: int,
        patch: bytes,
    ) -> None:
        """A repeated id is the same proposal sent again: the first one stands."""
        self._db.execute(
            "INSERT OR IGNORE INTO patch_proposals"
            " (session_key, proposal_id, agent_id, at_ms, base_revision, body)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (
                self._head(session_id).key,
                proposal_id,
                agent_id,
                at_ms,
                base_revision,
                patch.decode(),
            ),
        )

    def decide_proposal(
        self, session_id: str, proposal_id: str, decision: str, at_ms: int, by: str
    ) -> None:
        self._db.execute(
            "UPDATE patch_proposals SET decision = ?, decided_at_ms = ?, decided_by = ?"
            " WHERE session_key = ? AND proposal_id = ? AND decision IS NULL",
            (decision, at_ms, by, self._head(session_id).key, proposal_id),
        )

    def purge(self, session_id: str) -> int:
        """Deletes a whole session for good; returns how many events it had.

        The one place that lifts append-only, inside one transaction. Deleted bytes are overwritten
        (secure_delete), then the WAL is emptied and the file rebuilt, so that nothing of them is
        left in our files. Copies made by file systems and disks are out of reach.
        """
        row = self._db.execute(
            "SELECT session_key FROM sessions WHERE session_id = ?", (session_id,)
        ).fetchone()
        if row is None:
            return 0
        self._db.authorizer = None
        try:
            with self.transaction():
                gone = self._delete_everywhere(row[0])
            self._db.execute("VACUUM")
            self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            forbid_structure(self._db)
        self._heads.pop(session_id, None)
        return gone

    def _delete_everywhere(self, key: int) -> int:
        kept = (*schema.APPEND_ONLY, "streams", "patch_proposals", *schema.DERIVED_TABLES)
        triggers = self._db.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall()
        gone = self._db.execute("SELECT count(*) FROM net_events WHERE session_key = ?", (key,)).get
        for name, _ in triggers:
            self._db.execute(f"DROP TRIGGER {name}")
        for table in (*kept, "sessions"):
            self._db.execute(f"DELETE FROM {table} WHERE session_key = ?", (key,))
        for _, sql in triggers:
            self._db.execute(sql)
        return gone

    def _head(self, session_id: str) -> Head:
        """Where the session stands; it gets its row and key at first contact."""
        head = self._heads.get(session_id)
        if head is not None:
            return head
        found = self._db.execute(
            "SELECT session_key, last_seq, revision, chain FROM sessions WHERE session_id = ?",
            (session_id,),
        ).fetchone()
        if found is None:
            self._db.execute("INSERT INTO sessions (session_id) VALUES (?)", (session_id,))
            found = (self._db.last_insert_rowid(), 0, 0, b"")
        key, seq, revision, chain = found
        head = self._heads[session_id] = Head(key, Order(session_id, seq, revision, chain))
        return head


def _acted(envelopes: Sequence[Envelope]) -> str | None:
    """When the session itself last did something here: that a person looked is no activity."""
    return next((e.ts for e in reversed(envelopes) if e.kind != LOOKED), None)
