"""A person's line to the reconciler: `human.sock`, one JSON object per line, answered in order.

Used by the commands and by the page. Who the caller is, the reconciler reads from the socket
itself; nothing written here can claim it.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

import msgspec

from ..daemon.lines import Lines
from ..daemon.messages import AnyHumanRequest, AnyReply
from ..daemon.paths import Paths
from ..daemon.unixsock import dial
from ..reducer.vocabulary.answer import AnyAnswer
from ..reducer.vocabulary.codec import encode
from ..reducer.vocabulary.ids import FRAME_BYTES_MAX

FILE: Final = "human.sock"
ANSWER_TIMEOUT_S: Final = 10.0

Answered = AnyReply | AnyAnswer


class DaemonAway(RuntimeError):
    """Nobody answers on the socket; the text says what to do."""


class HumanLine:
    """One connection. Not for several threads."""

    def __init__(self, paths: Paths) -> None:
        """Raises DaemonAway."""
        try:
            self._socket = dial(paths, FILE, ANSWER_TIMEOUT_S)
        except OSError as error:
            raise DaemonAway("wayfinderd is not running; start it with `wayfinderd`") from error
        self._lines = Lines(FRAME_BYTES_MAX)

    def ask(self, request: AnyHumanRequest) -> Answered:
        """Raises DaemonAway if the connection ends or stays silent."""
        try:
            self._socket.sendall(encode(request) + b"\n")
            return read_answer(self._next_line())
        except (OSError, EOFError) as error:
            raise DaemonAway(f"wayfinderd did not answer: {error}") from error

    def close(self) -> None:
        self._socket.close()

    def _next_line(self) -> bytes:
        while True:
            data = self._socket.recv(65_536)
            if not data:
                raise EOFError("the connection was closed")
            for line in self._lines.feed(data):
                return line

    def __enter__(self) -> HumanLine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_answer(line: bytes) -> Answered:
    """Our own replies carry `reply`, the answers to patches carry `status`."""
    value: dict[str, Any] = msgspec.json.decode(line)
    wanted: Any = AnyReply if "reply" in value else AnyAnswer
    return msgspec.convert(value, wanted)


def connect(paths: Paths, *, start: bool, say: Callable[[str], None]) -> HumanLine:
    """A line to the daemon; if it is away it is started, and `say` is told so."""
    try:
        return HumanLine(paths)
    except DaemonAway:
        if not start:
            raise
    say("starting wayfinderd")
    subprocess.run([sys.executable, "-P", "-m", "wayfinder.daemon"], check=False,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    return HumanLine(paths)


def new_id(prefix: str) -> str:
    return f"{prefix}_{secrets.token_hex(8)}"
