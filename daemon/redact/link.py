"""One worker process and its two pipes, seen from the client. Frames are drawn in `frames`.

What lives here: starting, writing ahead, waiting, telling why a worker ended. What must not:
deciding what becomes of a text.
"""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeVar

from .caps import cut_range
from .engine import Level
from .frames import (
    Birth,
    FrameError,
    Hello,
    Splitter,
    birth_frame,
    decode_answer,
    decode_hello,
    request_frame,
)
from .spans import Hit, Redacted, Span, union
from .worker import EXIT_IDLE

# `-P`: a folder the user stands in must not shadow our modules.
_COMMAND: Final = (sys.executable, "-P", "-m", "wayfinder.daemon.redact.worker")
_CHUNK: Final = 256 * 1024
_AHEAD_BYTES: Final = 1024 * 1024
_Decoded = TypeVar("_Decoded")


class WorkerGone(Exception):
    """The worker ended; `idle` says that it left of its own accord, so nothing is to blame."""

    def __init__(self, why: str, idle: bool = False) -> None:
        super().__init__(why)
        self.idle = idle


class Link:
    """The process and its two pipes; both ends of ours never block."""

    def __init__(self, birth: Birth, environ: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            close_fds=True,
            start_new_session=True,
            env=dict(environ),
            cwd="/",
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._splitter = Splitter()
        self._frames: list[bytes] = []
        self._outgoing = bytearray(birth_frame(birth))
        self._hello: Hello | None = None
        self.pid = self._process.pid

    def kill(self) -> None:
        """End the process and take its exit status; nothing is left behind."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def hello(self, within_s: float) -> Hello:
        """Wait for the hello. Raises WorkerGone."""
        if self._hello is None:
            self._hello = _decoded(decode_hello, self._next(time.monotonic() + within_s))
        return self._hello

    def exchange(self, texts: list[str], level: Level, wall_s: float) -> Iterator[Redacted]:
        """Yield the answers in order, sending ahead of them. Raises WorkerGone.

        The worker works on the first text without an answer, so that one is to blame.
        """
        sent = 0
        cuts: list[_Cut] = []
        for answered in range(len(texts)):
            while sent < len(texts) and len(self._outgoing) < _AHEAD_BYTES:
                cuts.append(_Cut(texts[sent]))
                self._outgoing += request_frame(cuts[-1].short, level)
                sent += 1
            answer = _decoded(decode_answer, self._next(time.monotonic() + wall_s))
            yield cuts[answered].restored(answer)

    def _next(self, deadline: float) -> bytes:
        """The next frame, while sending what is due."""
        while not self._frames:
            left = deadline - time.monotonic()
            if left <= 0:
                raise WorkerGone("redactor_overrun")
            poll = select.poll()
            poll.register(self._out, select.POLLIN)
            if self._outgoing:
                poll.register(self._in, select.POLLOUT)
            for descriptor, event in poll.poll(left * 1000):
                if descriptor == self._in:
                    self._write(event)
                elif descriptor == self._out:
                    self._read()
        return self._frames.pop(0)

    def _write(self, event: int) -> None:
        if event & (select.POLLERR | select.POLLHUP):
            raise self._gone()
        try:
            del self._outgoing[: os.write(self._in, self._outgoing[:_CHUNK])]
        except BlockingIOError:
            return
        except OSError as error:
            raise self._gone() from error

    def _read(self) -> None:
        try:
            chunk = os.read(self._out, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            raise self._gone()
        try:
            self._frames.extend(self._splitter.feed(chunk))
        except FrameError as error:
            raise WorkerGone("redactor_broken_frame") from error

    def _gone(self) -> WorkerGone:
        """Why it ended, from its exit status: SIGPROF is the processor time."""
        try:
            status = self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            return WorkerGone("redactor_closed")
        return WorkerGone(
            "redactor_overrun" if status == -signal.SIGPROF else f"redactor_died:{status}",
            idle=status == EXIT_IDLE,
        )


class _Cut:
    """A field above the cap is cut on this side, so that no frame grows beyond its bound."""

    __slots__ = ("_range", "_whole", "short")

    def __init__(self, text: str) -> None:
        self._range = cut_range(text)
        self._whole = text
        self.short = text
        if self._range is not None:
            start, end = self._range
            self.short = f"{text[:start]}[cut {end - start} characters]{text[end:]}"

    def restored(self, answer: Redacted) -> Redacted:
        """The answer with its spans in code points of the whole text, and a span for the cut.

        A span that touches the mark covers what the mark stands for, as in `engine`.
        """
        if self._range is None:
            return answer
        start, end = self._range
        mark_end = start + len(self.short) - len(self._whole) + (end - start)
        hits: list[Hit] = [(start, end, "cut")]
        for span in answer.spans:
            left = span.start if span.start < start else max(end, span.start - mark_end + end)
            right = span.end if span.end <= start else max(end, span.end - mark_end + end)
            if start <= span.start < mark_end:
                left = start
            hits.append((left, right, span.rule))
        return Redacted(answer.text, tuple(Span(*hit) for hit in union(hits)))


def _decoded(decode: Callable[[bytes], _Decoded], body: bytes) -> _Decoded:
    try:
        return decode(body)
    except FrameError as error:
        raise WorkerGone("redactor_broken_frame") from error
