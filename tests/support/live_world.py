"""The real adapter and segmenter processes, a reconciler that keeps its contract, and an agent.

`Reconciler` here is a stand-in with the contract of the stream and the patch socket and nothing
else, so that these tests hold the adapter alone to account; the end-to-end tests have the real one.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from wayfinder.adapters.privacy import KEY_FILE, RULES_CACHE
from wayfinder.daemon.bus import Bus
from wayfinder.daemon.loop import Loop
from wayfinder.daemon.messages import (
    AnyRequest,
    Done,
    ReadStanding,
    ReadStream,
    Standing,
    StreamAt,
    SubmitLiveNote,
    SubmitPatch,
    SubmitSegment,
)
from wayfinder.daemon.paths import Paths, prepare
from wayfinder.daemon.redact.client import RedactorClient
from wayfinder.reducer.vocabulary.answer import Unchanged, Where
from wayfinder.reducer.vocabulary.codec import canonical, encode
from wayfinder.reducer.vocabulary.episode import EpisodeItem, Resume
from wayfinder.reducer.vocabulary.observation import LiveNote
from wayfinder.reducer.vocabulary.people import Constraint

KEY = "k" * 32
WAIT_S = 20  # until a test gives up; no test waits for it to pass
Frame = dict[str, Any]


class Reconciler:
    """Accepts contiguous segments, answers patches, in a thread with sockets of its own."""

    def __init__(self, paths: Paths) -> None:
        self.to_position: dict[str, int] = {}
        self.resume: dict[str, Resume] = {}
        self.committed: dict[str, list[bytes]] = {}
        self.patches: list[SubmitPatch] = []
        self.notes: list[SubmitLiveNote] = []
        self.constraints: tuple[Constraint, ...] = ()
        self.mute = False  # patches are taken and not answered
        self._paths = paths
        self._posts: queue.Queue[Callable[[], None]] = queue.Queue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()
        self._loop = Loop()
        self._changed = threading.Condition()

    def start(self) -> Reconciler:
        self._thread.start()
        self._ready.wait(WAIT_S)
        return self

    def stop(self) -> None:
        self._posts.put(self._loop.stop)
        self._thread.join(WAIT_S)

    def until(self, met: Callable[[], bool]) -> None:
        """Waits until something that was received makes `met` true."""
        with self._changed:
            assert self._changed.wait_for(met, WAIT_S), "nothing came that the test waited for"

    def publish(self, session_id: str, kind: str) -> None:
        body = json.dumps({"kind": kind}).encode()
        self._posts.put(lambda: self._publisher.publish(session_id.encode(), 1, body))

    def purge(self, session_id: str) -> None:
        """Forgets a session and says so, as the reconciler does."""

        def forget() -> None:
            for kept in (self.to_position, self.resume, self.committed):
                kept.pop(session_id, None)  # type: ignore[attr-defined]
            note = encode(LiveNote(session_id, "purged", 1, after=0))
            self._publisher.publish(b"~live", 0, note)

        self._posts.put(forget)

    def episodes(self, session_id: str) -> list[bytes]:
        return list(self.committed.get(session_id, []))

    def _run(self) -> None:
        bus = Bus(self._paths, name="reconciler", key=KEY)
        doorman = bus.doorman()
        ends = [bus.answerer("patch.ipc"), bus.answerer("stream.ipc")]
        self._publisher = bus.publisher("events.ipc")
        self._loop.watch(doorman.socket, doorman.serve)
        self._loop.watch(self._publisher.socket, self._publisher.drain)
        for end in ends:
            self._loop.watch(end.socket, lambda end=end: self._serve(end))
        self._loop.every(5, self._work_posts)
        self._ready.set()
        self._loop.run()
        bus.close()

    def _work_posts(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._posts.get_nowait()()

    def _serve(self, end: Any) -> None:
        while (incoming := end.receive()) is not None:
            reply = self._answer(msgspec.json.decode(incoming.body, type=AnyRequest))
            if reply is not None:
                end.answer(incoming, encode(reply))
            with self._changed:
                self._changed.notify_all()

    def _answer(self, ask: Any) -> Any:
        if isinstance(ask, ReadStanding):
            at = self.to_position.get(ask.session_id, 0)
            return Standing(len(self.patches), at, self.constraints)
        if isinstance(ask, SubmitPatch):
            self.patches.append(ask)
            answer = Unchanged(len(self.patches), Where("tok_main", "pl_start"))
            return None if self.mute else answer
        if isinstance(ask, SubmitLiveNote):
            self.notes.append(ask)
            return Done()
        if isinstance(ask, ReadStream | SubmitSegment):
            return self._stream(ask)
        return Done()

    def _stream(self, ask: ReadStream | SubmitSegment) -> StreamAt:
        session_id = ask.session_id if isinstance(ask, ReadStream) else ask.segment.info.session_id
        at = self.to_position.get(session_id, 0)
        if isinstance(ask, SubmitSegment) and ask.segment.from_position == at + 1:
            at = self.to_position[session_id] = ask.segment.to_position
            self.resume[session_id] = ask.segment.resume
            cores = (i.episode if isinstance(i, EpisodeItem) else i.fact for i in ask.segment.items)
            self.committed.setdefault(session_id, []).extend(canonical(core) for core in cores)
        return StreamAt(session_id, at, self.resume.get(session_id, Resume()))


class Process:
    """One child of ours, started as the supervisor would."""

    def __init__(self, module: str, paths: Paths) -> None:
        self.module = module
        self.paths = paths
        self.start()

    def start(self) -> None:
        reading, writing = os.pipe()
        birth = {
            "process": self.module.rpartition(".")[2], "run": str(self.paths.run),
            "state": str(self.paths.state), "config": str(self.paths.config), "key": KEY,
            "report": writing,
        }  # fmt: skip
        self.popen = subprocess.Popen(
            [sys.executable, "-P", "-m", self.module], stdin=subprocess.PIPE, pass_fds=(writing,)
        )
        os.close(writing)
        assert self.popen.stdin is not None
        self.popen.stdin.write(json.dumps(birth).encode() + b"\n")
        self.popen.stdin.flush()
        self.report = os.fdopen(reading, "rb")
        assert json.loads(self.report.readline())["ready"] is True

    def kill(self) -> None:
        self.popen.send_signal(signal.SIGKILL)
        self._bury()

    def stop(self) -> None:
        assert self.popen.stdin is not None
        if self.popen.poll() is None:
            self.popen.stdin.close()
        self._bury()

    def _bury(self) -> None:
        self.popen.wait(WAIT_S)
        if self.popen.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self.popen.stdin.close()
        self.report.close()

    def rss_bytes(self) -> int:
        pages = Path(f"/proc/{self.popen.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


class Agent:
    """The other end of agent.sock, as bytes and as frames."""

    def __init__(self, paths: Paths, session: str = "s1") -> None:
        self.session = session
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(paths.socket("agent.sock")))  # waits while the backlog is full
        self.socket.settimeout(WAIT_S)
        self._rest = b""
        self.seq = 0

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def raw(self, data: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(data)

    def say(self, frame: Frame) -> None:
        self.raw(json.dumps(frame, separators=(",", ":")).encode() + b"\n")

    def hello(self, session: str = "", instance: str = "", **more: Any) -> Frame:
        session = session or self.session
        instance = instance or f"first-{session}"
        self.say({
            "t": "hello", "v": 1, "agent": "pi", "agentVersion": "1.6.0", "instance": instance,
            "pid": 1, "session": session, "file": None, "cwd": "/r/project", "parent": None,
            "reason": "startup", "entries": 0, "startedAt": 1_700_000_000_000, **more,
        })  # fmt: skip
        return self.until("welcome")

    def obs(self, ev: str, at: int, **fields: Any) -> None:
        self.seq += 1
        self.say({"seq": self.seq, "t": "obs", "at": at, "ev": ev, **fields})

    def patch(self, call_id: str, patch: Frame, at: int = 0, t: str = "patch") -> None:
        self.seq += 1
        self.say({"seq": self.seq, "t": t, "at": at, "callId": call_id, "patch": patch})

    def frame(self) -> Frame | None:
        """The next frame; None at the end of the connection."""
        while b"\n" not in self._rest:
            try:
                data = self.socket.recv(65536)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def until(self, t: str) -> Frame:
        while (frame := self.frame()) is not None:
            if frame["t"] == t:
                return frame
        raise AssertionError(f"the connection ended without {t!r}")

    def acked(self, seq: int | None = None) -> None:
        while self.until("ack")["seq"] < (self.seq if seq is None else seq):
            pass


class World:
    """Everything together; `agent()` connects one more."""

    def __init__(self, folder: Path, rules: Path, key: bytes | None = None) -> None:
        self.paths = Paths(folder / "run", folder / "state", folder / "config")
        prepare(self.paths)
        shutil.copytree(rules, self.paths.state / RULES_CACHE)
        if key is not None:
            (self.paths.state / KEY_FILE).write_bytes(key)
            (self.paths.state / KEY_FILE).chmod(0o600)
        self.count = 1
        self.session = "s1"
        self.reconciler = Reconciler(self.paths).start()
        self.adapter = Process("wayfinder.adapters", self.paths)
        self.segmenter = Process("wayfinder.adapters.segmenter", self.paths)

    def agent(self) -> Agent:
        return Agent(self.paths, self.session)

    @property
    def sid(self) -> str:
        """The session's id as the daemon knows it."""
        return f"pi-{self.session}"

    def anew(self) -> None:
        """The next test: another session; what was received so far is forgotten."""
        self.count += 1
        self.session = f"s{self.count}"
        self.reconciler.patches.clear()
        self.reconciler.notes.clear()
        self.reconciler.constraints = ()
        self.reconciler.mute = False

    def close(self) -> None:
        self.segmenter.stop()
        self.adapter.stop()
        self.reconciler.stop()


@pytest.fixture(scope="session")
def rules(request: pytest.FixtureRequest) -> Path:
    """The redactor's compiled rules: seconds to make, so they are kept in pytest's cache."""
    folder: Path = request.config.cache.mkdir("redactor-rules")
    folder.chmod(0o700)
    with RedactorClient(cache_dir=folder) as client:
        client.redact_many(["token=load-the-rules-1"], 1)
    return folder


@pytest.fixture(scope="module")
def _world(rules: Path) -> Iterator[World]:
    # Socket paths are short; the folders pytest makes are not.
    folder = Path(tempfile.mkdtemp(prefix="wf-"))
    made = World(folder, rules)
    yield made
    made.close()
    shutil.rmtree(folder)


@pytest.fixture
def world(_world: World) -> World:
    """One world for a module, a session of its own for each test."""
    _world.anew()
    return _world


@pytest.fixture
def make_world() -> type[World]:
    return World
