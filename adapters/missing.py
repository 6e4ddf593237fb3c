"""What the live channel lacks: taken from the session's file, or said as a gap.

While a file is read its session's connections wait; everybody else is served on. A file is read at
most once in `READ_AGAIN_S` per session, so that a bad peer cannot keep us reading.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from ..daemon.logs import Log
from ..daemon.loop import Loop
from ..reducer.vocabulary.observation import AnyObservation, Gap
from ..reducer.vocabulary.terms import Coverage
from .catching_up import CatchUp, Reader, batches
from .normalise.ports import Refs
from .sessions import Bound, Session
from .spool import Spool
from .spooled import key_of

READ_AGAIN_S: Final = 10


class Lack(Struct, frozen=True):
    """`count` records are missing, of which the last should have come at `at`."""

    count: int
    at: int
    reason: str

    def gap(self) -> Gap:
        return Gap(0, self.at, Coverage.PARTIAL, self.reason, self.count)


class Missing:
    """`stamp` appends drafts to a session's stream; `pause` and `resume` hold its connections."""

    def __init__(
        self,
        loop: Loop,
        spool: Spool,
        log: Log,
        readers: dict[str, Reader],
        refs: Refs,
        *,
        stamp: Callable[[Session, list[AnyObservation]], int],
        pause: Callable[[Session], None],
        resume: Callable[[Session], None],
    ) -> None:
        self._loop = loop
        self._spool = spool
        self._log = log
        self._readers = readers
        self._refs = refs
        self._stamp = stamp
        self._pause = pause
        self._resume = resume

    def make_good(self, bound: Bound, lack: Lack) -> None:
        """From the file if there is one that may be read now, else as a gap at once."""
        session, hello = bound.session, bound.hello
        reader = self._readers.get(hello.agent)
        purged = self._spool.was_purged(session.session_id)
        if reader is None or hello.file is None or purged or self._just_read(session):
            self._stamp(session, [lack.gap()])
            return
        session.catching_up = True
        session.caught_up_s = time.monotonic()
        self._pause(session)
        catch_up = CatchUp(reader, hello, self._refs)
        self._loop.after(0, lambda: self._read(session, catch_up, lack))

    def _read(self, session: Session, catch_up: CatchUp, lack: Lack) -> None:
        """A slice of the file per turn, so that nobody else has to wait for it."""
        if not catch_up.read_some():
            self._loop.after(0, lambda: self._read(session, catch_up, lack))
            return
        missed: list[AnyObservation] = [lack.gap()]
        if catch_up.failed is not None:
            self._log.warning("cannot catch up", session=session.session_id, why=catch_up.failed)
        elif (known := self._spool.known(session.session_id)) is not None:
            missed = catch_up.behind(known.last_position, known.last_key)
            self._spool.tell(session.session_id, [key for seen in missed if (key := key_of(seen))])
        self._append(session, batches(missed))

    def _append(self, session: Session, rest: Iterator[list[AnyObservation]]) -> None:
        batch = next(rest, None)
        if batch is not None:
            self._stamp(session, batch)
            self._loop.after(0, lambda: self._append(session, rest))
            return
        session.translator.resume(self._spool.last_plan(session.session_id))
        session.catching_up = False
        self._resume(session)

    def _just_read(self, session: Session) -> bool:
        return session.caught_up_s > 0 and time.monotonic() - session.caught_up_s < READ_AGAIN_S
