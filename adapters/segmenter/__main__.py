"""The segmenter process: stateless. `python -P -m wayfinder.adapters.segmenter`, by the supervisor.

It asks the reconciler where each stream is committed and the adapter for what lies behind, and
submits segments, each again until it is answered. Killed at any moment it loses nothing.
"""

from __future__ import annotations

import itertools
from typing import Final

import msgspec

from ...daemon.bus import Bus, Caller
from ...daemon.child import Child, run_child
from ...daemon.loop import Loop
from ...daemon.messages import AnyReply, Follow, Pull, Pulled, Refused, StreamAt
from ...reducer.vocabulary.codec import decode, encode
from .feed import Ask, Feed

TICK_MS: Final = 200
FOLLOW_MS: Final = 1_000
RESEND_TICKS: Final = 3  # asks unanswered for that long are sent again
REFUSED_TICKS: Final = 150  # half a minute: what was refused is unlikely to be welcome at once
DRAIN_MAX: Final = 256
FOLLOW_ID: Final = b"follow"

_replies: Final[msgspec.json.Decoder[AnyReply]] = msgspec.json.Decoder(AnyReply)


class Process:
    """All feeds, and the two sockets they speak through."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._bus = Bus(child.paths, name="segmenter", key=child.key)
        self._stream = self._bus.caller("stream.ipc")
        self._spool = self._bus.caller("spool.ipc")
        self._feeds: dict[str, Feed] = {}
        self._owed: dict[str, tuple[bytes, int]] = {}  # session → (request id, tick to resend at)
        self._of_request: dict[bytes, str] = {}
        self._numbers = itertools.count(1)
        self._tick = 0
        self._committed = 0
        self._heard = False
        self.loop = Loop()

    def run(self) -> None:
        child, loop = self._child, self.loop
        child.on_stop = loop.stop
        child.stats = lambda: {"sessions": len(self._feeds), "segments": self._committed}
        loop.watch(child.fd, child.turn)
        loop.watch(self._stream.socket, self._read_stream)
        loop.watch(self._spool.socket, self._read_spool)
        loop.every(TICK_MS, self._on_tick)
        self._follow()
        child.ready()
        loop.run()
        self._bus.close()

    def _on_tick(self) -> None:
        self._tick += 1
        if not self._heard or self._tick % (FOLLOW_MS // TICK_MS) == 0:
            self._follow()
        for session_id, (_, due) in list(self._owed.items()):
            if due <= self._tick:
                ask = self._feeds[session_id].again()
                if ask is None:
                    self._forget_request(session_id)
                else:
                    self._send(session_id, [ask])

    def _follow(self) -> None:
        self._spool.send(FOLLOW_ID, encode(Follow()))

    def _read_stream(self) -> None:
        for request_id, body in _drain(self._stream):
            session_id = self._of_request.get(request_id)
            if session_id is None:
                continue  # an answer to what was sent again since
            reply = _replies.decode(body)
            feed = self._feeds[session_id]
            if isinstance(reply, StreamAt):
                self._committed += 1
                self._forget_request(session_id)
                self._send(session_id, feed.take_stream_at(reply))
            elif isinstance(reply, Refused):
                self._child.log.error(
                    "refused", session=session_id, code=reply.code, expected=reply.expected
                )
                feed.begin()
                self._owed[session_id] = (request_id, self._tick + REFUSED_TICKS)

    def _read_spool(self) -> None:
        for request_id, body in _drain(self._spool):
            self._heard = True
            pulled = decode(body, Pulled)
            session_id = pulled.info.session_id
            feed = self._feeds.get(session_id)
            if feed is None:
                feed = self._feeds[session_id] = Feed(pulled.info)
                self._send(session_id, feed.begin())
            elif request_id == FOLLOW_ID and pulled.named:
                self._send(session_id, feed.nudge())
            else:
                if self._of_request.get(request_id) == session_id:
                    self._forget_request(session_id)
                self._send(session_id, feed.take_pulled(pulled))
            if feed.done:
                self._forget_request(session_id)
                del self._feeds[session_id]

    def _send(self, session_id: str, asks: list[Ask]) -> None:
        for ask in asks:
            self._forget_request(session_id)
            request_id = b"%d" % next(self._numbers)
            socket = self._spool if isinstance(ask, Pull) else self._stream
            sent = socket.send(request_id, encode(ask))
            self._of_request[request_id] = session_id
            self._owed[session_id] = (request_id, self._tick + (RESEND_TICKS if sent else 1))

    def _forget_request(self, session_id: str) -> None:
        request_id, _ = self._owed.pop(session_id, (b"", 0))
        self._of_request.pop(request_id, None)


def _drain(socket: Caller) -> list[tuple[bytes, bytes]]:
    """At most a bounded number of messages, so that no socket starves another."""
    found: list[tuple[bytes, bytes]] = []
    while len(found) < DRAIN_MAX and (message := socket.receive()) is not None:
        found.append(message)
    return found


def main(child: Child) -> None:
    Process(child).run()


if __name__ == "__main__":
    run_child(main)
