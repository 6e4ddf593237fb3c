"""Single instance by flock, taken before any bind.

Why flock and not a pid file: the kernel drops it when the holder dies, however it dies, so there
is no stale lock. Why before any bind: a second process that binds a ZeroMQ ipc path *succeeds*
and leaves the first one deaf.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class Held(RuntimeError):
    """Somebody else holds the lock. `pid` is what they wrote into the file, for people only."""

    def __init__(self, path: Path, pid: int | None) -> None:
        super().__init__(f"{path} is held by process {pid or '?'}")
        self.path = path
        self.pid = pid


class Lock:
    """An exclusive lock on `path` for the life of this object. Never removes the file: a second
    process could be holding the removed one."""

    def __init__(self, path: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._fd = os.open(path, flags, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = _read_pid(self._fd)
            os.close(self._fd)
            raise Held(path, pid) from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Twice is once."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1


def holder(path: Path) -> int | None:
    """The pid of the process that holds the lock, 0 if it does not say, None if nobody does."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read_pid(fd) or 0
    else:
        return None
    finally:
        os.close(fd)


def _read_pid(fd: int) -> int | None:
    text = os.pread(fd, 32, 0).strip()
    return int(text) if text.isdigit() else None
