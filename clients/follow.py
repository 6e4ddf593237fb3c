"""Follow a session's view, or the list of sessions: the public way in for other programs.

    for frame in follow(session_id="pi-0199…"):
        print(frame["view"]["now"]["text"])

A frame is a plain JSON object, whole and true: `session` (its row in the list), `live` (what is
only known while it lasts), `view` (`reducer.attention.view.View`) and `zh` (the same texts in
Chinese). Frames come when something changed, at most 30 a second. The list of sessions is
`{session id: row}`. Underneath: the Clone pattern (`daemon/follow.py`); a gap heals by itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final, cast

import msgspec
import zmq

from ..daemon.bus import Bus, Welcome
from ..daemon.follow import Follower
from ..daemon.messages import (
    AnySnapReply,
    Delta,
    ReadSessions,
    ReadView,
    SessionList,
    Snapshot,
)
from ..daemon.paths import Paths, resolve
from ..reducer.vocabulary.codec import decode, encode

SESSIONS_TOPIC: Final = b"~sessions"
ASK_AGAIN_MS: Final = 1_000

Frame = dict[str, Any]
_replies: Final[msgspec.json.Decoder[AnySnapReply]] = msgspec.json.Decoder(
    cast("type[AnySnapReply]", AnySnapReply)
)


class NoView(LookupError):
    """There is no such session, or nobody answers."""


class Feed:
    """One subscription with its two sockets. `session_id` None: the list of sessions."""

    def __init__(self, paths: Paths, session_id: str | None) -> None:
        self.session_id = session_id
        self._bus = Bus(paths, name="client")
        topic = SESSIONS_TOPIC if session_id is None else session_id.encode()
        self._deltas = self._bus.subscriber("view.ipc", topic)
        self._snaps = self._bus.caller("snap.ipc")
        self._follower = Follower()
        self._asked_at = 0.0
        self._unknown = False

    @property
    def sockets(self) -> tuple[zmq.Socket[bytes], zmq.Socket[bytes]]:
        """For a caller's own loop: call `turn` when one can be read, or a second passed."""
        return self._deltas.socket, self._snaps.socket

    @property
    def gone(self) -> bool:
        """The session was purged, or never was."""
        return self._unknown or self._follower.gone

    @property
    def resyncs(self) -> int:
        return self._follower.resyncs

    def turn(self) -> Frame | None:
        """Takes in what has arrived. The new frame, if there is one now."""
        changed = False
        while (heard := self._deltas.receive()) is not None:
            if isinstance(heard, Welcome):
                self._follower.welcome()
            else:
                changed |= self._follower.delta(decode(heard.body, Delta))
        while (answered := self._snaps.receive()) is not None:
            reply = _replies.decode(answered[1])
            if isinstance(reply, Snapshot | SessionList):
                changed |= self._follower.snapshot(reply)
            else:
                self._unknown = True
        self._ask_if_due()
        return self._follower.frame if changed and self._follower.in_step else None

    def _ask_if_due(self) -> None:
        now = time.monotonic()
        if not self._follower.wants_snapshot or (now - self._asked_at) * 1000 < ASK_AGAIN_MS:
            return
        wanted = ReadSessions() if self.session_id is None else ReadView(self.session_id)
        if self._snaps.send(b"snapshot", encode(wanted)):
            self._asked_at = now

    def close(self) -> None:
        self._bus.close()


def follow(
    session_id: str | None = None, *, paths: Paths | None = None, timeout_s: float | None = None
) -> Iterator[Frame]:
    """Frames of one session (or of the list), for ever or until it is purged.

    `timeout_s` bounds the wait for the first frame. Raises NoView.
    """
    feed = Feed(paths or resolve(), session_id)
    poller = zmq.Poller()
    for socket in feed.sockets:
        poller.register(socket, zmq.POLLIN)
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    try:
        while not feed.gone:
            frame = feed.turn()
            if frame is not None:
                deadline = None
                yield frame
                continue
            if deadline is not None and time.monotonic() > deadline:
                raise NoView("nobody answers; is wayfinderd running?")
            poller.poll(200)
        raise NoView(f"there is no session {session_id}")
    finally:
        feed.close()
