"""`web.sock`: who may open a page, and with which rights.

| {"ask":"page"}               |  →  | {"url":"http://127.0.0.1:…/#c=…","mayCorrect":true, …} |
| {"ask":"page","key":"…"}     |     the key of this run: one of our own processes asks

A person at a terminal gets a page that may correct. Whoever is not surely a person gets one that
looks on; another user, or a child of a connected agent, gets nothing (`daemon/who.py`, its limits).
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from typing import Final, Literal

import msgspec
from msgspec import Struct

from ...daemon.lines import Lines
from ...daemon.paths import Paths
from ...daemon.unixsock import Connection, dial
from .tickets import Grant, Tickets

FILE: Final = "web.sock"
LINE_BYTES_MAX: Final = 4096
ANSWER_TIMEOUT_S: Final = 10.0


class Ask(Struct, frozen=True, forbid_unknown_fields=True):
    ask: Literal["page"]
    key: str = ""


class Opened(Struct, frozen=True, rename="camel", omit_defaults=True):
    """`url` holds a code that works once, within a minute."""

    url: str
    may_correct: bool
    because: str


class Closed(Struct, frozen=True, omit_defaults=True):
    error: str


class Door:
    """Judges a caller and hands out a link. `opened` is told of every page that was let in."""

    def __init__(self, key: str, origin: str, tickets: Tickets) -> None:
        self._key = key
        self._origin = origin
        self._tickets = tickets
        self.opened: Callable[[Grant], None] = lambda _: None

    def answer(self, connection: Connection, line: bytes, now_s: float | None = None) -> bytes:
        try:
            ask = msgspec.json.decode(line, type=Ask)
        except msgspec.MsgspecError as error:
            return msgspec.json.encode(Closed(str(error)[:200]))
        grant = self._judge(connection, ask, time.time() if now_s is None else now_s)
        if grant is None:
            return msgspec.json.encode(Closed("this caller may not open a page"))
        url = f"{self._origin}/#c={self._tickets.code(grant)}"
        return msgspec.json.encode(Opened(url, grant.may_correct, grant.because))

    def _judge(self, connection: Connection, ask: Ask, now_s: float) -> Grant | None:
        from ...daemon.who import Standing, judge, line_of  # psutil, when the first person calls

        if ask.key and self._key and hmac.compare_digest(ask.key.encode(), self._key.encode()):
            return Grant(True, "key")
        peer = connection.peer
        caller = judge(peer, line_of(peer.pid, now_s), agents=())
        if caller.standing is Standing.REFUSED:
            return None
        return Grant(caller.standing is Standing.CONFIRMED, caller.reason)


def ask_page(paths: Paths, key: str = "") -> Opened:
    """The caller's half. Raises OSError (nobody there), PermissionError (not let in)."""
    with dial(paths, FILE, ANSWER_TIMEOUT_S) as caller:
        caller.sendall(msgspec.json.encode(Ask("page", key)) + b"\n")
        lines = Lines(LINE_BYTES_MAX)
        while data := caller.recv(LINE_BYTES_MAX):
            for line in lines.feed(data):
                return _opened(line)
    raise ConnectionError("the page's process ended before it answered")


def _opened(line: bytes) -> Opened:
    answer = msgspec.json.decode(line, type=dict[str, object])
    if "error" in answer:
        raise PermissionError(str(answer["error"]))
    return msgspec.convert(answer, Opened)
