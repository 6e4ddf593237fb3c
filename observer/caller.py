"""The parent's side of the model child: lazy start, a wall clock of our own, kill on overrun.

litellm's timeouts do not stop a server that drips a byte now and then, so the clock is here: a
child that has not answered in time is killed, and the next call starts a new one.
"""

from __future__ import annotations

import os
import select
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import msgspec

from .model import Call, Heard
from .worker import FRAME_BYTES_MAX, write_frame

CALL_TIMEOUT_MS: Final = 20_000
KILL_AFTER_MS: Final = 30_000
LOAD_MS_MAX: Final = 60_000
IDLE_MS_MAX: Final = 5 * 60_000

# Nothing of the user's environment reaches the child but what a Python needs to start.
_KEPT_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SSL_CERT_FILE", "VIRTUAL_ENV")


class ModelCaller:
    """At most one child, one call at a time. Not thread-safe; the observer is one loop."""

    def __init__(self, python: str = sys.executable, *, kill_after_ms: int = KILL_AFTER_MS) -> None:
        self._python = python
        self._kill_after_ms = kill_after_ms
        self._child: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._used_at = 0.0

    def call(self, call: Call) -> Heard:
        """Blocks for at most the kill limit; never raises for what the model or child does."""
        self._used_at = time.monotonic()
        try:
            if self._child is None or self._child.poll() is not None:
                self._start()
            body = self._exchange(msgspec.json.encode(call))
        except (OSError, ValueError, EOFError) as error:
            self.stop()
            return Heard(call.call_id, error="ChildLost", detail=str(error))
        if body is None:
            self.stop()
            detail = f"no answer in {self._kill_after_ms} ms"
            return Heard(call.call_id, error="Timeout", detail=detail)
        return msgspec.json.decode(body, type=Heard)

    def stop_if_idle(self) -> None:
        """Gives the child's 200 MB back when nothing was asked for a while."""
        if self._child and (time.monotonic() - self._used_at) * 1000 > IDLE_MS_MAX:
            self.stop()

    def stop(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            for pipe in (self._child.stdin, self._child.stdout):
                if pipe is not None:
                    pipe.close()
            self._child = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child else None

    def _start(self) -> None:
        self.stop()
        self._folder = tempfile.TemporaryDirectory(prefix="wayfinder-observer-")
        environment = {k: os.environ[k] for k in _KEPT_VARIABLES if k in os.environ}
        environment |= {
            "HOME": self._folder.name,
            "LITELLM_OFFLINE_MODE": "true",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_MODE": "PRODUCTION",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self._child = subprocess.Popen(
            [self._python, "-P", "-m", "wayfinder.observer.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=Path(self._folder.name),
            env=environment,
            start_new_session=True,
        )
        if self._read_frame(LOAD_MS_MAX) != b"":
            raise EOFError(f"the model library was not loaded in {LOAD_MS_MAX} ms")

    def _exchange(self, body: bytes) -> bytes | None:
        child = self._child
        assert child is not None and child.stdin is not None
        write_frame(child.stdin, body)
        return self._read_frame(self._kill_after_ms)

    def _read_frame(self, limit_ms: int) -> bytes | None:
        child = self._child
        assert child is not None and child.stdout is not None
        deadline = time.monotonic() + limit_ms / 1000
        head = self._read(child.stdout.fileno(), 4, deadline)
        if head is None:
            return None
        (length,) = struct.unpack(">I", head)
        if length > FRAME_BYTES_MAX:
            raise ValueError(f"the child sent a frame of {length} bytes")
        return self._read(child.stdout.fileno(), length, deadline)

    def _read(self, fd: int, count: int, deadline: float) -> bytes | None:
        """Exactly `count` bytes before the deadline; None after it; EOFError if the child ended."""
        data = b""
        while len(data) < count:
            ready, _, _ = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return None
            chunk = os.read(fd, count - len(data))
            if not chunk:
                raise EOFError("the model child ended without an answer")
            data += chunk
        return data
