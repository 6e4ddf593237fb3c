"""The adapter's side of an import: one worker at a time, flow control, into the spool.

The worker's observations continue the session's positions in the spool, as live ones do; from
there the segmenter takes them. A session that is being watched live is refused: two sources must
not write one stream. Nothing here waits; a worker that is too fast is answered later.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from ...daemon.lines import Lines, LineTooLong
from ...daemon.logs import Log
from ...daemon.loop import Loop
from ...daemon.paths import Paths
from ...reducer.vocabulary.codec import Malformed, decode_untrusted
from ..spool import Spool
from .frames import (
    LINE_BYTES_MAX,
    VERSION,
    Batch,
    Birth,
    Closed,
    End,
    FromWorker,
    Import,
    Open,
    ToWorker,
    from_worker,
    line,
)

SPOOLED_MAX: Final = 2_048  # observations waiting; above it the worker waits for the segmenter
WAIT_MS: Final = 50
READ_BYTES: Final = 1 << 18
WAITING_MAX: Final = 16
MODULE: Final = "wayfinder.adapters.importer.worker"

Say = Callable[[bytes], bool]  # a line to the command; False: it is gone


class Refused(ValueError):
    """The request cannot be taken; the text says what is expected."""


class ImportHost:
    """Owned by the adapter process. `live` says whether a session is connected just now."""

    def __init__(
        self,
        loop: Loop,
        spool: Spool,
        paths: Paths,
        log: Log,
        *,
        live: Callable[[str], bool],
        push: Callable[[str], None],
    ) -> None:
        self._loop = loop
        self._spool = spool
        self._paths = paths
        self._log = log
        self._live = live
        self._push = push
        self._waiting: deque[tuple[Import, Say]] = deque()
        self._worker: _Worker | None = None

    @property
    def busy(self) -> bool:
        return self._worker is not None

    def ask(self, data: bytes, say: Say) -> None:
        """One import frame. Raises Refused; results come through `say`, `End` last."""
        try:
            request = decode_untrusted(data, Import)
        except Malformed as error:
            raise Refused(str(error)) from error
        if request.v != VERSION:
            raise Refused(f"import version {VERSION}, got {request.v}")
        if any(not Path(file).is_absolute() for file in request.files):
            raise Refused("absolute paths")
        if len(self._waiting) >= WAITING_MAX:
            raise Refused(f"at most {WAITING_MAX} imports waiting")
        self._waiting.append((request, say))
        self._next()

    def close(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker = None

    def _next(self) -> None:
        if self._worker is not None or not self._waiting:
            return
        request, say = self._waiting.popleft()
        try:
            self._worker = _Worker(self._paths, request, say)
        except OSError as error:
            self._log.warning("cannot import", why=str(error))
            say(line(End(f"cannot start a worker: {error}"))[:-1])
            return
        self._loop.watch(self._worker.fd, self._read)

    def _read(self) -> None:
        worker = self._worker
        assert worker is not None
        try:
            frames = worker.frames()
            for frame in frames or ():
                self._take(worker, frame)
        except (msgspec.DecodeError, LineTooLong, ValueError) as error:
            self._log.warning("import worker", why=f"{type(error).__name__}: {error}"[:300])
            frames = None
        if frames is None:
            self._over(worker)

    def _over(self, worker: _Worker) -> None:
        """It has ended, by itself or not; sessions it had open stay readable as they are."""
        self._loop.forget(worker.fd)
        worker.kill()
        for session_id in worker.open:
            self._spool.close_session(session_id)
            self._push(session_id)
        self._spool.commit()
        if not worker.ended:
            worker.say(line(End("the worker ended early; run the same import again to go on"))[:-1])
        self._worker = None
        self._next()

    def _take(self, worker: _Worker, frame: FromWorker) -> None:
        if isinstance(frame, Open):
            self._opened(worker, frame)
        elif isinstance(frame, Batch):
            self._spool.append(frame.session_id, frame.observations)
            self._spool.commit()
            self._push(frame.session_id)
            self._more(worker)
        elif isinstance(frame, Closed):
            worker.open.discard(frame.session_id)
            self._spool.close_session(frame.session_id)
            self._spool.commit()
            self._push(frame.session_id)
        else:
            worker.ended = worker.ended or isinstance(frame, End)
            if not worker.say(line(frame)[:-1]) and worker.request.follow:
                worker.kill()  # nobody is there for whom to go on

    def _opened(self, worker: _Worker, frame: Open) -> None:
        session_id = frame.info.session_id
        if self._live(session_id):
            worker.tell(ToWorker(refused="this session is being watched live already"))
            return
        self._spool.remember(frame.info, live=worker.request.follow)
        self._spool.commit()
        worker.open.add(session_id)
        worker.tell(ToWorker(after=self._spool.last_position(session_id)))

    def _more(self, worker: _Worker) -> None:
        """Leave to go on, as soon as the segmenter keeps up."""
        if worker is not self._worker:
            return
        if self._spool.depth() > SPOOLED_MAX:
            self._loop.after(WAIT_MS, lambda: self._more(worker))
        else:
            worker.tell(ToWorker(more=True))


class _Worker:
    """The child process and its two pipes."""

    def __init__(self, paths: Paths, request: Import, say: Say) -> None:
        self.request = request
        self.say = say
        self.open: set[str] = set()
        self.ended = False
        self._lines = Lines(LINE_BYTES_MAX)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            close_fds=True,
            cwd="/",
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self.fd = self._process.stdout.fileno()
        self._in = self._process.stdin.fileno()
        os.set_blocking(self.fd, False)
        os.write(self._in, line(Birth(str(paths.run), str(paths.state), request)))

    def frames(self) -> list[FromWorker] | None:
        """What has arrived; None when the worker is gone."""
        try:
            data = os.read(self.fd, READ_BYTES)
        except BlockingIOError:
            return []
        if not data:
            return None
        return [from_worker.decode(each) for each in self._lines.feed(data)]

    def tell(self, answer: ToWorker) -> None:
        """An answer is far below what a pipe holds, and only one is ever under way."""
        try:
            os.write(self._in, line(answer))
        except OSError:
            return  # it is gone; its end of file says so too

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
