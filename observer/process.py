"""The observer's process: listens to committed episodes, asks one question at a time, submits.

    events.ipc ──▶ worth asking? ──▶ queue (bounded, newest win) ──▶ thread: redact, ask
    stream.ipc ◀── SubmitRemark ◀────────────────────────────────────────┘

Asking blocks, so it has a thread of its own; the loop stays free to answer the supervisor's ping.
Nobody waits for a remark: what does not fit the queue is dropped and counted.
"""

from __future__ import annotations

import os
import queue
import secrets
import threading
from typing import Final

from msgspec import Struct

from ..daemon.bus import Bus, Published
from ..daemon.child import Child
from ..daemon.eventlog.connection import LogUnavailable
from ..daemon.eventlog.reader import Reader
from ..daemon.loop import Loop
from ..daemon.messages import SubmitRemark
from ..daemon.sessions import Sessions
from ..reducer.session.state import EpisodeRecord, Session
from ..reducer.vocabulary.annotation import ObserverPatch
from ..reducer.vocabulary.codec import decode, encode
from ..reducer.vocabulary.event import Envelope, EpisodeCompleted
from . import answer
from .asking import Asker
from .pack import pack
from .prompt import Request, build
from .redacting import Redacting
from .triggers import reason_to_ask

QUEUE_MAX: Final = 8
SESSIONS_KEPT_MAX: Final = 8
RETRY_MS: Final = 500
IDLE_CHECK_MS: Final = 30_000


class Question(Struct, frozen=True):
    session_id: str
    episode_id: str
    transition_id: str | None
    request: Request


class Observer:
    """`asker` None: no model is configured, and nothing is ever asked."""

    def __init__(self, child: Child, loop: Loop, asker: Asker, redacting: Redacting) -> None:
        self._child = child
        self._loop = loop
        self._asker = asker
        self._redacting = redacting
        self._bus = Bus(child.paths, name="observer", key=child.key)
        self._events = self._bus.subscriber("events.ipc", b"")
        self._stream = self._bus.caller("stream.ipc")
        self._reader: Reader | None = None
        self._sessions: Sessions | None = None
        self._questions: queue.Queue[Question] = queue.Queue(QUEUE_MAX)
        self._remarks: queue.SimpleQueue[ObserverPatch] = queue.SimpleQueue()
        self._unsent: list[ObserverPatch] = []
        self._bell_read, self._bell_write = os.pipe()
        os.set_blocking(self._bell_read, False)
        self.counts = {"asked": 0, "done": 0, "answered": 0, "dropped": 0}
        child.stats = lambda: dict(self.counts)
        loop.watch(self._events.socket, self._on_events)
        loop.watch(self._stream.socket, self._on_replies)
        loop.watch(self._bell_read, self._on_bell)
        loop.every(RETRY_MS, self._submit)
        threading.Thread(target=self._answer_for_ever, name="asking", daemon=True).start()

    def _on_events(self) -> None:
        while (heard := self._events.receive()) is not None:
            if isinstance(heard, Published) and not heard.topic.startswith(b"~"):
                self._on_event(decode(heard.body, Envelope))

    def _on_event(self, envelope: Envelope) -> None:
        if envelope.kind != "episode.completed":
            return
        episode = decode(bytes(envelope.payload), EpisodeCompleted).episode
        session = self._session(envelope.session_id)
        record = session.episodes.get(episode.episode_id) if session else None
        if session is None or record is None or reason_to_ask(session, record) is None:
            return
        self._enqueue(question_of(session, record, self._redacting))

    def _session(self, session_id: str) -> Session | None:
        try:
            if self._sessions is None:
                self._reader = Reader.open(self._child.paths.database)
                self._sessions = Sessions(self._reader, SESSIONS_KEPT_MAX)
            return self._sessions.catch_up(session_id)
        except LogUnavailable as error:
            self._child.log.warning("log_unavailable", because=str(error))
            return None

    def _enqueue(self, question: Question) -> None:
        """A full queue loses its oldest: what just happened is what a person will look at."""
        while True:
            try:
                self._questions.put_nowait(question)
                return
            except queue.Full:
                self.counts["dropped"] += 1
                try:
                    self._questions.get_nowait()
                except queue.Empty:
                    continue

    def _answer_for_ever(self) -> None:
        while True:
            try:
                question = self._questions.get(timeout=IDLE_CHECK_MS / 1000)
            except queue.Empty:
                self._asker.rest()
                continue
            self.counts["asked"] += 1
            remark = self._ask(question)
            self.counts["done"] += 1
            if remark is not None:
                self.counts["answered"] += 1
                self._remarks.put(remark)
                os.write(self._bell_write, b"!")

    def _ask(self, question: Question) -> ObserverPatch | None:
        asked = self._asker.ask(question.request)
        detail = self._redacting.texts([asked.detail])[0] if asked.detail else ""
        self._child.log.info(
            "asked",
            session=question.session_id,
            episode=question.episode_id,
            outcome=asked.outcome,
            calls=asked.calls,
            detail=detail[:200],
        )
        if asked.reply is None:
            return None
        summary = self._redacting.texts([answer.plain(asked.reply.summary)])[0]
        return answer.remark(
            asked.reply,
            patch_id=f"obs_{secrets.token_hex(8)}",
            session_id=question.session_id,
            episode_id=question.episode_id,
            model_version=self._asker.model_version,
            transition_id=question.transition_id,
            summary=summary,
        )

    def _on_bell(self) -> None:
        os.read(self._bell_read, 4096)
        while True:
            try:
                self._unsent.append(self._remarks.get_nowait())
            except queue.Empty:
                break
        self._submit()

    def _submit(self) -> None:
        """What cannot be sent now is kept for the next turn; the newest QUEUE_MAX of it."""
        self._unsent = [
            remark
            for remark in self._unsent[-QUEUE_MAX:]
            if not self._stream.send(remark.patch_id.encode(), encode(SubmitRemark(remark)))
        ]

    def _on_replies(self) -> None:
        while self._stream.receive() is not None:
            pass

    def close(self) -> None:
        self._asker.rest(at_once=True)
        self._redacting.close()
        self._bus.close()


def question_of(session: Session, record: EpisodeRecord, redacting: Redacting) -> Question:
    """The redacted request about one episode: all that could ever leave the machine for it."""
    packed = redacting.value(pack(session, record))
    request = build(session, record, packed, secrets.token_hex(8))
    return Question(session.session_id, record.episode.episode_id, record.transition_id, request)
