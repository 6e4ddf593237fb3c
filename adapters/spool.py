"""What waits, durable and redacted, until the episode that contains it is committed.

One SQLite file in the state folder, one writer (the adapter, under its lock). It holds, per
session, the position counter and the observations not yet committed as episodes; per extension
instance, the last number accepted; and errands (patches, receipts) not answered yet.

Invariants:
* Nothing unredacted is stored; callers hand in finished observations.
* Positions of a session are 1, 2, 3 … without holes, for ever: the counter outlives trimming.
* An instance's frame `seq` takes effect once: only `accepted + 1` is taken (`accepts`).
* Effects of a frame and its number stand in one transaction; acknowledge after `commit`.
* `trim` removes only what the reconciler has committed, and never an unanswered errand.

Writes gather in one transaction until `commit`, so that a loop may drain many frames and pay for
one sync. Reads see what was written before them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import apsw

from ..daemon.messages import Pulled
from ..reducer.vocabulary.codec import decode, encode
from ..reducer.vocabulary.observation import AnyObservation, Gap, Opened, Planned, SessionInfo
from ..reducer.vocabulary.terms import Coverage
from .spooled import SCHEMA, Errand, Known, decode_observation, key_of

PULL_MAX: Final = 512
PULL_BYTES_MAX: Final = 512 * 1024
APPLICATION_ID: Final = 0x57465350  # "WFSP"
_SQLITE_MIN: Final = 3_051_003  # below it WAL resets could lose pages


class Spool:
    """Opens or creates the file, 0600. Raises apsw errors; nothing is retried here."""

    def __init__(self, path: Path) -> None:
        if apsw.SQLITE_VERSION_NUMBER < _SQLITE_MIN:
            raise RuntimeError(f"SQLite {apsw.sqlite_lib_version()} is older than 3.51.3")
        path.touch(mode=0o600)
        # apsw's stubs leave buffers untyped, which strict type checking would repeat per call.
        self._db: Any = apsw.Connection(str(path))
        for pragma in (
            "page_size=8192", "journal_mode=WAL", "synchronous=FULL", "secure_delete=ON",
            "trusted_schema=0", f"application_id={APPLICATION_ID}", "user_version=1",
            "wal_autocheckpoint=1000",
        ):  # fmt: skip
            self._db.execute(f"PRAGMA {pragma}")
        self._db.execute(SCHEMA)
        self._writing = False

    def close(self) -> None:
        self.commit()
        self._db.close()

    # --- writing ------------------------------------------------------------------------------

    def commit(self) -> bool:
        """Makes all writes so far durable; False if there were none."""
        if not self._writing:
            return False
        self._db.execute("COMMIT")
        self._writing = False
        return True

    def rollback(self) -> None:
        if self._writing:
            self._db.execute("ROLLBACK")
            self._writing = False

    def remember(self, info: SessionInfo, *, live: bool, position: int = 0) -> None:
        """Makes a session known, open, its counter at least `position`."""
        self._write(
            """INSERT INTO sessions VALUES (?1, ?2, ?3, 0, ?4, 1, '')
               ON CONFLICT DO UPDATE SET open = 1, live = ?4,
                 last_position = max(last_position, ?3)""",
            (info.session_id, encode(info), position, int(live)),
        )

    def reach(self, session_id: str, position: int) -> None:
        """The log knows positions up to there: ours go on behind them, never beside them."""
        self._write(
            "UPDATE sessions SET last_position = ?2 WHERE session_id = ?1 AND last_position < ?2",
            (session_id, position),
        )

    def append(self, session_id: str, observations: Iterable[AnyObservation]) -> None:
        """Stores observations that continue the session's positions. Raises ValueError if not."""
        last = self.last_position(session_id)
        rows: list[tuple[str, int, bytes]] = []
        at, key, plan = 0, "", None
        for observation in observations:
            last += 1
            if observation.position != last:
                raise ValueError(f"expected position {last}, got {observation.position}")
            rows.append((session_id, last, encode(observation)))
            at, key = max(at, observation.at), key_of(observation) or key
            plan = observation if isinstance(observation, Planned) else plan
        if not rows:
            return
        self._begin()
        self._db.executemany("INSERT INTO observations VALUES (?, ?, ?)", rows)
        self._db.execute(
            """UPDATE sessions SET last_position = ?1, last_at = max(last_at, ?2),
                 last_key = iif(?3 = '', last_key, ?3) WHERE session_id = ?4""",
            (last, at, key, session_id),
        )
        if plan is not None:
            sql = "INSERT INTO plans VALUES (?1, ?2) ON CONFLICT DO UPDATE SET body = ?2"
            self._db.execute(sql, (session_id, encode(plan)))

    def accept(self, instance: str, session_id: str, seq: int) -> None:
        """The instance's frames up to `seq` have taken effect."""
        self._write(
            """INSERT INTO instances VALUES (?1, ?2, ?3)
               ON CONFLICT DO UPDATE SET accepted = max(accepted, ?3)""",
            (instance, session_id, seq),
        )

    def place_call(self, session_id: str, call_id: str, position: int) -> None:
        """Where a patch call stands in the order, for the patch frame that follows."""
        self._write("INSERT OR IGNORE INTO calls VALUES (?, ?, ?)", (session_id, call_id, position))

    def tell(self, session_id: str, keys: Iterable[str]) -> None:
        """Facts taken from the session file, so that the live feed does not tell them again."""
        self._begin()
        self._db.executemany(
            "INSERT OR IGNORE INTO told VALUES (?, ?)", ((session_id, key) for key in keys)
        )

    def close_session(self, session_id: str) -> None:
        """The session is over for now: its open episode may close."""
        self._write("UPDATE sessions SET open = 0 WHERE session_id = ?", (session_id,))
        self._write("DELETE FROM told WHERE session_id = ?", (session_id,))
        self._write(
            "DELETE FROM errands WHERE session_id = ? AND answer IS NOT NULL", (session_id,)
        )

    def trim(self, session_id: str, before: int) -> None:
        """Everything below position `before` is committed as episodes."""
        self._write(
            "DELETE FROM observations WHERE session_id = ? AND position < ?", (session_id, before)
        )
        self._write(
            "DELETE FROM calls WHERE session_id = ? AND position < ?", (session_id, before - 1000)
        )

    def put_errand(self, errand: Errand) -> int:
        """Keeps an errand until it is answered and the answer delivered; returns its row id."""
        self._write(
            "INSERT INTO errands VALUES (NULL, ?, ?, ?, ?, ?, ?, NULL)",
            (errand.session_id, errand.instance, errand.kind, errand.call_id, errand.position,
             errand.body),
        )  # fmt: skip
        return self._db.last_insert_rowid()

    def answered(self, errand_id: int, answer: bytes) -> None:
        """The reconciler has it; the answer waits for its instance to come back."""
        self._write("UPDATE errands SET answer = ?, body = x'' WHERE id = ?", (answer, errand_id))

    def delivered(self, errand_id: int) -> None:
        self._write("DELETE FROM errands WHERE id = ?", (errand_id,))

    def forget(self, session_id: str) -> None:
        """Purge: nothing of the session stays here, nor in the journal, but that it was purged,
        so that its file is not read again behind the person's back. Commits."""
        for table in ("sessions", "observations", "instances", "calls", "told", "plans", "errands"):
            self._write(f"DELETE FROM {table} WHERE session_id = ?", (session_id,))
        self._write("INSERT OR IGNORE INTO purged VALUES (?)", (session_id,))
        self.commit()
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # --- reading ------------------------------------------------------------------------------

    def known(self, session_id: str) -> Known | None:
        return next(self._known("WHERE session_id = ?", (session_id,)), None)

    def sessions(self) -> list[Known]:
        """All that still hold observations or are open, the most recent first."""
        where = """WHERE open = 1 OR EXISTS (SELECT 1 FROM observations o
                   WHERE o.session_id = sessions.session_id) ORDER BY last_at DESC"""
        return list(self._known(where, ()))

    def last_position(self, session_id: str) -> int:
        return self._one("SELECT last_position FROM sessions WHERE session_id = ?", (session_id,))

    def accepted(self, instance: str) -> int:
        return self._one("SELECT accepted FROM instances WHERE instance = ?", (instance,))

    def place_of(self, session_id: str, call_id: str) -> int:
        """0 if the call was not announced."""
        return self._one(
            "SELECT position FROM calls WHERE session_id = ? AND call_id = ?", (session_id, call_id)
        )

    def last_plan(self, session_id: str) -> Planned | None:
        """The plan the agent published last, so that its steps keep their ids."""
        sql = "SELECT body FROM plans WHERE session_id = ?"
        row = self._db.execute(sql, (session_id,)).fetchone()
        return None if row is None else decode(row[0], Planned)

    def was_purged(self, session_id: str) -> bool:
        return bool(self._one("SELECT 1 FROM purged WHERE session_id = ?", (session_id,)))

    def was_told(self, session_id: str, key: str) -> bool:
        return bool(
            self._one("SELECT 1 FROM told WHERE session_id = ? AND key = ?", (session_id, key))
        )

    def pull(self, session_id: str, from_position: int) -> Pulled | None:
        """The next observations from a position on, at most one frame; None: unknown session.

        What was trimmed can be asked for again only if the event log was lost: it is answered
        with gaps, so that the stream stays whole and says what it lacks. What stands behind a
        patch is held back until the patch is answered: an episode that were committed before it
        would be taken for work on the step before.
        """
        known = self.known(session_id)
        if known is None:
            return None
        observations = self._lost(known, from_position)
        size = 0
        rows = self._db.execute(
            """SELECT body FROM observations WHERE session_id = ?1 AND position >= ?2
                 AND position < (SELECT ifnull(min(position), 1 << 53) FROM errands
                                 WHERE session_id = ?1 AND kind = 'patch' AND answer IS NULL)
               ORDER BY position LIMIT ?3""",
            (session_id, from_position + len(observations), PULL_MAX - len(observations)),
        )
        for (body,) in rows:
            size += len(body)
            if observations and size > PULL_BYTES_MAX:
                break
            observations.append(decode_observation(body))
        last = observations[-1].position if observations else from_position - 1
        return Pulled(
            info=known.info,
            observations=tuple(observations),
            open=known.open or last < known.last_position,
            live=known.live,
            last_position=known.last_position,
        )

    def _lost(self, known: Known, from_position: int) -> list[AnyObservation]:
        session_id = known.info.session_id
        first = self._one(
            "SELECT min(position) FROM observations WHERE session_id = ?", (session_id,)
        )
        lost = range(from_position, min(first or known.last_position + 1, from_position + PULL_MAX))
        return [
            Opened(position, known.info.started_at, known.info)
            if position == 1
            else Gap(position, known.info.started_at, Coverage.PARTIAL, "log lost", 1)
            for position in lost
        ]

    def errands(self, instance: str) -> list[Errand]:
        """Errands of one instance that are not done with, oldest first."""
        rows = self._db.execute(
            """SELECT session_id, instance, kind, call_id, position, body, answer, id FROM errands
               WHERE instance = ? ORDER BY id""",
            (instance,),
        )
        return [_errand(row) for row in rows]

    def oldest_unanswered(self, at_most: int) -> list[Errand]:
        """Of each session the oldest patch without an answer, and every receipt; oldest first."""
        rows = self._db.execute(
            """SELECT session_id, instance, kind, call_id, position, body, answer, id FROM errands
               WHERE id IN (SELECT min(id) FROM errands WHERE answer IS NULL
                            GROUP BY session_id, iif(kind = 'receipt', id, 0))
               ORDER BY id LIMIT ?""",
            (at_most,),
        )
        return [_errand(row) for row in rows]

    def oldest_of(self, session_id: str) -> Errand | None:
        """The session's oldest patch without an answer."""
        row = self._db.execute(
            """SELECT session_id, instance, kind, call_id, position, body, answer, id FROM errands
               WHERE session_id = ? AND answer IS NULL AND kind != 'receipt'
               ORDER BY id LIMIT 1""",
            (session_id,),
        ).fetchone()
        return None if row is None else _errand(row)

    def is_oldest(self, errand_id: int) -> bool:
        """Whether no older patch of its session waits for its answer; receipts never wait."""
        older = """SELECT 1 FROM errands mine JOIN errands other USING (session_id)
                   WHERE mine.id = ? AND other.id < mine.id AND other.answer IS NULL
                     AND mine.kind != 'receipt' AND other.kind != 'receipt'"""
        return not self._one(older, (errand_id,))

    def has_errand(self, instance: str, call_id: str) -> bool:
        sql = "SELECT 1 FROM errands WHERE instance = ? AND call_id = ?"
        return bool(self._one(sql, (instance, call_id)))

    def depth(self) -> int:
        """Observations that wait, for `wayfinderd status`."""
        return self._one("SELECT count(*) FROM observations", ())

    def _known(self, where: str, values: tuple[object, ...]) -> Iterator[Known]:
        sql = f"SELECT info, last_position, last_at, live, open, last_key FROM sessions {where}"
        for info, last, at, live, open_, key in self._db.execute(sql, values):
            yield Known(decode(info, SessionInfo), last, at, bool(live), bool(open_), key)

    def _one(self, sql: str, values: tuple[object, ...]) -> int:
        row = self._db.execute(sql, values).fetchone()
        return 0 if row is None or row[0] is None else row[0]

    def _write(self, sql: str, values: tuple[object, ...]) -> None:
        self._begin()
        self._db.execute(sql, values)

    def _begin(self) -> None:
        if not self._writing:
            self._db.execute("BEGIN IMMEDIATE")
            self._writing = True


def _errand(row: tuple[Any, ...]) -> Errand:
    return Errand(*row)
