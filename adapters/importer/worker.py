"""The adapter's child that reads files: `python -P -m wayfinder.adapters.importer.worker`.

At low priority, and one step ahead of the adapter at most: after each batch it waits for leave to
go on. It holds no key and no socket; what it writes is redacted. End of input: the adapter is gone.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...daemon.paths import Paths
from ...reducer.vocabulary.observation import AnyObservation
from ..normalise.clean import Cleaner
from ..privacy import open_privacy
from ..reader import Source
from .formats import NotASession, discovered, sources
from .frames import (
    Batch,
    Closed,
    End,
    Import,
    Open,
    Progress,
    Told,
    ToWorker,
    births,
    line,
    to_worker,
)
from .reading import Reading, failed

NICENESS: Final = 10
FOLLOW_S: Final = 0.5
BATCH: Final = 64


class Worker:
    def __init__(self, paths: Paths, request: Import) -> None:
        self._privacy = open_privacy(paths)
        self._cleaner = Cleaner(self._privacy.redactor)
        self._request = request

    def run(self) -> None:
        followed: list[Reading] = []
        for source in self._sources():
            reading = self._one(source)
            if reading is not None and self._request.follow:
                followed.append(reading)
        while followed:  # until the adapter goes, or is told to stop us
            time.sleep(FOLLOW_S)
            for reading in followed:
                self._feed(reading, final=False)
        self._say(End())

    def _sources(self) -> Iterator[Source]:
        for path in map(Path, self._request.files):
            try:
                yield from sources(path, self._request.agent)
            except (NotASession, OSError) as error:
                self._say(Told(failed(path, error)))
        if self._request.discover:
            yield from discovered(self._request.agent)

    def _one(self, source: Source) -> Reading | None:
        try:
            reading = Reading(source, self._cleaner, self._privacy.refs)
            self._open(reading)
        except (NotASession, OSError) as error:
            self._say(Told(failed(source.path, error)))
            return None
        final = not self._request.follow
        self._feed(reading, final=final)
        if final:
            self._say(Closed(reading.info.session_id))
        self._say(Told(reading.result()))
        return reading

    def _open(self, reading: Reading) -> None:
        """Nothing is redacted before it is known how much of it is wanted."""
        reading.prepare(final=not self._request.follow)
        answer = self._ask(Open(os.fspath(reading.source.path), reading.info))
        if answer.refused is not None:
            raise NotASession(answer.refused)
        reading.skip_to(answer.after or 0)

    def _feed(self, reading: Reading, *, final: bool) -> None:
        for batch in reading.batches(final=final):
            for part in _parts(batch):
                self._ask(Batch(reading.info.session_id, part))
            self._say(Progress(os.fspath(reading.source.path), reading.offset, reading.bytes))

    def _ask(self, frame: Open | Batch) -> ToWorker:
        self._say(frame)
        answer = sys.stdin.buffer.readline()
        if not answer:
            os._exit(0)
        return to_worker.decode(answer)

    def _say(self, frame: Open | Batch | Closed | Progress | Told | End) -> None:
        try:
            sys.stdout.buffer.write(line(frame))
            sys.stdout.buffer.flush()
        except OSError:
            os._exit(0)


def _parts(batch: list[AnyObservation]) -> Iterator[tuple[AnyObservation, ...]]:
    """Small enough for the adapter to take one between two turns of a live session."""
    for start in range(0, len(batch), BATCH):
        yield tuple(batch[start : start + BATCH])


def main() -> None:
    os.nice(NICENESS)
    birth = births.decode(sys.stdin.buffer.readline())
    paths = Paths(Path(birth.run), Path(birth.state), Path(birth.state))
    Worker(paths, birth.request).run()


if __name__ == "__main__":
    main()
