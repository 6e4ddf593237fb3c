"""The spool's counter towards the segmenter: `spool.ipc`, Follow and Pull in, Pulled out.

Pulling trims what is committed. Whoever has pulled a session to its end is sent what comes next
unasked; a message that cannot be sent now costs nothing, the next Follow names the session again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from ..daemon.bus import Answerer, Incoming
from ..daemon.messages import AnySpoolRequest, Follow, Pull, Pulled
from ..reducer.vocabulary.codec import encode
from ..reducer.vocabulary.observation import SessionInfo
from .spool import Spool

DRAIN_MAX: Final = 256
_requests: Final[msgspec.json.Decoder[AnySpoolRequest]] = msgspec.json.Decoder(AnySpoolRequest)
Timings = Callable[[str], tuple[tuple[str, int], ...]]


class Counter:
    """One follower at a time: the newest route that spoke."""

    def __init__(self, spool: Spool, socket: Answerer, timings: Timings) -> None:
        self._spool = spool
        self._socket = socket
        self._timings = timings
        self._follower: Incoming | None = None
        self._sent_to: dict[str, int] = {}  # session → position the follower has

    def serve(self) -> None:
        """Takes what waits, a bounded number."""
        for _ in range(DRAIN_MAX):
            incoming = self._socket.receive()
            if incoming is None:
                return
            try:
                request = _requests.decode(incoming.body)
            except msgspec.DecodeError:
                continue  # not one of ours: the door is guarded, so this is a version's mistake
            if isinstance(request, Follow):
                self._follow(incoming)
            else:
                self._pull(incoming, request)

    def forget(self, session_id: str) -> None:
        self._sent_to.pop(session_id, None)

    def push(self, session_id: str) -> None:
        """There is more in the spool, or the session has ended."""
        if self._follower is None:
            return
        if session_id not in self._sent_to:
            self._name(session_id)
            return
        sent_to = self._sent_to[session_id]
        pulled = self._spool.pull(session_id, sent_to + 1)
        if pulled is not None and (pulled.observations or not pulled.open):
            self._send(self._follower, session_id, pulled)

    def _follow(self, incoming: Incoming) -> None:
        if self._follower is None or self._follower.route != incoming.route:
            self._sent_to.clear()
        self._follower = incoming
        for known in self._spool.sessions():
            if known.info.session_id not in self._sent_to:
                self._name(known.info.session_id)

    def _pull(self, incoming: Incoming, pull: Pull) -> None:
        self._spool.trim(pull.session_id, pull.from_position)
        pulled = self._spool.pull(pull.session_id, pull.from_position)
        if pulled is None:  # purged: there is nothing, and nothing more to come
            nobody = SessionInfo(pull.session_id, pull.session_id.partition("-")[0])
            self._socket.answer(incoming, encode(Pulled(nobody, (), False)))
            return
        self._sent_to[pull.session_id] = pull.from_position - 1
        self._send(incoming, pull.session_id, pulled)
        if not pulled.open and not pulled.observations:
            self._sent_to.pop(pull.session_id, None)  # over, and all of it committed

    def _name(self, session_id: str) -> None:
        known = self._spool.known(session_id)
        if known is not None and self._follower is not None:
            named = Pulled(known.info, (), True, live=known.live, named=True)
            self._socket.answer(self._follower, encode(named))

    def _send(self, to: Incoming, session_id: str, pulled: Pulled) -> None:
        timed = msgspec.structs.replace(pulled, timings=self._timings(session_id))
        if not self._socket.answer(to, encode(timed)):
            self._sent_to.pop(session_id, None)  # the next Follow names it again
        elif pulled.observations:
            self._sent_to[session_id] = pulled.observations[-1].position
