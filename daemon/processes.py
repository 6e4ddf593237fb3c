"""The processes that the supervisor runs, how one is started, and how long to wait after a death.

Modules are named, never imported: nothing in `daemon` may import a leaf.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from .child import Birth
from .paths import Paths
from .settings import BadSetting, Settings, SupervisorSettings, value_of


class Process(Struct, frozen=True):
    """One row. It is first started when `after` is ready; `vital`: without it there is no point
    in going on, so if it cannot be kept alive the supervisor ends, for its own manager to act.
    `on_demand`: started when somebody asks for it, and left in peace when it ends by itself.
    `only_if`: a setting that must be set. `secret_in`: a setting that names the one variable of
    our environment which this process alone may see."""

    name: str
    module: str
    after: str | None = None
    vital: bool = False
    on_demand: bool = False
    only_if: str | None = None
    secret_in: str | None = None

    def secret(self, settings: Settings) -> str | None:
        return None if self.secret_in is None else str(value_of(settings, self.secret_in))

    def wanted(self, settings: Settings) -> bool:
        """Whether it is to run without anybody asking."""
        allowed = self.only_if is None or bool(value_of(settings, self.only_if))
        return allowed and not self.on_demand


PROCESSES: Final = (
    Process("reconciler", "wayfinder.daemon.reconciler", vital=True),
    Process("viewer", "wayfinder.daemon.viewer", after="reconciler"),
    Process("adapter", "wayfinder.adapters", after="reconciler"),
    Process("segmenter", "wayfinder.adapters.segmenter", after="reconciler"),
    Process(
        "observer",
        "wayfinder.observer",
        after="viewer",
        only_if="observer.model",
        secret_in="observer.api_key_env",
    ),
    Process("web", "wayfinder.clients.web", after="viewer", on_demand=True),
)

# What a child sees of our environment. Agents' and shells' variables, secrets among them, stay out.
ENVIRONMENT: Final = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SYSTEMROOT",
})  # fmt: skip
ENVIRONMENT_PREFIXES: Final = ("WAYFINDER_", "LC_", "XDG_")


def chosen(names: tuple[str, ...]) -> tuple[Process, ...]:
    """The processes to run; all if none is named. Raises BadSetting for a name nobody knows."""
    known = {process.name: process for process in PROCESSES}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BadSetting(f"unknown process {unknown[0]!r}; known: {', '.join(known)}")
    return tuple(p for p in PROCESSES if not names or p.name in names)


def child_environment(
    environ: Mapping[str, str] = os.environ, *, secret: str | None = None
) -> dict[str, str]:
    """`secret`: the one variable beside the harmless ones that this child is given."""
    kept = {
        name: value
        for name, value in environ.items()
        if name == secret
        or name in ENVIRONMENT
        or (name.startswith(ENVIRONMENT_PREFIXES) and not name.endswith("_KEY"))
    }
    return kept | {"PYTHONUTF8": "1"}


class Running(Struct):
    """A living child: its process and our two ends of its pipes."""

    popen: subprocess.Popen[bytes]
    orders: int
    reports: int

    def tell(self, line: bytes) -> None:
        """Best effort: a child that does not read is found by its missing answers."""
        try:
            os.write(self.orders, line)
        except OSError:
            return

    def close(self) -> None:
        os.close(self.orders)
        os.close(self.reports)


def start(process: Process, paths: Paths, key: str, settings: Settings) -> Running:
    """Spawns it and writes its first line.

    `-P` keeps the current folder off the import path. A session of its own: a Ctrl-C in the
    terminal reaches the supervisor alone, which then stops the others in order.
    """
    orders_read, orders_write = os.pipe()
    reports_read, reports_write = os.pipe()
    stderr = os.open(
        paths.logs / f"{process.name}.stderr",
        os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC,
        0o600,
    )
    try:
        popen = subprocess.Popen(
            [sys.executable, "-P", "-m", process.module],
            stdin=orders_read,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            pass_fds=(reports_write,),
            start_new_session=True,
            cwd=paths.state,
            env=child_environment(secret=process.secret(settings)),
            umask=0o077,
        )
    finally:
        for fd in (orders_read, reports_write, stderr):
            os.close(fd)
    birth = Birth(
        process=process.name,
        run=str(paths.run),
        state=str(paths.state),
        config=str(paths.config),
        key=key,
        report=reports_write,
    )
    running = Running(popen, orders_write, reports_read)
    os.set_blocking(orders_write, False)
    os.set_blocking(reports_read, False)
    running.tell(msgspec.json.encode(birth) + b"\n")
    return running


class Backoff:
    """How long to wait before the next start: doubling, forgiven after a stable life."""

    def __init__(self, settings: SupervisorSettings) -> None:
        self._settings = settings
        self.failures = 0

    def died(self, lived_ms: int) -> int | None:
        """Milliseconds to wait; None once the limit of unstable lives in a row is reached."""
        settings = self._settings
        self.failures = 1 if lived_ms >= settings.stable_after_ms else self.failures + 1
        if self.failures > settings.restart_limit:
            return None
        # The exponent is bounded first, so that no limit can make a huge number.
        doubled = settings.backoff_ms_min << min(self.failures - 1, 20)
        return min(doubled, settings.backoff_ms_max)


def resident_bytes(pid: int) -> int | None:
    """RSS of a process, or None if it is gone."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_bytes().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except FileNotFoundError:
        pass
    if sys.platform.startswith("linux"):
        return None
    import psutil

    try:
        return psutil.Process(pid).memory_info().rss
    except psutil.Error:
        return None
