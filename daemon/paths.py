"""Where things lie: the run, state and config folders, and every file name inside them.

    run     sockets and the supervisor's lock. Short path, 0700, gone after a reboot.
    state   the event log, spools and logs. 0700.
    config  wayfinder.toml, written by people.

WAYFINDER_RUN_DIR, WAYFINDER_STATE_DIR and WAYFINDER_CONFIG_DIR override; else platformdirs decides.
 Nothing here falls back to a folder that somebody else owns: it refuses and says why.
"""

from __future__ import annotations

import os
import stat
import sys
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

APP: Final = "wayfinder"
# sun_path holds the path and its closing NUL: 108 bytes on Linux, 104 on macOS and the BSDs.
SOCKET_PATH_BYTES_MAX: Final = (108 if sys.platform.startswith("linux") else 104) - 1
SOCKET_NAME_BYTES_MAX: Final = len("control.sock")


class UnsafePath(OSError):
    """A folder or file that must be ours alone is not. The text says which, and what to do."""


class Paths(Struct, frozen=True):
    """The three folders as given; nothing is created or checked by building one."""

    run: Path
    state: Path
    config: Path

    def socket(self, name: str) -> Path:
        return self.run / name

    @property
    def lock(self) -> Path:
        return self.run / "wayfinderd.lock"

    @property
    def database(self) -> Path:
        return self.state / "wayfinder.db"

    @property
    def logs(self) -> Path:
        return self.state / "logs"

    @property
    def settings(self) -> Path:
        return self.config / "wayfinder.toml"


def resolve(environ: Mapping[str, str] = os.environ) -> Paths:
    """The folders of this user. Raises UnsafePath if the system has no safe run folder."""
    named = {
        kind: environ.get(f"WAYFINDER_{kind.upper()}_DIR") for kind in ("run", "state", "config")
    }
    return Paths(**{
        kind: Path(value).absolute() if value else _default(kind) for kind, value in named.items()
    })  # fmt: skip


def _default(kind: str) -> Path:
    from platformdirs import PlatformDirs

    dirs = PlatformDirs(APP, appauthor=False)
    if kind == "state":
        return dirs.user_state_path
    if kind == "config":
        return dirs.user_config_path
    try:
        with warnings.catch_warnings():
            # Its fallback is a folder that is checked like any other (`open_private`).
            warnings.simplefilter("ignore")
            return dirs.user_runtime_path
    except PermissionError as error:  # a fallback folder that another user made first
        raise UnsafePath(f"no safe run folder: {error}; or set WAYFINDER_RUN_DIR") from error


def prepare(paths: Paths) -> None:
    """Makes the run and state folders, 0700, and checks that they are ours alone."""
    longest = len(os.fsencode(paths.run)) + 1 + SOCKET_NAME_BYTES_MAX
    if longest > SOCKET_PATH_BYTES_MAX:
        raise UnsafePath(
            f"the run folder's path is too long for a socket ({longest} bytes with the file name, "
            f"{SOCKET_PATH_BYTES_MAX} allowed): {paths.run}; set WAYFINDER_RUN_DIR to a shorter one"
        )
    for folder in (paths.run, paths.state, paths.logs):
        make_private(folder)


def make_private(folder: Path) -> None:
    """Creates `folder` 0700 if absent; raises UnsafePath unless it is a real folder, ours, 0700."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    os.close(open_private(folder))


def open_private(folder: Path) -> int:
    """A descriptor of a folder that is ours alone. A link in its place is refused, not followed."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise UnsafePath(f"{folder} must be a folder, not a link: {error.strerror}") from error
    found = os.fstat(fd)
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid == os.geteuid() and mode & 0o077 == 0:
        return fd
    os.close(fd)
    raise UnsafePath(
        f"{folder} must belong to uid {os.geteuid()} with mode 700; "
        f"it belongs to uid {found.st_uid} with mode {mode:o}"
    )


@contextmanager
def private_umask() -> Generator[None]:
    """Files and sockets made inside get mode 0600 at birth; a chmod later would leave a window."""
    before = os.umask(0o177)
    try:
        yield
    finally:
        os.umask(before)


def remove_stale_socket(path: Path) -> None:
    """Unlinks a socket file that a killed process left. Call only while holding the lock.

    Raises UnsafePath if something else stands there: we delete nothing but our own sockets.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid():
        raise UnsafePath(f"{path} is in the way and is no socket of ours; please look at it")
    path.unlink()
