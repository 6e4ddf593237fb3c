"""kill -9 of every process in turn while a real session plays through the real sockets.

Fault model: any process of ours dies at any moment, the supervisor too (it is then started again by
hand); the disk keeps what was synced. Not here: power cuts and full disks (`test_power_cuts.py`).
Afterwards the log must be the one an undisturbed run writes: no gap, no duplicate, no half batch,
and the same two digests. WAYFINDER_SOAK=1 runs the long version.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec import Struct

from wayfinder.clients.demo.feed import Feed, Frame
from wayfinder.clients.demo.own_daemon import OwnDaemon
from wayfinder.clients.demo.recording import Recording, load
from wayfinder.daemon.control import NotRunning, ask_status
from wayfinder.daemon.eventlog.reader import Reader
from wayfinder.reducer.net.digest import net_digest
from wayfinder.reducer.session.fold import replay
from wayfinder.reducer.session.state import episodes_digest

BASE_MS = 1_800_000_000_000
INSTANCE = "00000000-0000-4000-8000-000000000001"
PATIENCE_S = 90.0
SPEED = 20.0
# Where a segment is cut depends on when it was asked for; what it says does not.
CUTS = {"stream.advanced"}


def own_daemon() -> OwnDaemon:
    """References are keyed per installation; runs that are compared share the key."""
    folder = Path(tempfile.mkdtemp(prefix="wf-"))
    (folder / "state").mkdir(mode=0o700)
    key = folder / "state" / "reference.key"
    key.touch(0o600)
    key.write_bytes(b"k" * 32)
    return OwnDaemon(folder)


class Log(Struct, frozen=True):
    """What a run must leave behind, however often it was disturbed."""

    net: str
    episodes: str
    position: int
    kinds: Counter[str]
    answers: dict[str, Any]


class Run:
    """One session played through one daemon, with kills on the way."""

    def __init__(self, daemon: OwnDaemon, recording: Recording) -> None:
        self.daemon = daemon
        self.recording = recording
        self.kills = 0

    def play(self, kill_at: dict[int, str]) -> Log:
        def on_sent(frame: Frame) -> None:
            victim = kill_at.get(frame["seq"])
            if victim is not None:
                self.kill(victim)

        feed = Feed(self.daemon.sock, self.recording, base_ms=BASE_MS, speed=SPEED,
                    on_sent=on_sent, instance=INSTANCE, patience_s=PATIENCE_S)  # fmt: skip
        fed = feed.play()
        self.until_committed()
        return self.log(fed.answers)

    def kill(self, name: str) -> None:
        """A process that is just being started again cannot be killed once more."""
        paths = self.daemon.paths
        with contextlib.suppress(NotRunning, ProcessLookupError):
            pids = {p.name: p.pid for p in ask_status(paths).processes}
            if (pid := pids.get(name)) is None:
                return
            os.kill(pid, signal.SIGKILL)
            self.kills += 1
        if name == "supervisor":
            self.daemon.stop()
            self.daemon.start()

    def until_committed(self) -> None:
        """The last observation in the adapter's spool is in the log."""
        give_up = time.monotonic() + PATIENCE_S
        spool = apsw.Connection(
            str(self.daemon.paths.state / "spool.db"), flags=apsw.SQLITE_OPEN_READONLY
        )
        wanted = spool.execute("SELECT max(last_position) FROM sessions").get
        spool.close()
        with contextlib.closing(Reader.open(self.daemon.paths.database)) as reader:
            while reader.stream(self.recording.session_id)[0] < wanted:
                assert time.monotonic() < give_up, "the stream was not committed in time"
                time.sleep(0.02)  # polling another process's file: there is nothing to wait on

    def log(self, answers: dict[str, Any]) -> Log:
        with contextlib.closing(Reader.open(self.daemon.paths.database)) as reader:
            assert reader.check() == []
            events = list(reader.events(self.recording.session_id))
        session = replay(events, self.recording.session_id, verify=True)
        assert len({event.event_id for event in events}) == len(events)
        kinds = Counter(event.kind for event in events if event.kind not in CUTS)
        return Log(
            net_digest(session.net), episodes_digest(session), session.stream_position, kinds,
            {call: answer["status"] for call, answer in answers.items()},
        )  # fmt: skip


@pytest.fixture(scope="module")
def story() -> Recording:
    return load()


@pytest.fixture(scope="module")
def undisturbed(story: Recording) -> Log:
    with own_daemon() as daemon:
        log = Run(daemon, story).play({})
    assert log.position > 25
    assert log.kinds["patch.committed"] == 5
    return log


VICTIMS = ("reconciler", "segmenter", "adapter", "viewer", "supervisor")


@pytest.mark.parametrize("victim", VICTIMS)
def test_a_killed_process_changes_nothing(victim: str, story: Recording, undisturbed: Log) -> None:
    """Killed four times while the session plays, each process leaves the log as if never killed."""
    with own_daemon() as daemon:
        run = Run(daemon, story)
        log = run.play(dict.fromkeys((10, 25, 42, 60), victim))
    assert run.kills >= 3
    assert log == undisturbed


@pytest.mark.soak
def test_many_kills_change_nothing(story: Recording, undisturbed: Log) -> None:
    """Two hundred kills of whatever process, at whatever frame: still the same log."""
    seed = int(os.environ.get("WAYFINDER_SEED", time.time_ns() % 1_000_000))
    dice = random.Random(seed)
    kills = 0
    while kills < 200:
        chosen = {at: dice.choice(VICTIMS) for at in dice.sample(range(2, 75), 12)}
        with own_daemon() as daemon:
            run = Run(daemon, story)
            log = run.play(chosen)
            kills += run.kills
        assert log == undisturbed, f"WAYFINDER_SEED={seed}: {chosen}"
