"""Speaks to agent.sock as an agent's extension does: numbered frames, acknowledged, sent again.

What is not acknowledged when the connection breaks is sent again on the next one under the same
(instance, seq), so an adapter killed in the middle loses nothing and stores nothing twice.
"""

from __future__ import annotations

import os
import select
import socket
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from ...daemon.lines import Lines
from ...reducer.vocabulary.ids import FRAME_BYTES_MAX
from .recording import Recording

PATIENCE_S: Final = 60.0  # without any sign of life from the daemon
RETRY_S: Final = 0.2

Frame = dict[str, Any]


class NoDaemon(Exception):
    """Nobody answered within the patience; the text says where."""


class Fed(Struct, frozen=True):
    """What came of it: answers by call id, in the order they came."""

    answers: dict[str, Frame]
    reconnects: int


class Feed:
    """One agent instance. `on_sent` is called for each frame as it is first sent."""

    def __init__(
        self,
        sock: Path,
        recording: Recording,
        *,
        base_ms: int,
        speed: float = 1.0,
        on_sent: Callable[[Frame], None] = lambda _: None,
        instance: str | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._sock = sock
        self._recording = recording
        self._base_ms = base_ms
        self._speed = speed
        self._on_sent = on_sent
        self._patience_s = patience_s
        identity = {"instance": instance or str(uuid.uuid4()), "pid": os.getpid()}
        self._hello = {**recording.hello, **identity}
        self._unacked: list[Frame] = []
        self._wanted: set[str] = set()
        self._answers: dict[str, Frame] = {}
        self._caller: socket.socket | None = None
        self._lines = Lines(FRAME_BYTES_MAX)
        self._connects = 0
        self._heard_at = time.monotonic()

    def play(self) -> Fed:
        """Sends all at the recorded pace; returns when all is durable and answered.

        Raises NoDaemon.
        """
        began = time.monotonic()
        for ms, frame in self._recording.frames(self._base_ms):
            self._listen_until(lambda due=began + ms / 1000 / self._speed: time.monotonic() >= due)
            self._unacked.append(frame)
            if frame["t"] in ("patch", "propose"):
                self._wanted.add(frame["callId"])
            self._on_sent(frame)
            self._send(frame)
        self._listen_until(lambda: not self._unacked and self._wanted <= set(self._answers))
        self._drop()
        return Fed(self._answers, self._connects - 1)

    def _listen_until(self, over: Callable[[], bool]) -> None:
        self._heard_at = time.monotonic()
        while not over() or self._caller is None:
            if self._caller is None and not self._connect():
                time.sleep(RETRY_S)
            else:
                self._read()
            # Waiting for the recorded pace is not the daemon's silence.
            if (self._unacked or self._caller is None) and (
                time.monotonic() - self._heard_at > self._patience_s
            ):
                raise NoDaemon(f"nobody answers at {self._sock}")

    def _connect(self) -> bool:
        caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            caller.connect(str(self._sock))
        except OSError:
            caller.close()
            return False
        self._caller = caller
        self._lines = Lines(FRAME_BYTES_MAX)
        self._connects += 1
        return all(self._send(frame) for frame in (self._hello, *self._unacked))

    def _send(self, frame: Frame) -> bool:
        if self._caller is None:
            return False
        try:
            self._caller.sendall(msgspec.json.encode(frame) + b"\n")
        except OSError:
            self._drop()
            return False
        return True

    def _read(self) -> None:
        assert self._caller is not None
        readable, _, _ = select.select([self._caller], [], [], 0.02)
        if not readable:
            return
        try:
            data = self._caller.recv(64 << 10)
        except OSError:
            data = b""
        if not data:
            self._drop()
            return
        self._heard_at = time.monotonic()
        for line in self._lines.feed(data):
            self._heard(msgspec.json.decode(line))

    def _heard(self, frame: Frame) -> None:
        kind = frame["t"]
        if kind in ("welcome", "ack"):
            upto = frame["ack" if kind == "welcome" else "seq"]
            self._unacked = [waiting for waiting in self._unacked if waiting["seq"] > upto]
        elif kind == "answer":
            self._answers[frame["callId"]] = frame["answer"]

    def _drop(self) -> None:
        if self._caller is not None:
            self._caller.close()
        self._caller = None
