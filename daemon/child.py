"""How a process of ours is born, stays and goes. The other half is `supervisor.py`.

The supervisor starts `python -P -m <module>` with a pipe as standard input and, for the way back,
one more descriptor. Lines of JSON:

    supervisor → child   {"process":"viewer","run":"…","state":"…","config":"…",
                          "key":"…","report":3}
                         {"ping":7}                     {"stop":true}
    child → supervisor   {"ready":true}                 {"pong":7,"stats":{"sessions":2}}
                         {"failed":"why it cannot start"}

* The first line comes once, at birth. The key never stands on a command line or in an environment.
* `ready` means: sockets are bound, whoever depends on this process may start.
* End of file on standard input means that the supervisor is dead, however it died: the child ends
  at once. All of ours are crash-only, so that is safe, and no orphan can outlive its parent.
* A test plays the supervisor by writing the same first line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from .lines import Lines
from .logs import Log
from .paths import Paths
from .settings import Loaded, load

if TYPE_CHECKING:  # a process with a loop of its own need not load ZeroMQ
    from .loop import Loop

EXIT_ORPHANED: Final = 0
EXIT_FAILED: Final = 70
EXIT_USAGE: Final = 64
LINE_BYTES_MAX: Final = 64 << 10


class Birth(Struct, frozen=True, omit_defaults=True):
    """The first line. `report` is the descriptor for the way back; None: nobody listens."""

    process: str
    run: str
    state: str
    config: str
    key: str = ""
    report: int | None = None


class Order(Struct, frozen=True, omit_defaults=True):
    """Every later line from the supervisor."""

    ping: int | None = None
    stop: bool = False


class Report(Struct, frozen=True, omit_defaults=True):
    """Every line to the supervisor."""

    ready: bool = False
    pong: int | None = None
    stats: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    failed: str = ""


class Child:
    """This process, as the supervisor knows it. `attach` it to a `Loop`; or, in a program with a
    loop of its own, call `turn` whenever `fd` can be read and set `on_stop`."""

    def __init__(self, birth: Birth, fd: int, early: bytes = b"") -> None:
        self.fd = fd
        self.process = birth.process
        self.key = birth.key
        self.paths = Paths(Path(birth.run), Path(birth.state), Path(birth.config))
        self.loaded: Loaded = load(self.paths.settings)
        self.settings = self.loaded.settings
        self.log = Log(
            self.paths.logs,
            birth.process,
            level=self.settings.log_level,
            days=self.settings.retention.logs_days,
        )
        self.stopping = False
        self.stats: Callable[[], Mapping[str, int]] = dict
        self.on_stop: Callable[[], None] = lambda: None
        self._report = birth.report
        self._lines = Lines(LINE_BYTES_MAX)
        self._early = early
        os.set_blocking(fd, False)
        if birth.report is not None:
            os.set_inheritable(birth.report, False)  # a grandchild must not keep it open

    def attach(self, loop: Loop) -> None:
        """Obeys the supervisor from inside `loop`; a stop order ends `loop.run()`."""
        self.on_stop = loop.stop
        loop.watch(self.fd, self.turn)
        self._take(self._early)  # lines that came along with the first one

    def ready(self) -> None:
        self._tell(Report(ready=True))

    def turn(self) -> None:
        """Reads what the supervisor says. Does not return if the supervisor is gone."""
        try:
            data = os.read(self.fd, LINE_BYTES_MAX)
        except BlockingIOError:
            return
        if not data:
            os._exit(EXIT_ORPHANED)
        self._take(data)

    def _take(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            self._obey(msgspec.json.decode(line, type=Order))

    def _obey(self, order: Order) -> None:
        if order.ping is not None:
            self._tell(Report(pong=order.ping, stats=dict(self.stats())))
        if order.stop:
            self.stopping = True
            self.on_stop()

    def failed(self, why: str) -> None:
        self._tell(Report(failed=why[:500]))

    def _tell(self, report: Report) -> None:
        if self._report is None:
            return
        try:
            os.write(self._report, msgspec.json.encode(report) + b"\n")
        except OSError:
            return  # the supervisor is gone; end of file on the other pipe says so too


def join_parent(fd: int = 0) -> Child:
    """Reads the first line. Exits with a word of explanation if a person started the module."""
    early = b""
    while b"\n" not in early:
        data = b"" if os.isatty(fd) else os.read(fd, LINE_BYTES_MAX)
        if not data or len(early) > LINE_BYTES_MAX:
            print("this process is started by `wayfinderd`, not by hand", file=sys.stderr)
            sys.exit(EXIT_USAGE)
        early += data
    first, _, rest = early.partition(b"\n")
    return Child(msgspec.json.decode(first, type=Birth), fd, rest)


def run_child(main: Callable[[Child], Any]) -> None:
    """The whole life of a child process: join, run, and say why on the way out if it fails."""
    child = join_parent()
    try:
        main(child)
    except Exception as error:
        child.log.error("crashed", error)
        child.failed(f"{type(error).__name__}: {error}")
        sys.exit(EXIT_FAILED)
