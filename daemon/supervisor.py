"""The supervisor: starts the others, watches them, restarts them, stops them in order.

No business logic, no ZeroMQ, no asyncio: one `selectors` loop over the children's report pipes,
`control.sock` and a signal pipe. Rules for editors of this file:

* A child's death is seen as the end of its report pipe, at once and on every system. Reading its
  exit code comes after that.
* Time decides only when to retry, to ask again and to lose patience; never whether a child lives.
* The lock is taken before anything is bound (`__main__.py`); the control socket is ours until exit.
* If we are killed, every child reads end of file on its standard input and ends: no orphans.
"""

from __future__ import annotations

import os
import secrets
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Struct

from . import processes
from .child import EXIT_FAILED, LINE_BYTES_MAX, Order, Report
from .control import Ask, DaemonStatus, ProcessStatus
from .lines import Lines, LineTooLong
from .logs import Log
from .notify import Notifier
from .paths import Paths
from .processes import Backoff, Process, Running
from .settings import Settings
from .unixsock import Connection, accept, listen

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
NEVER: Final = float("inf")


def now_ms() -> int:
    """Monotonic: a clock that is set back must not hold up a restart."""
    return time.monotonic_ns() // 1_000_000


class Watched(Struct):
    """One row of the child table, alive or not."""

    process: Process
    backoff: Backoff
    state: str = "waiting"
    running: Running | None = None
    lines: Lines = msgspec.field(default_factory=lambda: Lines(LINE_BYTES_MAX))
    since_ms: int = 0
    epoch_ms: int = 0
    restarts: int = -1
    was_ready: bool = False
    due_ms: float = NEVER  # when patience with the present state ends, or the next start
    answered_ms: int = 0
    last_exit: str | None = None
    wanted: bool = True
    stats: dict[str, int] = msgspec.field(default_factory=dict[str, int])


class Supervisor:
    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        log: Log,
        *,
        notifier: Notifier | None = None,
        on_ready: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._paths = paths
        self._settings = settings.supervisor
        self._all_settings = settings
        self._log = log
        self._notifier = notifier or Notifier()
        self._on_ready: Callable[[str], None] | None = on_ready
        self._key = secrets.token_hex(32)
        self._children = {
            process.name: Watched(process, Backoff(self._settings), wanted=process.wanted(settings))
            for process in processes.chosen(self._settings.processes)
        }
        self._selector = selectors.DefaultSelector()
        self._connections: set[Connection] = set()
        self._started_epoch_ms = time.time_ns() // 1_000_000
        self._ping = 0
        self._ping_due_ms = now_ms() + self._settings.ping_every_ms
        self._stopping = False
        self._exit_code = 0

    # --- life -------------------------------------------------------------------------------

    def run(self) -> int:
        """Until stopped; returns the exit code."""
        self._watch_signals()
        listener = listen(self._paths, "control.sock")
        self._watch(listener.fileno(), lambda: self._accept(listener))
        self._log.info("started", run=str(self._paths.run), state=str(self._paths.state))
        try:
            while not self._finished():
                self._round()
        finally:
            self._paths.socket("control.sock").unlink(missing_ok=True)
            listener.close()
            self._log.info("stopped", code=self._exit_code)
        return self._exit_code

    def stop(self, why: str) -> None:
        if not self._stopping:
            self._log.info("stopping", why=why)
            self._notifier.send(STOPPING="1")
            self._stopping = True

    def _round(self) -> None:
        self._start_what_may_start()
        self._stop_what_must_stop()
        for key, _ in self._selector.select(self._wait_s()):
            key.data()
        self._lose_patience()
        self._ping_all()

    def _finished(self) -> bool:
        return self._stopping and not any(child.running for child in self._children.values())

    def _wait_s(self) -> float:
        due = min([self._ping_due_ms, *(child.due_ms for child in self._children.values())])
        return max(0.0, (due - now_ms()) / 1000)

    def _watch_signals(self) -> None:
        read, write = os.pipe()
        for fd in (read, write):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(write)
        for number in SIGNALS:
            signal.signal(number, _leave_it_to_the_pipe)

        def woken() -> None:
            for number in os.read(read, 64):
                if number in SIGNALS:
                    self.stop(signal.Signals(number).name)

        self._watch(read, woken)

    def _watch(self, fd: int, callback: Callable[[], None]) -> None:
        self._selector.register(fd, selectors.EVENT_READ, callback)

    # --- starting ---------------------------------------------------------------------------

    def _start_what_may_start(self) -> None:
        if self._stopping:
            return
        for child in self._children.values():
            if not child.wanted:
                continue
            before = self._before(child)
            first = child.state == "waiting" and (before is None or before.was_ready)
            again = child.state == "backing_off" and child.due_ms <= now_ms()
            if first or again:
                self._start(child)

    def _before(self, child: Watched) -> Watched | None:
        return self._children.get(child.process.after or "")

    def _start(self, child: Watched) -> None:
        child.running = processes.start(child.process, self._paths, self._key, self._all_settings)
        child.lines = Lines(LINE_BYTES_MAX)
        child.restarts += 1
        child.stats = {}
        self._enter(child, "starting", self._settings.start_timeout_ms)
        self._watch(child.running.reports, lambda: self._hear(child))

    def _enter(self, child: Watched, state: str, patience_ms: float = NEVER) -> None:
        child.state = state
        child.since_ms = now_ms()
        child.epoch_ms = time.time_ns() // 1_000_000
        child.due_ms = child.since_ms + patience_ms

    def _hear(self, child: Watched) -> None:
        assert child.running is not None, "only running children are watched"
        try:
            data = os.read(child.running.reports, LINE_BYTES_MAX)
        except BlockingIOError:
            return
        if not data:
            self._bury(child)
            return
        for line in child.lines.feed(data):
            self._understand(child, msgspec.json.decode(line, type=Report))

    def _understand(self, child: Watched, report: Report) -> None:
        if report.failed:
            child.last_exit = report.failed
        if report.pong is not None:
            child.answered_ms = now_ms()
            child.stats = report.stats
        if report.ready and child.state == "starting":
            child.was_ready = True
            child.answered_ms = now_ms()
            self._enter(child, "ready")
            assert child.running is not None
            self._log.info("ready", child=child.process.name, child_pid=child.running.popen.pid)
            self._announce()

    def _announce(self) -> None:
        """Once everything is up, or has been given up: tell whoever started us."""
        if self._on_ready is None or self._stopping:
            return
        if not all(map(self._settled, self._children.values())):
            return
        wanted = [child for child in self._children.values() if child.wanted]
        down = [child.process.name for child in wanted if not child.was_ready]
        status = f"without {', '.join(down)}" if down else "all processes ready"
        self._notifier.send(READY="1", STATUS=status)
        self._on_ready(status)
        self._on_ready = None

    def _settled(self, child: Watched) -> bool:
        """It has come up once, or will not: it, or one that it waits for, has been given up."""
        if child.was_ready or child.state == "given_up" or not child.wanted:
            return True
        before = self._before(child)
        return before is not None and not before.was_ready and self._settled(before)

    # --- deaths -----------------------------------------------------------------------------

    def _bury(self, child: Watched) -> None:
        """Its report pipe has ended: it is dead, or as good as dead."""
        assert child.running is not None
        running, child.running = child.running, None
        self._selector.unregister(running.reports)
        running.close()
        try:
            code = running.popen.wait(timeout=1)
        except subprocess.TimeoutExpired:
            running.popen.kill()
            code = running.popen.wait()
        said = f": {child.last_exit}" if child.last_exit and code == EXIT_FAILED else ""
        child.last_exit = _exit_text(code) + said
        if self._stopping:
            self._enter(child, "stopped")
            return
        if child.process.on_demand and code == 0:
            child.wanted = False
            self._enter(child, "waiting")
            return
        lived_ms = now_ms() - child.since_ms if child.state == "ready" else 0
        self._plan_restart(child, lived_ms)

    def _plan_restart(self, child: Watched, lived_ms: int) -> None:
        delay_ms = child.backoff.died(lived_ms)
        name = child.process.name
        if delay_ms is not None:
            self._enter(child, "backing_off", delay_ms)
            self._log.warning("died", child=name, exit=child.last_exit, again_in_ms=delay_ms)
            return
        self._enter(child, "given_up")
        self._log.error("given_up", child=name, exit=child.last_exit, lives=child.restarts + 1)
        if child.process.vital:
            self._exit_code = EXIT_FAILED
            self.stop(f"{name} cannot be kept alive: {child.last_exit}")
        self._announce()

    def _stop_what_must_stop(self) -> None:
        """In reverse order of starting, one at a time: nobody loses the one it talks to first."""
        if not self._stopping:
            return
        for child in reversed(self._children.values()):
            if child.running is None:
                continue
            if child.state != "stopping":
                self._enter(child, "stopping", self._settings.stop_grace_ms)
                child.running.tell(msgspec.json.encode(Order(stop=True)) + b"\n")
            return

    def _lose_patience(self) -> None:
        for child in self._children.values():
            running = child.running
            if running is None:
                continue
            silent_ms = now_ms() - child.answered_ms if child.state == "ready" else 0
            if child.due_ms <= now_ms() or silent_ms > self._settings.hung_after_ms:
                self._log.warning("killed", child=child.process.name, while_=child.state)
                child.due_ms = NEVER
                child.answered_ms = now_ms()
                running.popen.kill()  # its pipe ends, and `_bury` does the rest

    def _ping_all(self) -> None:
        """Asks everybody; the manager's watchdog is fed only if everybody has answered lately."""
        now = now_ms()
        if now < self._ping_due_ms:
            return
        self._ping += 1
        every_ms = self._settings.ping_every_ms
        self._ping_due_ms = now + min(every_ms, (self._notifier.watchdog_ms or every_ms * 3) // 3)
        ready = [child for child in self._children.values() if child.state == "ready"]
        for child in ready:
            assert child.running is not None
            child.running.tell(msgspec.json.encode(Order(ping=self._ping)) + b"\n")
        if all(now - child.answered_ms <= every_ms * 3 for child in ready):
            self._notifier.send(WATCHDOG="1")

    # --- control.sock -----------------------------------------------------------------------

    def _accept(self, listener: socket.socket) -> None:
        while (connection := accept(listener)) is not None:
            self._connections.add(connection)
            self._watch(connection.fileno(), lambda c=connection: self._answer(c))

    def _answer(self, connection: Connection) -> None:
        try:
            for line in connection.receive():
                ask = msgspec.json.decode(line, type=Ask)
                if ask.ask == "stop":
                    self.stop(f"asked by process {connection.peer.pid}")
                elif ask.ask == "open":
                    self._want_on_demand()
                connection.send(msgspec.json.encode(self.status()))
        except (LineTooLong, msgspec.MsgspecError):
            connection.send(
                b'{"error":"expected {\\"ask\\":\\"status\\"}, \\"open\\" or \\"stop\\""}'
            )
            connection.closed = True
        if connection.closed:
            self._selector.unregister(connection.fileno())
            connection.close()
            self._connections.discard(connection)

    def _want_on_demand(self) -> None:
        """What was given up gets another chance: a person asks for it."""
        for child in self._children.values():
            if child.process.on_demand:
                child.wanted = True
                if child.state == "given_up":
                    child.backoff.failures = 0
                    self._enter(child, "waiting")

    def status(self) -> DaemonStatus:
        from importlib.metadata import version  # slow to import, and asked for by people only

        us = ProcessStatus(
            name="supervisor",
            state="stopping" if self._stopping else "ready",
            pid=os.getpid(),
            since_ms=self._started_epoch_ms,
            restarts=0,
            rss_bytes=processes.resident_bytes(os.getpid()),
            last_exit=None,
            stats={},
        )
        return DaemonStatus(
            pid=os.getpid(),
            version=version("wayfinderd"),
            since_ms=self._started_epoch_ms,
            run=str(self._paths.run),
            state=str(self._paths.state),
            processes=(us, *map(_status_of, self._children.values())),
        )


def _status_of(child: Watched) -> ProcessStatus:
    pid = child.running.popen.pid if child.running else None
    return ProcessStatus(
        name=child.process.name,
        state=child.state,
        pid=pid,
        since_ms=child.epoch_ms,
        restarts=max(child.restarts, 0),
        rss_bytes=processes.resident_bytes(pid) if pid else None,
        last_exit=child.last_exit,
        stats=child.stats,
    )


def _leave_it_to_the_pipe(_number: int, _frame: object) -> None:
    """A handler must exist for the wake-up pipe to carry the news; it has nothing to do."""


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    return f"signal {signal.Signals(-code).name}"
