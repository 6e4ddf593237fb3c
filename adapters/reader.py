"""What every agent's folder offers, and the one way from its files to finished observations.

    adapters/<agent>/file.py
        AGENT: str
        discover() -> Iterator[Source]         the sessions of this machine, newest first
        recognises(head: bytes) -> bool        by content: the first 64 KiB of a file
        open_session(source, refs) -> Session  never raises on content
        sources(path) -> Iterator[Source]      only where a file may hold several sessions

    Session                                    one file (with its side files), read again and again
        info: SessionInfo                      complete after the first `drafts`
        skips: Skips                           what was not understood, by reason
        drafts(final) -> Iterator[draft]       what has come since; Opened first

    Stream(session, cleaner).read()            drafts numbered 1, 2, 3 …, redacted, in batches

A session is read from its start whenever it is opened: what is behind `after_position` is counted
and not redacted again, so going on costs parsing alone, and no reader has state to store.
Positions are the same for every reading of the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Protocol

from msgspec import Struct

from ..reducer.vocabulary.observation import AnyObservation, Gap, SessionInfo
from ..reducer.vocabulary.terms import Coverage
from .jsonl import Skips
from .normalise.clean import Cleaner
from .normalise.ports import Refs

BATCH: Final = 256
HEAD_BYTES: Final = 64 << 10


class Source(Struct, frozen=True):
    """Where a session stands. `session`: the agent's own id, if the place already tells it."""

    agent: str
    path: Path
    session: str | None = None
    modified: float = 0.0
    size: int = 0


class Session(Protocol):
    @property
    def info(self) -> SessionInfo: ...
    @property
    def skips(self) -> Skips: ...
    def drafts(self, *, final: bool = True) -> Iterator[AnyObservation]: ...


class Format(Struct, frozen=True):
    """One agent's folder, as the importer holds it."""

    agent: str
    recognises: Callable[[bytes], bool]
    discover: Callable[[], Iterator[Source]]
    open_session: Callable[[Source, Refs], Session]
    # The sessions in a file, where there may be several.
    sources: Callable[[Path], Iterator[Source]] | None = None


class Stream:
    """Finished observations of one session, in order, each exactly once."""

    def __init__(self, session: Session, cleaner: Cleaner, after_position: int = 0) -> None:
        self.session = session
        self.position = 0  # of the last observation read, redacted or passed over
        self.after = after_position  # what is before was taken already
        self._cleaner = cleaner
        self._first: AnyObservation | None = None
        self._drafts: Iterator[AnyObservation] | None = None

    def peek(self, *, final: bool = True) -> bool:
        """Read as far as the first draft, so that the session knows who it is. False: none."""
        if self._first is None:
            self._drafts = self.session.drafts(final=final)
            self._first = next(self._drafts, None)
        return self._first is not None

    def read(self, *, final: bool = True) -> Iterator[list[AnyObservation]]:
        """What has come since the last reading, in batches of at most `BATCH`."""
        batch: list[AnyObservation] = []
        for draft in self._since(final):
            if self.position < self.after:
                self.position += 1
                continue
            batch.append(draft)
            if len(batch) >= BATCH:
                yield self._clean(batch)
                batch = []
        if batch:
            yield self._clean(batch)

    def _since(self, final: bool) -> Iterator[AnyObservation]:
        if self._first is not None:
            first, self._first = self._first, None
            yield first
        if self._drafts is not None:
            begun, self._drafts = self._drafts, None
            yield from begun
        else:
            yield from self.session.drafts(final=final)

    def _clean(self, batch: list[AnyObservation]) -> list[AnyObservation]:
        done = self._cleaner.clean(batch, self.position + 1)
        self.position += len(batch)
        return done


# A cut tail is counted, but leaves no gap: the file may still grow, and the positions of what
# follows must not depend on when it was read.
TAIL: Final = frozenset({"cut_record"})


def compact(head: bytes) -> bytes:
    """As the agents' own writers space it, so that a file printed anew is recognised too."""
    return head.replace(b'": ', b'":')


class Losses:
    """Turns lost records into `Gap`s: one where something was lost, not one per record."""

    def __init__(self, skips: Skips) -> None:
        self._skips = skips
        self._told = 0

    def gap(self, at: int) -> Iterator[Gap]:
        reasons = {r: n for r, n in self._skips.lost.items() if r not in TAIL}
        lost = sum(reasons.values())
        if lost > self._told:
            reason = ", ".join(sorted(reasons))
            yield Gap(0, at, coverage=Coverage.PARTIAL, reason=reason, count=lost - self._told)
            self._told = lost


_SESSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_BAD: Final = re.compile(r"[^A-Za-z0-9_.-]+")


def session_id(agent: str, own: str | None, path: Path) -> str:
    """`<agent>-<own id>`; of a file without one, its name stands for it."""
    name = own if own is not None and _SESSION.fullmatch(own) else _BAD.sub("-", own or path.stem)
    return f"{agent}-{(name.strip('-._') or 'unnamed')[:128]}"


def project_of(cwd: str) -> str | None:
    """The last folder name, for people to tell sessions apart."""
    return cwd.replace("\\", "/").rstrip("/").rpartition("/")[2][:200] or None


def iso_ms(stamp: Any) -> int:
    """`2026-07-14T08:41:44.363Z` or a number of milliseconds; 0 if it is neither."""
    if isinstance(stamp, str):
        try:
            when = datetime.fromisoformat(stamp)
        except ValueError:
            return 0
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return max(0, (when - _EPOCH) // _MS)
    if isinstance(stamp, int | float) and not isinstance(stamp, bool) and 0 <= stamp < 1e15:
        return int(stamp)
    return 0


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MS: Final = timedelta(milliseconds=1)
