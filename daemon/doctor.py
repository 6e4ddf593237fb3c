"""`wayfinder doctor`: look at everything, change nothing, say what is wrong in plain words.

One check is one function in `CHECKS`; each yields findings and may fail without taking the others
along. `drill` also rehearses a restore: copy the log while it is in use, open the copy, fold every
session again, compare the digests (after Litestream's restore drill).
"""

from __future__ import annotations

import os
import platform
import shutil
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final

import apsw
import zmq
from msgspec import Struct

from ..reducer.net.digest import net_digest
from ..reducer.session.fold import FoldError, replay
from ..reducer.session.state import episodes_digest
from ..reducer.vocabulary.terms import Coverage
from .bus import SOCKETS
from .control import NotRunning, ask_status
from .eventlog.connection import LogUnavailable, NoLog
from .eventlog.order import OutOfOrder
from .eventlog.reader import Reader
from .paths import Paths, UnsafePath, open_private
from .settings import BadSetting, load

FREE_BYTES_LOW: Final = 200 << 20
REASONS_SHOWN_MAX: Final = 10
PLAIN_SOCKETS: Final = ("agent.sock", "human.sock", "control.sock")


class Health(StrEnum):
    OK = "ok"
    NOTE = "note"
    BAD = "bad"


class Finding(Struct, frozen=True):
    """`what` names the check; `says` is one sentence; a BAD one says what to do."""

    what: str
    health: Health
    says: str


def examine(paths: Paths, *, drill: bool = False) -> Iterator[Finding]:
    """Findings as they come, so that a person sees progress."""
    checks = {**CHECKS, **({"restore drill": _restore_drill} if drill else {})}
    for what, check in checks.items():
        try:
            for health, says in check(paths):
                yield Finding(what, health, says)
        except NoLog:
            yield Finding(what, Health.NOTE, "nothing has been recorded yet")
        except (LogUnavailable, OutOfOrder, FoldError, UnsafePath, OSError, apsw.Error) as error:
            yield Finding(what, Health.BAD, str(error))


Says = Iterator[tuple[Health, str]]


def _versions(_: Paths) -> Says:
    from importlib.metadata import version

    yield (
        Health.OK,
        (
            f"wayfinder {version('wayfinderd')}, Python {platform.python_version()}, "
            f"SQLite {apsw.sqlite_lib_version()}, ZeroMQ {zmq.zmq_version()}, {sys.platform}"
        ),
    )


def _settings(paths: Paths) -> Says:
    try:
        loaded = load(paths.settings)
    except BadSetting as error:
        yield Health.BAD, str(error)
        return
    changed = [
        f"{name} ({source})" for name, source in loaded.sources.items() if source != "default"
    ]
    yield Health.OK, f"changed from the default: {', '.join(changed) or 'nothing'}"


def _folders(paths: Paths) -> Says:
    for name, folder in (("run", paths.run), ("state", paths.state)):
        if not folder.exists():
            yield Health.NOTE, f"the {name} folder does not exist yet: {folder}"
            continue
        os.close(open_private(folder))
        yield Health.OK, f"the {name} folder is yours alone: {folder}"


def _disk(paths: Paths) -> Says:
    folder = paths.state if paths.state.exists() else paths.state.parent
    if not folder.exists():
        return
    free = shutil.disk_usage(folder).free
    used = sum(f.stat().st_size for f in paths.state.rglob("*") if f.is_file())
    health = Health.OK if free > FREE_BYTES_LOW else Health.BAD
    advice = "" if health is Health.OK else "; make room, or `wayfinder purge --age DAYS`"
    yield health, f"{used >> 10} KiB used, {free >> 20} MiB free{advice}"


def _daemon(paths: Paths) -> Says:
    try:
        status = ask_status(paths)
    except NotRunning:
        yield Health.NOTE, "wayfinderd is not running; agents work on unobserved (`wayfinderd`)"
        return
    except TimeoutError:
        yield Health.BAD, "wayfinderd does not answer; `wayfinderd stop`, then start it again"
        return
    yield Health.OK, f"wayfinderd {status.version} runs as process {status.pid}"
    for process in status.processes:
        health = Health.OK if process.state == "ready" else Health.BAD
        restarts = f", restarted {process.restarts} times" if process.restarts else ""
        counts = ", ".join(f"{name} {count}" for name, count in process.stats.items())
        yield health, f"{process.name} is {process.state}{restarts}{': ' * bool(counts)}{counts}"


def _sockets(paths: Paths) -> Says:
    for name in (*SOCKETS, *PLAIN_SOCKETS):
        path = paths.socket(name)
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            continue
        if not stat.S_ISSOCK(mode):
            yield Health.BAD, f"{path} is no socket; please look at it"
        elif stat.S_IMODE(mode) & 0o077:
            yield Health.BAD, f"{path} has mode {stat.S_IMODE(mode):o}; expected 600"


def _file(paths: Paths) -> Says:
    reader = Reader.open(paths.database)
    try:
        found = reader.check()
        mode = stat.S_IMODE(paths.database.stat().st_mode)
    finally:
        reader.close()
    for says in found[:10]:
        yield Health.BAD, f"{says}; restore a backup"
    if mode & 0o077:
        yield Health.BAD, f"{paths.database} has mode {mode:o}; expected 600: chmod 600 it"
    if not found:
        yield Health.OK, f"{paths.database} is sound"


def _sessions(paths: Paths) -> Says:
    reader = Reader.open(paths.database)
    unseen: Counter[str] = Counter()
    try:
        digests = _digests(reader, unseen)
    finally:
        reader.close()
    yield Health.OK, f"{len(digests)} sessions fold to the digests that were stored"
    for reason, episodes in unseen.most_common(REASONS_SHOWN_MAX):
        yield Health.NOTE, f"seen only in part: {reason} ({episodes} episodes)"


def _restore_drill(paths: Paths) -> Says:
    with tempfile.TemporaryDirectory(prefix="wayfinder-drill-") as folder:
        copy = Path(folder) / "wayfinder.db"
        reader = Reader.open(paths.database)
        try:
            reader.backup(copy)
            before = _digests(reader)
        finally:
            reader.close()
        restored = Reader.open(copy)
        try:
            after = _digests(restored)
        finally:
            restored.close()
    # A live session may have gone on between the copy and the count.
    lost = [s for s, digest in after.items() if before.get(s, digest)[0] < digest[0]]
    if lost or len(after) > len(before):
        yield Health.BAD, f"the copy differs from the log in {', '.join(lost[:3])}"
    else:
        yield Health.OK, f"a copy of the log restores {len(after)} sessions, all digests equal"


def _digests(reader: Reader, unseen: Counter[str] | None = None) -> dict[str, tuple[int, str, str]]:
    """Every session folded with all its batch digests compared; raises where one differs.

    `unseen` counts the episodes with less than full coverage, by reason: skipped input shows here.
    """
    found: dict[str, tuple[int, str, str]] = {}
    for row in reader.sessions(1_000_000):
        session = replay(reader.events(row.session_id), row.session_id, verify=True)
        if unseen is not None:
            unseen.update(
                record.episode.coverage_reason or "no reason known"
                for record in session.episodes.values()
                if record.episode.coverage is not Coverage.FULL
            )
        found[row.session_id] = (session.seq, net_digest(session.net), episodes_digest(session))
    return found


def _observer(paths: Paths) -> Says:
    try:
        model = load(paths.settings).settings.observer.model
    except BadSetting:
        return  # said by the check of the settings
    yield Health.OK, f"on: {model}" if model else "off; nothing leaves this machine"


CHECKS: Final[dict[str, Callable[[Paths], Says]]] = {
    "versions": _versions,
    "settings": _settings,
    "folders": _folders,
    "disk": _disk,
    "daemon": _daemon,
    "sockets": _sockets,
    "log file": _file,
    "sessions": _sessions,
    "observer": _observer,
}
