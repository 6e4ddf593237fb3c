"""One file, from recognition to its result; the same for a dry run and for the adapter's worker."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...reducer.vocabulary.observation import AnyObservation, SessionInfo
from ..normalise.clean import Cleaner
from ..normalise.ports import Refs
from ..reader import Source, Stream
from .formats import BY_AGENT, NotASession
from .result import Result, Totals
from .tally import Tally

SECOND_NS: Final = 1_000_000_000


class Reading:
    """Iterate `batches`, then ask for `result`. Raises OSError at birth only."""

    def __init__(self, source: Source, cleaner: Cleaner, refs: Refs) -> None:
        self.source = source
        self.bytes = source.path.stat().st_size
        self._session = BY_AGENT[source.agent].open_session(source, refs)
        self._stream = Stream(self._session, cleaner)
        self._tally: Tally | None = Tally()
        self._fresh = 0
        self._begun_ns = time.perf_counter_ns()

    @property
    def info(self) -> SessionInfo:
        return self._session.info

    def prepare(self, *, final: bool = True) -> None:
        """Read as far as the first fact, so that `info` is complete. Raises NotASession."""
        if not self._stream.peek(final=final):
            raise NotASession("nothing in it could be understood")

    @property
    def offset(self) -> int:
        """How far into the file, for a progress bar."""
        return min(self.bytes, getattr(self._session, "offset", self.bytes))

    def skip_to(self, after: int) -> None:
        """What is before has been taken already; only ask this before the first batch."""
        self._stream.after = after
        self._tally = self._tally if after == 0 else None

    def batches(self, *, final: bool = True) -> Iterator[list[AnyObservation]]:
        """Finished observations. A broken file ends the batches, never the process."""
        for batch in self._stream.read(final=final):
            if self._tally is not None:
                self._tally.take(self._session.info, batch)
            self._fresh += len(batch)
            yield batch

    def result(self) -> Result:
        """Ends the tally. Of a file that was read in part before there is none to tell."""
        spent = time.perf_counter_ns() - self._begun_ns
        totals: Totals | None = None
        if self._tally is not None:
            self._tally.finish(self._session.info)
            totals, self._tally = self._tally.totals(), None
        error = "nothing in it could be understood" if totals and not totals.positions else None
        return Result(
            file=os.fspath(self.source.path),
            agent=self.source.agent,
            session_id=self._session.info.session_id,
            project=self._session.info.project,
            bytes=self.bytes,
            duration_ms=spent * 1000 // SECOND_NS,
            totals=totals,
            fresh=self._fresh,
            unanswered=getattr(self._session, "unanswered", 0),
            skips=self._session.skips.summary(),
            error=error,
        )


def failed(path: Path, error: Exception) -> Result:
    why = str(error) if isinstance(error, NotASession) else f"{type(error).__name__}: {error}"
    return Result(file=os.fspath(path), error=why)
