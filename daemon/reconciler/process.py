"""The reconciler's process: sockets, group commit, publishing.

    patch.ipc  ─┐ drain what waits: at most BATCH_MESSAGES or BATCH_MS
    stream.ipc ─┤─▶ BEGIN ─▶ handle each ─▶ COMMIT ─▶ answer each ─▶ publish all (events.ipc)
    human.sock ─┘ one by one

Group commit: whatever waits when a transaction begins shares its one sync, so throughput follows
load while a lone patch pays for nobody. Patches go first: an agent waits for them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import MsgspecError, Struct

from ...reducer.vocabulary.codec import encode
from ..bus import LIVE_TOPIC, Answerer, Bus, Incoming
from ..child import Child
from ..eventlog.derived import Derived
from ..eventlog.writer import Writer
from ..loop import Loop
from ..messages import AnyRequest, Done, Refused, TellAgents
from .human import Desk
from .service import HandlerFailed, Outcome, Service

BATCH_MESSAGES: Final = 64
BATCH_MS: Final = 2.0
DERIVE_EVERY_MS: Final = 250

_requests: Final[msgspec.json.Decoder[AnyRequest]] = msgspec.json.Decoder(AnyRequest)


class Answered(Struct, frozen=True):
    """An answer that waits for COMMIT."""

    to: Answerer
    incoming: Incoming
    outcome: Outcome


class Reconciler:
    def __init__(self, child: Child, loop: Loop) -> None:
        self._child = child
        self._log = child.log
        self._writer = Writer(child.paths.database)
        self._service = Service(self._writer, child.settings, now_ms)
        self._derived = Derived(self._writer, self._service.sessions)
        self._bus = Bus(child.paths, name="reconciler", key=child.key)
        doorman = self._bus.doorman()
        self._patches = self._bus.answerer("patch.ipc")
        self._streams = self._bus.answerer("stream.ipc")
        self._events = self._bus.publisher("events.ipc")
        self._desk = Desk(
            loop, child.paths, child.key, self._service, self._commit_one, self._publish
        )
        loop.watch(doorman.socket, doorman.serve)
        loop.watch(self._events.socket, self._events.drain)
        for socket in (self._patches, self._streams):
            loop.watch(socket.socket, self._work)
        loop.every(DERIVE_EVERY_MS, self._derive)
        child.stats = self._stats

    def close(self) -> None:
        self._desk.close()
        self._bus.close()
        self._writer.close()

    # --- agents and adapters ------------------------------------------------------------------

    def _work(self) -> None:
        answered: list[Answered] = []
        try:
            with self._writer.transaction():
                self._fill(answered)
        except Exception as error:
            # Nobody is answered: the senders keep what is unanswered, and ask again.
            self._service.forget()
            self._log.error("transaction_failed", error, messages=len(answered))
            return
        for each in answered:
            each.to.answer(each.incoming, each.outcome.answer)
        for each in answered:
            self._publish(each.outcome)

    def _fill(self, answered: list[Answered]) -> None:
        until = time.monotonic() + BATCH_MS / 1000
        while len(answered) < BATCH_MESSAGES and (found := self._next()) is not None:
            to, incoming = found
            answered.append(Answered(to, incoming, self._handle(incoming)))
            if time.monotonic() >= until:
                return

    def _next(self) -> tuple[Answerer, Incoming] | None:
        for socket in (self._patches, self._streams):
            if (incoming := socket.receive()) is not None:
                return socket, incoming
        return None

    def _handle(self, incoming: Incoming) -> Outcome:
        try:
            request = _requests.decode(incoming.body)
        except (MsgspecError, UnicodeDecodeError) as error:
            self._log.warning("malformed", sender=incoming.sender, said=str(error)[:200])
            return Outcome(encode(Refused("malformed", str(error)[:200])))
        if isinstance(request, TellAgents):
            self._desk.agents = frozenset(request.pids)
            return Outcome(encode(Done()))
        return self._guarded(lambda: self._service.handle(request), incoming.sender)

    def _guarded(self, work: Callable[[], Outcome], sender: str) -> Outcome:
        try:
            return work()
        except HandlerFailed as failed:
            self._log.error("handler_failed", failed.__cause__, sender=sender)
            return Outcome(encode(Refused("internal_error", "see the reconciler's log")))

    # --- people -------------------------------------------------------------------------------

    def _commit_one(self, work: Callable[[], Outcome]) -> Outcome | None:
        """One person's request in a transaction of its own."""
        try:
            with self._writer.transaction():
                outcome = self._guarded(work, "human")
        except Exception as error:
            self._service.forget()
            self._log.error("transaction_failed", error, messages=1)
            return None
        self._publish(outcome)
        return outcome

    # --- everybody ----------------------------------------------------------------------------

    def _publish(self, outcome: Outcome) -> None:
        for news in outcome.news:
            self._events.publish(news.session_id.encode(), news.seq, news.body)
        if outcome.live is not None:
            self._events.publish(LIVE_TOPIC, 0, encode(outcome.live))

    def _derive(self) -> None:
        """Derived tables follow in quiet moments, outside of every hot transaction."""
        try:
            self._derived.catch_up()
        except Exception as error:
            self._log.error("derive_failed", error)

    def _stats(self) -> dict[str, int]:
        return {
            **self._service.counts,
            "sessions": len(self._service.sessions),
            "waiting": self._desk.waiting,
            "malformed": self._patches.malformed + self._streams.malformed,
        }


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def main(child: Child) -> None:
    loop = Loop()
    reconciler = Reconciler(child, loop)
    child.attach(loop)
    child.ready()
    if not child.stopping:
        loop.run()
    reconciler.close()
