"""The way into the redaction room for a process with a plain poll loop: synchronous, never raising.

    client = RedactorClient(cache_dir=…, key=…)
    client.start()                                   optional: load the rules before they are needed
    masked = client.redact_many(texts, level=2)      list[Redacted], same number, same order

A text that takes more than its processor time ends its worker; the text is answered with
`[unredacted text dropped]`, the worker is started anew, the others go on. So is a text whose worker
dies or does not answer. If no worker can be started, everything is dropped (fail closed).
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from .engine import Level, is_harmless
from .frames import Birth, Hello
from .link import Link, WorkerGone
from .spans import Redacted, dropped

IDLE_MS: Final = 600_000
CPU_MS: Final = 1_000
# Behind the processor time stands the wall clock, for a worker that waits instead of working.
WALL_S: Final = 5.0
START_S: Final = 30.0
_STARTS_MAX: Final = 2  # in a row, without a hello
Report = Callable[[str, Mapping[str, int | str]], None]


class Counters(msgspec.Struct, frozen=True, rename="camel"):
    """For `doctor`: starts of a worker, texts dropped, and what the second opinion is doing."""

    starts: int
    dropped: int
    asked: int
    kingfisher: str


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
        self._worker: Link | None = None
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

    def _ready(self) -> Link | None:
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
            self._worker = Link(self._birth, self._environ)
        except OSError as error:
            if self._report is not None:
                self._report("redactor_start_failed", {"why": str(error)})


class TextOnly:
    """The client for callers that want the texts alone, as `list[str]`."""

    __slots__ = ("_client",)

    def __init__(self, client: RedactorClient) -> None:
        self._client = client

    def redact_many(self, texts: Sequence[str], level: Level) -> list[str]:
        """The masked texts. Never raises."""
        return [answer.text for answer in self._client.redact_many(texts, level)]
