"""`wayfinderd` with its real children: starts, refusals, deaths, and what is left afterwards."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfinder.daemon.control import DaemonStatus, NotRunning, ask_status, ask_stop
from wayfinder.daemon.lock import holder
from wayfinder.daemon.paths import Paths
from wayfinder.daemon.processes import Backoff, chosen
from wayfinder.daemon.settings import BadSetting, SupervisorSettings

PATIENCE_S = 60.0  # only turns a hang into a failure


class Daemon:
    """The command line of one throw-away daemon."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.environ = {
            **os.environ,
            "WAYFINDER_RUN_DIR": str(paths.run),
            "WAYFINDER_STATE_DIR": str(paths.state),
            "WAYFINDER_CONFIG_DIR": str(paths.config),
            "WAYFINDER_SUPERVISOR_PROCESSES": "reconciler,segmenter",
            "WAYFINDER_SUPERVISOR_BACKOFF_MS_MIN": "10",
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-m", "wayfinder.daemon", *arguments]
        return subprocess.run(
            command, env=self.environ, capture_output=True, text=True, timeout=PATIENCE_S
        )

    def start(self) -> DaemonStatus:
        done = self.run()
        assert done.returncode == 0, done.stderr + self.log()
        return self.status()

    def status(self) -> DaemonStatus:
        return ask_status(self.paths)

    def pids(self) -> dict[str, int]:
        return {p.name: p.pid for p in self.status().processes if p.pid}

    def until(self, done: Callable[[DaemonStatus], object]) -> DaemonStatus:
        give_up = time.monotonic() + PATIENCE_S
        while time.monotonic() < give_up:
            status = self.status()
            if done(status):
                return status
        raise AssertionError(f"it did not happen: {self.status()} {self.log()}")

    def log(self) -> str:
        files = sorted(self.paths.logs.glob("supervisor.*.jsonl"))
        return "".join(file.read_text() for file in files)


@pytest.fixture
def daemon(paths: Paths) -> Iterator[Daemon]:
    made = Daemon(paths)
    yield made
    try:
        ask_stop(paths, PATIENCE_S)
    except (NotRunning, TimeoutError):
        pid = holder(paths.lock)
        if pid:
            os.kill(pid, signal.SIGKILL)


def gone(pids: dict[str, int]) -> None:
    """Waits until none of them is left."""
    left = [psutil.Process(pid) for pid in pids.values() if psutil.pid_exists(pid)]
    _, alive = psutil.wait_procs(left, timeout=PATIENCE_S)
    assert [p for p in alive if p.status() != psutil.STATUS_ZOMBIE] == []


def test_it_starts_says_so_and_stops(daemon: Daemon) -> None:
    """One command starts it and returns when it is ready; another ends it; nothing is left."""
    status = daemon.start()
    assert {p.name: p.state for p in status.processes} == dict.fromkeys(
        ("supervisor", "reconciler", "segmenter"), "ready"
    )
    assert all(p.rss_bytes for p in status.processes)
    pids = daemon.pids()
    shown = daemon.run("status").stdout
    assert all(f" {pid} " in shown for pid in pids.values())
    as_json = msgspec.json.decode(daemon.run("status", "--json").stdout)
    assert as_json["running"] is True and as_json["pid"] == status.pid
    stopped = daemon.run("stop")
    assert (stopped.returncode, str(status.pid) in stopped.stdout) == (0, True)
    gone(pids)
    assert holder(daemon.paths.lock) is None
    assert {p.name for p in daemon.paths.run.iterdir()} == {"wayfinderd.lock"}
    assert daemon.run("status").returncode == 3
    assert daemon.run("status", "--json").stdout.strip() == '{"running":false}'
    assert daemon.run("stop").returncode == 3


def test_a_second_start_is_refused(daemon: Daemon) -> None:
    """Started again it says that it runs already, and the first one is unharmed."""
    pids = daemon.start() and daemon.pids()
    again = daemon.run()
    assert (again.returncode, again.stdout) == (
        0, f"wayfinderd is already running (process {pids['supervisor']})\n",
    )  # fmt: skip
    foreground = daemon.run("--foreground")
    assert foreground.returncode == 1 and "already running" in foreground.stderr
    assert daemon.pids() == pids


def test_a_killed_child_is_started_again(daemon: Daemon) -> None:
    """A child that dies comes back with another pid; what ended it is told; the others stay."""
    before = daemon.start() and daemon.pids()
    for name in ("reconciler", "segmenter"):
        os.kill(before[name], signal.SIGKILL)

    def back(status: DaemonStatus) -> bool:
        table = {p.name: p for p in status.processes}
        return all(
            table[name].state == "ready" and table[name].restarts == 1
            for name in ("reconciler", "segmenter")
        )

    status = daemon.until(back)
    table = {p.name: p for p in status.processes}
    assert table["reconciler"].last_exit == "signal SIGKILL"
    after = daemon.pids()
    assert after["supervisor"] == before["supervisor"]
    assert after["reconciler"] != before["reconciler"]


def test_sigterm_ends_it_in_order(daemon: Daemon) -> None:
    """SIGTERM stops the children before the supervisor ends, with exit code 0."""
    command = [sys.executable, "-P", "-m", "wayfinder.daemon", "--foreground"]
    read, write = os.pipe()
    process = subprocess.Popen(
        [*command, f"--ready-fd={write}"], env=daemon.environ, pass_fds=(write,)
    )
    os.close(write)
    assert os.read(read, 100) == b"all processes ready\n"
    os.close(read)
    pids = daemon.pids()
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE_S) == 0
    gone(pids)
    assert '"why": "SIGTERM"' in daemon.log()
    assert not daemon.paths.socket("control.sock").exists()


def test_a_killed_supervisor_leaves_no_orphan_and_no_stale_lock(daemon: Daemon) -> None:
    """After its kill -9 every child ends by itself, and a new one starts at once."""
    pids = daemon.start() and daemon.pids()
    os.kill(pids["supervisor"], signal.SIGKILL)
    gone(pids)
    assert holder(daemon.paths.lock) is None
    again = daemon.start() and daemon.pids()
    assert not set(again.values()) & set(pids.values())


def test_a_hung_child_is_killed_and_started_again(daemon: Daemon) -> None:
    """A child that stops answering is not waited for for ever."""
    daemon.environ |= {
        "WAYFINDER_SUPERVISOR_PING_EVERY_MS": "100",
        "WAYFINDER_SUPERVISOR_HUNG_AFTER_MS": "2000",
    }
    pids = daemon.start() and daemon.pids()
    os.kill(pids["segmenter"], signal.SIGSTOP)
    daemon.until(lambda status: any(p.restarts for p in status.processes))
    assert '"event": "killed"' in daemon.log()


def test_without_its_reconciler_it_gives_up_and_says_why(daemon: Daemon) -> None:
    """A vital child that cannot start ends the daemon after the limit, with the reason."""
    daemon.paths.database.write_text("not a database at all" * 100)
    daemon.environ["WAYFINDER_SUPERVISOR_RESTART_LIMIT"] = "2"
    done = daemon.run()
    assert done.returncode == 70
    assert "did not start" in done.stderr
    assert "is not a SQLite database" in daemon.log()
    assert holder(daemon.paths.lock) is None


def test_children_see_only_what_they_need(daemon: Daemon) -> None:
    """No variable of the user's shell reaches a child, and it runs in our own folder."""
    daemon.environ["SOME_SERVICE_VALUE"] = "private"
    pids = daemon.start() and daemon.pids()
    child = psutil.Process(pids["reconciler"])
    assert "SOME_SERVICE_VALUE" not in child.environ()
    assert child.cwd() == str(daemon.paths.state)
    assert not any("k" * 8 in argument for argument in child.cmdline())


def test_everything_it_makes_is_private_under_any_umask(daemon: Daemon) -> None:
    """Started under umask 000, folders are 0700 and files and sockets 0600."""
    before = os.umask(0)
    try:
        daemon.start()
    finally:
        os.umask(before)
    for folder in (daemon.paths.run, daemon.paths.state):
        for path in (folder, *folder.rglob("*")):
            wanted = 0o700 if path.is_dir() else 0o600
            assert stat.S_IMODE(path.lstat().st_mode) == wanted, path


def test_the_manager_hears_ready_watchdog_and_stopping(daemon: Daemon, short: Path) -> None:
    """systemd's protocol: READY once all are up, WATCHDOG while all answer, STOPPING at the end."""
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(short / "notify"))
    manager.settimeout(PATIENCE_S)
    daemon.environ |= {"NOTIFY_SOCKET": str(short / "notify"), "WATCHDOG_USEC": "300000"}
    daemon.start()
    heard: list[str] = []
    while not any(word.startswith("READY=1\nSTATUS=all processes ready") for word in heard):
        heard.append(manager.recv(200).decode())
    while "WATCHDOG=1" not in heard:
        heard.append(manager.recv(200).decode())
    daemon.run("stop")
    while heard[-1] != "STOPPING=1":
        heard.append(manager.recv(200).decode())
    manager.close()


@settings(deadline=None)
@given(st.lists(st.integers(0, 30_000), min_size=1, max_size=30))
def test_backoff_doubles_is_bounded_and_forgives(lives_ms: list[int]) -> None:
    """Short lives in a row double the wait up to the limit; one stable life starts anew."""
    settings = SupervisorSettings()
    backoff = Backoff(settings)
    for lived_ms in lives_ms:
        failures = backoff.failures
        delay_ms = backoff.died(lived_ms)
        if lived_ms >= settings.stable_after_ms:
            assert delay_ms == settings.backoff_ms_min
        elif failures + 1 > settings.restart_limit:
            assert delay_ms is None
        else:
            assert delay_ms is not None
            assert settings.backoff_ms_min <= delay_ms <= settings.backoff_ms_max


def test_an_unknown_process_is_told(daemon: Daemon) -> None:
    """A misspelt process in the settings names the known ones."""
    with pytest.raises(BadSetting, match="known: reconciler"):
        chosen(("reconcilor",))
    daemon.environ["WAYFINDER_SUPERVISOR_PROCESSES"] = "reconcilor"
    done = daemon.run()
    assert done.returncode == 70
    assert "unknown process 'reconcilor'; known: reconciler" in done.stderr
