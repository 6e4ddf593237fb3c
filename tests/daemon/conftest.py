"""Folders short enough for sockets, and real child processes that never outlive their test."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from wayfinder.daemon.bus import Bus, Caller
from wayfinder.daemon.child import Birth, Order, Report
from wayfinder.daemon.eventlog.writer import Writer
from wayfinder.daemon.loop import Loop
from wayfinder.daemon.paths import Paths, prepare

KEY = "k" * 64


@pytest.fixture
def short() -> Iterator[Path]:
    """pytest's own tmp_path may be longer than a socket's path can be."""
    folder = Path(tempfile.mkdtemp(prefix="wf-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def paths(short: Path) -> Paths:
    made = Paths(short / "run", short / "state", short / "config")
    prepare(made)
    return made


@pytest.fixture
def writer(paths: Paths) -> Iterator[Writer]:
    opened = Writer(paths.database)
    yield opened
    opened.close()


class RealChild:
    """A process of ours, started as the supervisor starts it."""

    def __init__(self, module: str, paths: Paths) -> None:
        reports, report = os.pipe()
        self.popen = subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(report,),
        )
        os.close(report)
        self._reports = os.fdopen(reports, "rb")
        self.tell(Birth(module.rpartition(".")[2], str(paths.run), str(paths.state),
                        str(paths.config), KEY, report))  # fmt: skip

    def tell(self, line: msgspec.Struct) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.write(msgspec.json.encode(line) + b"\n")
        self.popen.stdin.flush()

    def report(self) -> Report | None:
        """The next line from it; None: it has ended."""
        line = self._reports.readline()
        return msgspec.json.decode(line, type=Report) if line else None

    def ready(self) -> RealChild:
        report = self.report()
        if report is None or not report.ready:
            stderr = self.popen.communicate()[1].decode()
            raise AssertionError(f"it did not become ready: {report} {stderr}")
        return self

    def stop(self) -> int:
        self.tell(Order(stop=True))
        return self.popen.wait(20)

    def end(self) -> None:
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.wait()
        for pipe in (self.popen.stdin, self.popen.stderr, self._reports):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


@pytest.fixture
def child(paths: Paths) -> Iterator[Callable[[str], RealChild]]:
    """Starts modules by name, as children of this test."""
    started: list[RealChild] = []

    def start(module: str) -> RealChild:
        started.append(RealChild(module, paths))
        return started[-1]

    yield start
    for each in started:
        each.end()


class Peer:
    """A client on the bus that waits for what it asked: requests are numbered."""

    def __init__(self, paths: Paths, name: str = "adapter") -> None:
        self.bus = Bus(paths, name=name, key=KEY)
        self.loop = Loop()
        self._callers: dict[str, Caller] = {}
        self._answers: dict[bytes, bytes] = {}
        self._number = 0

    def send(self, file: str, body: bytes) -> bytes:
        """Sends as soon as there is a connection; returns the request's id."""
        caller = self._callers.get(file)
        if caller is None:
            caller = self._callers[file] = self.bus.caller(file)
            self.loop.watch(caller.socket, lambda: self._take(caller))
        self._number += 1
        request_id = b"%d" % self._number
        self.until(lambda: caller.send(request_id, body))
        return request_id

    def answer(self, request_id: bytes) -> bytes:
        self.until(lambda: request_id in self._answers)
        return self._answers.pop(request_id)

    def ask(self, file: str, body: bytes) -> bytes:
        return self.answer(self.send(file, body))

    def until(self, done: Callable[[], object], turns: int = 4_000) -> None:
        """The bound only turns a hang into a failure."""
        for _ in range(turns):
            if done():
                return
            self.loop.turn(5)
        raise AssertionError("it did not happen")

    def _take(self, caller: Caller) -> None:
        while (got := caller.receive()) is not None:
            self._answers[got[0]] = got[1]


@pytest.fixture
def peer(paths: Paths) -> Iterator[Peer]:
    made = Peer(paths)
    yield made
    made.bus.close()
