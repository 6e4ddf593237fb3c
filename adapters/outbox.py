"""Patches and receipts on their way to the reconciler: at once, and again until answered.

A row stays in the spool until the reconciler has answered and, for patches, the agent has the
answer. The same idempotency key makes sending twice safe. Of one session only the oldest
unanswered patch is under way: were two, and the first lost with a dying reconciler, its successor
would be judged before it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Raw, Struct

from ..daemon.bus import Caller
from ..daemon.messages import AnyReply, Refused, SubmitLiveNote, SubmitPatch
from ..reducer.vocabulary.answer import AnyAnswer, Fault, Rejected
from ..reducer.vocabulary.codec import decode, encode
from ..reducer.vocabulary.ids import MAIN_AGENT_ID
from ..reducer.vocabulary.observation import LiveNote
from .spool import Spool
from .spooled import Errand

RESEND_TICKS: Final = 3
IN_FLIGHT_MAX: Final = 256
DRAIN_MAX: Final = 256

Deliver = Callable[[Errand, AnyAnswer], bool]


class _Head(Struct):
    status: str | None = None
    reply: str | None = None


_heads: Final = msgspec.json.Decoder(_Head)
_answers: Final[msgspec.json.Decoder[AnyAnswer]] = msgspec.json.Decoder(AnyAnswer)
_replies: Final[msgspec.json.Decoder[AnyReply]] = msgspec.json.Decoder(AnyReply)


class Outbox:
    """`deliver` hands an answer to the agent; False: the agent is not there, the answer waits."""

    def __init__(self, spool: Spool, patches: Caller, stream: Caller, deliver: Deliver) -> None:
        self._spool = spool
        self._patches = patches
        self._stream = stream
        self._deliver = deliver
        self._numbers = itertools.count(1)
        self._sent: dict[bytes, Errand] = {}
        self._due: dict[int, int] = {}  # row → tick to send again at
        self._tick = 0
        self.answered: set[str] = set()  # sessions whose stream may go on; the loop takes them out

    @property
    def in_flight(self) -> int:
        return len(self._sent)

    def put(self, errand: Errand) -> None:
        """Keeps it, and sends it unless an older one is under way. Durable with the caller's
        next commit."""
        row = self._spool.put_errand(errand)
        if self._spool.is_oldest(row):
            self._send(msgspec.structs.replace(errand, id=row))

    def redeliver(self, instance: str) -> None:
        """The agent is back: answers that came while it was away."""
        for errand in self._spool.errands(instance):
            if errand.answer is not None and self._deliver(errand, _answers.decode(errand.answer)):
                self._spool.delivered(errand.id)

    def tick(self) -> None:
        """Sends what was never sent or not answered in time, in order; stops at a full socket."""
        self._tick += 1
        for errand in self._spool.oldest_unanswered(IN_FLIGHT_MAX):
            due = self._due.get(errand.id, 0) <= self._tick
            if due and not self._send(errand):
                return

    def take(self, request_id: bytes, body: bytes) -> bool:
        """An answer from the reconciler; False: it is not ours."""
        errand = self._sent.pop(request_id, None)
        if errand is None:
            return False
        if errand.kind == "receipt":
            self._forget(errand)
            return True
        answer = _answer(body)
        if answer is None:
            return True  # it will be asked again
        if self._deliver(errand, answer):
            self._forget(errand)
        else:
            self._due.pop(errand.id, None)
            self._spool.answered(errand.id, encode(answer))
        self.answered.add(errand.session_id)
        follower = self._spool.oldest_of(errand.session_id)
        if follower is not None:
            self._send(follower)
        return True

    def _forget(self, errand: Errand) -> None:
        self._due.pop(errand.id, None)
        self._spool.delivered(errand.id)

    def _send(self, errand: Errand) -> bool:
        if len(self._sent) >= IN_FLIGHT_MAX:
            self._sent.pop(next(iter(self._sent)))  # its row is still there, and goes again
        request_id = b"e%d" % next(self._numbers)
        socket, body = self._request(errand)
        if not socket.send(request_id, body):
            self._due[errand.id] = self._tick + 1
            return False
        self._sent[request_id] = errand
        self._due[errand.id] = self._tick + RESEND_TICKS
        return True

    def _request(self, errand: Errand) -> tuple[Caller, bytes]:
        if errand.kind == "receipt":
            return self._stream, encode(SubmitLiveNote(decode(errand.body, LiveNote)))
        known = self._spool.known(errand.session_id)
        assert known is not None, "an errand of a session the spool does not know"
        submit = SubmitPatch(
            info=known.info,
            agent_id=MAIN_AGENT_ID,
            position=errand.position,
            patch=Raw(errand.body),
            proposal=errand.kind == "propose",
        )
        return self._patches, encode(submit)


def _answer(body: bytes) -> AnyAnswer | None:
    """What to tell the agent; None: the reconciler could not say just now."""
    if _heads.decode(body).status is not None:
        return _answers.decode(body)
    reply = _replies.decode(body)
    if isinstance(reply, Refused):
        return Rejected(0, (Fault(reply.code, "$", reply.expected),))
    return None
