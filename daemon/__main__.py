"""`wayfinderd`: start, status, stop. argparse and no heavy import, so that it answers at once."""

from __future__ import annotations

import argparse
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from .child import EXIT_FAILED
from .control import DaemonStatus, NotRunning, ProcessStatus, ask_status, ask_stop
from .lock import Held, Lock, holder
from .paths import Paths, UnsafePath, prepare, resolve
from .processes import chosen
from .settings import BadSetting, load

EXIT_ALREADY_RUNNING: Final = 1
EXIT_NOT_RUNNING: Final = 3  # what init scripts and systemctl say for "not running"
START_PATIENCE_S: Final = 30.0
STOP_PATIENCE_S: Final = 30.0


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        return options.run(resolve(), options)
    except (UnsafePath, BadSetting) as error:
        print(f"wayfinderd: {error}", file=sys.stderr)
        return EXIT_FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wayfinderd",
        description="Run the Wayfinder daemon. Without a command: start it, in the background.",
    )
    parser.add_argument("--foreground", action="store_true", help="stay; for systemd and launchd")
    parser.add_argument("--ready-fd", type=int, help=argparse.SUPPRESS)
    parser.set_defaults(run=_start)
    commands = parser.add_subparsers(title="commands", metavar="")
    status = commands.add_parser("status", help="its processes: pid, age, restarts, memory, queues")
    status.add_argument("--json", action="store_true", dest="as_json")
    status.set_defaults(run=_status)
    stop = commands.add_parser("stop", help="end it and wait until it has ended")
    stop.set_defaults(run=_stop)
    service = commands.add_parser("install-service", help="run it as your own service, from now on")
    service.add_argument("--remove", action="store_true", help="stop it and take it out again")
    service.set_defaults(run=_install_service)
    return parser


def _start(paths: Paths, options: argparse.Namespace) -> int:
    prepare(paths)
    chosen(load(paths.settings).settings.supervisor.processes)  # told here, not in a log
    if options.foreground:
        return _supervise(paths, options.ready_fd)
    running = holder(paths.lock)
    if running is not None:
        print(f"wayfinderd is already running (process {running})")
        return 0
    return _start_in_background()


def _supervise(paths: Paths, ready_fd: int | None) -> int:
    from .logs import Log
    from .supervisor import Supervisor

    def tell(what: str) -> None:
        if ready_fd is not None:
            os.write(ready_fd, what.encode() + b"\n")
            os.close(ready_fd)

    try:
        lock = Lock(paths.lock)
    except Held as held:
        print(f"wayfinderd is already running (process {held.pid})", file=sys.stderr)
        return EXIT_ALREADY_RUNNING
    settings = load(paths.settings).settings
    log = Log(paths.logs, "supervisor", level=settings.log_level, days=settings.retention.logs_days)
    try:
        return Supervisor(paths, settings, log, on_ready=tell).run()
    finally:
        lock.release()


def _start_in_background() -> int:
    """Spawns ourselves with --foreground, detached, and waits for its word that it is ready."""
    read, write = os.pipe()
    command = [sys.executable, "-P", "-m", "wayfinder.daemon", "--foreground"]
    daemon = subprocess.Popen(
        [*command, f"--ready-fd={write}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(write,),
        start_new_session=True,
    )
    os.close(write)
    readable, _, _ = select.select([read], [], [], START_PATIENCE_S)
    said = os.read(read, 500).decode().strip() if readable else ""
    os.close(read)
    if said:
        print(f"wayfinderd is running (process {daemon.pid}, {said})")
        return 0
    where = resolve().logs
    if not readable:
        print(f"wayfinderd is still starting (process {daemon.pid}); see {where}", file=sys.stderr)
        return 0
    code = daemon.wait()  # its end of the pipe was closed without a word: it has failed
    print(f"wayfinderd did not start (exit code {code}); see {where}", file=sys.stderr)
    return EXIT_FAILED


def _status(paths: Paths, options: argparse.Namespace) -> int:
    try:
        status = ask_status(paths)
    except NotRunning as error:
        print('{"running":false}' if options.as_json else str(error))
        return EXIT_NOT_RUNNING
    except TimeoutError:
        print("wayfinderd does not answer; its processes may be stopped", file=sys.stderr)
        return EXIT_FAILED
    if options.as_json:
        print(msgspec.json.encode({"running": True, **msgspec.to_builtins(status)}).decode())
    else:
        print(render(status, time.time()))
    return 0


def _stop(paths: Paths, _: argparse.Namespace) -> int:
    try:
        status = ask_stop(paths, STOP_PATIENCE_S)
    except NotRunning as error:
        print(error)
        return EXIT_NOT_RUNNING
    except TimeoutError:
        print(f"wayfinderd has not ended within {STOP_PATIENCE_S:.0f} s", file=sys.stderr)
        return EXIT_FAILED
    print(f"wayfinderd has ended (was process {status.pid})")
    return 0


def _install_service(_: Paths, options: argparse.Namespace) -> int:
    from .service import install, manager, remove

    print((remove if options.remove else install)(manager()))
    return 0


def render(status: DaemonStatus, now_s: float) -> str:
    """The status for people: one line per process."""
    rows = [("PROCESS", "PID", "STATE", "FOR", "RESTARTS", "MEMORY", "")]
    rows += [_row(process, now_s) for process in status.processes]
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[6]])
        for row in rows
    ]
    since = datetime.fromtimestamp(status.since_ms / 1000).strftime("%Y-%m-%d %H:%M:%S")
    head = f"wayfinderd {status.version}, process {status.pid}, since {since}"
    return "\n".join([head, *(line.rstrip() for line in lines), f"sockets {status.run}",
                      f"state   {status.state}"])  # fmt: skip


def _row(process: ProcessStatus, now_s: float) -> tuple[str, ...]:
    notes = [f"{name} {count}" for name, count in process.stats.items()]
    if process.last_exit:
        notes.append(f"last ended by {process.last_exit}")
    return (
        process.name,
        str(process.pid or "-"),
        process.state.replace("_", " "),
        _age(now_s - process.since_ms / 1000) if process.since_ms else "-",
        str(process.restarts),
        f"{process.rss_bytes / 2**20:.0f} MiB" if process.rss_bytes else "-",
        ", ".join(notes),
    )


def _age(seconds: float) -> str:
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole} s"
    if whole < 7_200:
        return f"{whole // 60} min"
    return f"{whole // 3600} h" if whole < 172_800 else f"{whole // 86_400} d"


if __name__ == "__main__":
    sys.exit(main())
