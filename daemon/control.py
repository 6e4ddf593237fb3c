"""`control.sock`: what `wayfinderd` and `wayfinder open` say to a running supervisor.

| {"ask":"status"} |   →  | {"pid":…,"processes":[…]} |
| {"ask":"open"}   |   →  | {"pid":…,"processes":[…]} |   and the page's process is started
| {"ask":"stop"}   |   →  | {"pid":…,"processes":[…]} |   then the connection stays open until
                                                         the supervisor has ended
"""

from __future__ import annotations

import socket
from typing import Literal

import msgspec
from msgspec import Struct

from .child import LINE_BYTES_MAX
from .lines import Lines
from .paths import Paths
from .unixsock import dial

ANSWER_TIMEOUT_S = 5.0


class Ask(Struct, frozen=True, forbid_unknown_fields=True):
    ask: Literal["status", "stop", "open"]


class ProcessStatus(Struct, frozen=True, rename="camel"):
    """`state`: waiting starting ready backing_off stopping stopped given_up.

    `stats` are the process's own counts (queue depths and the like)."""

    name: str
    state: str
    pid: int | None
    since_ms: int
    restarts: int
    rss_bytes: int | None
    last_exit: str | None
    stats: dict[str, int]


class DaemonStatus(Struct, frozen=True, rename="camel"):
    pid: int
    version: str
    since_ms: int
    run: str
    state: str
    processes: tuple[ProcessStatus, ...]


class NotRunning(RuntimeError):
    pass


def ask_status(paths: Paths) -> DaemonStatus:
    """Raises NotRunning; TimeoutError if the supervisor hangs."""
    with _dial(paths) as caller:
        return _ask(caller, Ask("status"))


def ask_open(paths: Paths) -> DaemonStatus:
    """Has the page's process started if it is not; returns at once, perhaps before it is ready.

    Raises NotRunning, TimeoutError.
    """
    with _dial(paths) as caller:
        return _ask(caller, Ask("open"))


def ask_stop(paths: Paths, timeout_s: float) -> DaemonStatus:
    """Returns once the daemon has ended. Raises NotRunning, or TimeoutError if it does not end."""
    with _dial(paths) as caller:
        status = _ask(caller, Ask("stop"))
        caller.settimeout(timeout_s)
        while caller.recv(4096):
            pass
        return status


def _dial(paths: Paths) -> socket.socket:
    try:
        return dial(paths, "control.sock", ANSWER_TIMEOUT_S)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise NotRunning("wayfinderd is not running") from error


def _ask(caller: socket.socket, ask: Ask) -> DaemonStatus:
    caller.sendall(msgspec.json.encode(ask) + b"\n")
    lines = Lines(LINE_BYTES_MAX)
    while True:
        data = caller.recv(LINE_BYTES_MAX)
        if not data:
            raise NotRunning("wayfinderd ended before it answered")
        for line in lines.feed(data):
            return msgspec.json.decode(line, type=DaemonStatus)
