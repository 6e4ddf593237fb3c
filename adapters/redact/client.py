"""The way into the redaction room for a process with a plain poll loop: synchronous, never raising.

    client = RedactorClient(cache_dir=…, key=…)
    client.start()                                   optional: load the rules before they are needed
    masked = client.redact_many(texts, level=2)      list[Redacted], same number, same order

A text that takes more than its processor time ends its worker; the text is answered with
`[unredacted text dropped]`, the worker is started anew, the others go on. So is a text whose worker
dies or does not answer. If no worker can be started, everything is dropped (fail closed).
"""

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from .caps import cut_range
from .engine import Level, is_harmless
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
from .spans import Redacted, Span, dropped
from .worker import EXIT_IDLE

IDLE_MS: Final = 600_000
CPU_MS: Final = 1_000
# Behind the processor time stands the wall clock, for a worker that waits instead of working.
WALL_S: Final = 5.0
START_S: Final = 30.0
_STARTS_MAX: Final = 2  # in a row, without a hello
_CHUNK: Final = 256 * 1024
_AHEAD_BYTES: Final = 1024 * 1024
Report = Callable[[str, Mapping[str, int | str]], None]


class Counters(msgspec.Struct, frozen=True, rename="camel"):
    """For `doctor`: starts of a worker, texts dropped, and what the second opinion is doing."""

    starts: int
    dropped: int
    asked: int
    kingfisher: str


class WorkerGone(Exception):
    """The worker ended; `idle` says that it left of its own accord, so nothing is to blame."""

    def __init__(self, why: str, idle: bool = False) -> None:
        super().__init__(why)
        self.idle = idle


class RedactorClient:
    """One worker at a time, started when needed. Not for use by two threads at once."""

    def __init__(
        self,
        *,
        cache_dir: Path | None = None,
        key: bytes | None = None,
        environ: Mapping[str, str] | None = None,
        idle_ms: int = IDLE_MS,
        cpu_ms: int = CPU_MS,
        wall_s: float = WALL_S,
        second_opinion: bool = True,
        report: Report | None = None,
    ) -> None:
        """`cache_dir`: private folder for compiled rules. `key`: for fingerprints of opaque tokens.

        `environ` is the worker's environment, whose secret values it masks. `report` is told of
        every dropped text and every start: an event and numbers, never a text.
        """
        cache = str(cache_dir) if cache_dir is not None else None
        self._birth = Birth(cache, key, idle_ms, cpu_ms, second_opinion)
        self._environ = dict(os.environ if environ is None else environ)
        self._wall_s = wall_s
        self._report = report
        self._worker: _Worker | None = None
        self._hello: Hello | None = None
        self._starts = self._dropped = self._asked = 0

    def __enter__(self) -> "RedactorClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def counters(self) -> Counters:
        """What happened so far."""
        known = self._hello.kingfisher if self._hello else "unknown"
        return Counters(self._starts, self._dropped, self._asked, known)

    @property
    def worker_pid(self) -> int | None:
        """The process that may be killed, if one is running."""
        return self._worker.pid if self._worker is not None else None

    def start(self) -> None:
        """Start loading the rules without waiting for them. Never raises."""
        if self._worker is None:
            self._spawn()

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None

    def redact_many(self, texts: Sequence[str], level: Level) -> list[Redacted]:
        """Redact each text. Same number, same order; equal texts are asked once."""
        answers: dict[str, Redacted] = {}
        asked: list[str] = []
        for text in texts:
            if text not in answers:
                harmless = self._is_harmless(text)
                answers[text] = Redacted(text) if harmless else dropped(text)
                if not harmless:
                    asked.append(text)
        if asked:
            self._asked += len(asked)
            self._ask(asked, level, answers)
        return [answers[text] for text in texts]

    def _is_harmless(self, text: str) -> bool:
        """The worker's own test, with the one thing only it knows: how short a known value is."""
        if self._hello is None or not is_harmless(text):
            return False
        return len(text) <= self._hello.word_max or self._hello.exact_forms == 0

    def _ask(self, texts: list[str], level: Level, answers: dict[str, Redacted]) -> None:
        done = idle_exits = 0
        while done < len(texts):
            worker = self._ready()
            if worker is None:
                self._drop("redactor_unavailable", texts[done:])
                return
            try:
                for answer in worker.exchange(texts[done:], level, self._wall_s):
                    answers[texts[done]] = answer
                    done += 1
            except WorkerGone as gone:
                self.close()
                if gone.idle and idle_exits < _STARTS_MAX:
                    idle_exits += 1  # it left between two calls: ask again
                    continue
                self._drop(str(gone), texts[done : done + 1])
                done += 1

    def _drop(self, event: str, texts: list[str]) -> None:
        """`answers` holds `dropped` from the start; here it is only counted and told."""
        self._dropped += len(texts)
        if self._report is not None:
            chars = max((len(text) for text in texts), default=0)
            self._report(event, {"texts": len(texts), "charsMax": chars})

    def _ready(self) -> "_Worker | None":
        """A worker that has said hello; None if none can be had."""
        for _ in range(_STARTS_MAX):
            if self._worker is None:
                self._spawn()
            worker = self._worker
            if worker is None:
                continue
            try:
                self._hello = worker.hello(START_S)
                return worker
            except WorkerGone as gone:
                if self._report is not None and not gone.idle:
                    self._report("redactor_start_failed", {"why": str(gone)})
                self.close()
        return None

    def _spawn(self) -> None:
        self._starts += 1
        try:
            self._worker = _Worker(self._birth, self._environ)
        except OSError as error:
            if self._report is not None:
                self._report("redactor_start_failed", {"why": str(error)})


class _Worker:
    """The process and its two pipes; both ends of ours never block."""

    def __init__(self, birth: Birth, environ: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __package__ + ".worker"],
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

    def exchange(self, texts: list[str], level: Level, wall_s: float):
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
            "redactor_overrun" if status == -27 else f"redactor_died:{status}", status == EXIT_IDLE
        )


class _Cut:
    """A field above the cap is cut on this side, so that no frame grows beyond its bound."""

    __slots__ = ("_range", "_whole", "short")

    def __init__(self, text: str) -> None:
        self._range = cut_range(text)
        self._whole = text
        if self._range is None:
            self.short = text
        else:
            start, end = self._range
            self.short = f"{text[:start]}[cut {end - start} characters]{text[end:]}"

    def restored(self, answer: Redacted) -> Redacted:
        """The answer with its spans in code points of the whole text, and a span for the cut."""
        if self._range is None:
            return answer
        start, end = self._range
        mark = len(self.short) - (len(self._whole) - (end - start))
        shift = (end - start) - mark
        spans: list[Span] = []
        for span in answer.spans:
            left = span.start if span.start < start + mark else span.start + shift
            right = span.end if span.end <= start else span.end + shift
            spans.append(
                Span(
                    min(left, start) if span.start < start + mark < span.end else left,
                    right,
                    span.rule,
                )
            )
        if not any(s.start <= start and end <= s.end for s in spans):
            spans.append(Span(start, end, "cut"))
        return Redacted(answer.text, tuple(sorted(spans)))


def _decoded(decode: Callable[[bytes], "msgspec.Struct"], body: bytes):
    try:
        return decode(body)
    except FrameError as error:
        raise WorkerGone("redactor_broken_frame") from error


class TextOnly:
    """The client for callers that want the texts alone: `redact_many(texts, level) -> list[str]`"
    "."""

    __slots__ = ("_client",)

    def __init__(self, client: RedactorClient) -> None:
        self._client = client

    def redact_many(self, texts: Sequence[str], level: Level) -> list[str]:
        """The masked texts. Never raises."""
        return [answer.text for answer in self._client.redact_many(texts, level)]
