"""The viewer's process: wakes up at committed events, reads the log, tells whoever listens.

    events.ipc ─▶ which sessions moved ─▶ at most every TELL_EVERY_MS per session ─▶ view.ipc
    snap.ipc   ─▶ answered from the same fold, after everything told before it

A session that nobody listens to costs its row in the list; it is folded when somebody asks.
"""

from __future__ import annotations

import time
from typing import Final, cast

from msgspec import Raw, Struct

from ...reducer.session.fold import fold
from ...reducer.session.state import Session
from ...reducer.vocabulary.codec import Malformed, decode, decode_untrusted, encode
from ...reducer.vocabulary.observation import LiveNote
from ..bus import LIVE_TOPIC, Bus, Incoming, Welcome
from ..child import Child
from ..eventlog.reader import Proposal, Reader, SessionRow
from ..loop import Loop
from ..messages import (
    AnySnapRequest,
    Delta,
    Live,
    NoSuchSession,
    ReadSessions,
    ReadView,
    Refused,
    SessionList,
    Snapshot,
)
from ..sessions import Sessions
from .clone import Clone
from .frames import Frames
from .live import after
from .merge import Json, plain

TELL_EVERY_MS: Final = 33  # no client is asked to draw more than 30 times a second
PULSE_MS: Final = 2_000
SESSIONS_TOPIC: Final = b"~sessions"
LIST_KEY: Final = "~sessions"
PERSON: Final = "page"  # whose pins, folds and watermark the frames show: there is one person
KEPT_MAX: Final = 16
LIVE_MAX: Final = 256
DRAIN_MAX: Final = 1_000


class Facts(Struct, frozen=True):
    """All that a frame is made from, cheap to read: equal facts, equal frame."""

    row: SessionRow | None
    live: Live
    proposals: tuple[Proposal, ...]


class Viewer:
    def __init__(self, child: Child, loop: Loop) -> None:
        self._log = child.log
        self._loop = loop
        self._reader = Reader.open(child.paths.database)
        self._sessions = Sessions(self._reader, KEPT_MAX)
        self._bus = Bus(child.paths, name="viewer", key=child.key)
        self._epoch = self._bus.epoch
        self._events = self._bus.subscriber("events.ipc", b"")
        self._deltas = self._bus.publisher("view.ipc")
        self._snaps = self._bus.answerer("snap.ipc")
        self._drawn: dict[str, Frames] = {}
        self._frames = Clone()
        self._list = Clone()
        self._live: dict[str, Live] = {}
        self._moved: set[str] = set()
        self._told_ms: dict[str, float] = {}
        self._known: dict[str, Facts] = {}
        self._timer = False
        self._told = 0
        loop.watch(self._events.socket, self._hear)
        loop.watch(self._deltas.socket, self._deltas.drain)
        loop.watch(self._snaps.socket, self._serve)
        loop.every(PULSE_MS, self._pulse)
        child.stats = self._stats
        self._rows: Json = {row.session_id: plain(row) for row in self._reader.sessions()}

    def close(self) -> None:
        self._bus.close()
        self._reader.close()

    # --- what moved ---------------------------------------------------------------------------

    def _hear(self) -> None:
        for _ in range(DRAIN_MAX):
            heard = self._events.receive()
            if heard is None:
                break
            if isinstance(heard, Welcome):
                # A reconciler that is new to us: whatever was published before is in the log.
                self._moved.update(row.session_id for row in self._reader.sessions())
            elif heard.topic == LIVE_TOPIC:
                self._note(decode(heard.body, LiveNote))
            else:
                self._moved.add(heard.topic.decode())
        self._tell_what_is_due()

    def _note(self, note: LiveNote) -> None:
        session_id = note.session_id
        if note.what == "purged":
            self._forget(session_id)
            return
        self._live[session_id] = after(self._live.pop(session_id, Live()), note)
        while len(self._live) > LIVE_MAX:
            del self._live[next(iter(self._live))]
        self._moved.add(session_id)

    def _forget(self, session_id: str) -> None:
        self._drop(session_id)
        self._frames.drop(session_id)
        self._live.pop(session_id, None)
        number = self._frames.update(session_id, {"gone": True})
        assert number is not None, "a dropped frame always differs"
        self._publish(session_id.encode(), session_id, number, seq=0, gone=True)
        self._frames.drop(session_id)
        self._known.pop(session_id, None)
        self._tell_list(session_id, None)

    # --- telling ------------------------------------------------------------------------------

    def _tell_what_is_due(self) -> None:
        now_ms = time.monotonic() * 1000
        for session_id in list(self._moved):
            if now_ms - self._told_ms.get(session_id, 0.0) >= TELL_EVERY_MS:
                self._moved.discard(session_id)
                if self._tell(session_id):
                    self._told_ms[session_id] = now_ms
        if self._moved and not self._timer:
            self._timer = True
            self._loop.after(TELL_EVERY_MS, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = False
        self._tell_what_is_due()

    def _tell(self, session_id: str) -> bool:
        """Whether there was something new. One batch of events wakes us several times."""
        facts = self._facts(session_id)
        if self._known.get(session_id) == facts:
            return False
        self._known[session_id] = facts
        self._tell_list(session_id, facts.row)
        if self._deltas.wanted(session_id.encode()):
            self._tell_frame(session_id, facts)
        else:
            self._frames.drop(session_id)
        return True

    def _tell_frame(self, session_id: str, facts: Facts) -> Json | None:
        """Brings everybody who listens to what is known now; the frame, if there is one."""
        frame = self._frame(session_id, facts)
        if frame is None:
            return None
        number = self._frames.update(session_id, frame)
        if number is not None:
            self._publish(session_id.encode(), session_id, number, frame["seq"])
        return frame

    def _tell_list(self, session_id: str, row: SessionRow | None) -> None:
        if row is None:
            self._rows.pop(session_id, None)
        else:
            self._rows[session_id] = plain(row)
        if not self._deltas.wanted(SESSIONS_TOPIC):
            self._list.drop(LIST_KEY)
        elif (number := self._list.update(LIST_KEY, dict(self._rows))) is not None:
            self._publish(SESSIONS_TOPIC, session_id, number, seq=0)

    def _publish(
        self,
        topic: bytes,
        session_id: str,
        number: tuple[int, Json],
        seq: int,
        *,
        gone: bool = False,
    ) -> None:
        n, change = number
        delta = Delta(self._epoch, n, session_id, seq, Raw(encode(change)), gone)
        self._deltas.publish(topic, n, encode(delta))
        self._told += 1

    def _pulse(self) -> None:
        """Publishing drops in silence at the high-water mark; the number alone tells who lost."""
        for topic, clone in ((None, self._frames), (SESSIONS_TOPIC, self._list)):
            for key, n in clone.numbers():
                to = topic or key.encode()
                if self._deltas.wanted(to):
                    delta = Delta(self._epoch, n, key, 0, Raw(b"{}"), pulse=True)
                    self._deltas.publish(to, n, encode(delta))

    # --- snapshots ----------------------------------------------------------------------------

    def _serve(self) -> None:
        for _ in range(DRAIN_MAX):
            incoming = self._snaps.receive()
            if incoming is None:
                return
            self._snaps.answer(incoming, self._answer(incoming))

    def _answer(self, incoming: Incoming) -> bytes:
        try:
            ask = decode_untrusted(incoming.body, cast("type[AnySnapRequest]", AnySnapRequest))
        except Malformed as error:
            return encode(Refused("malformed", f"{error.path}: {error.expected}"[:200]))
        if isinstance(ask, ReadSessions):
            return self._answer_list()
        if ask.at_seq is not None:
            return self._answer_past(ask, ask.at_seq)
        return self._answer_view(ask.session_id)

    def _answer_list(self) -> bytes:
        """As it was last told, which is at most one `TELL_EVERY_MS` behind the log."""
        n = self._list.snapshot(LIST_KEY, dict(self._rows))
        return encode(SessionList(self._epoch, n, Raw(encode(self._rows))))

    def _answer_view(self, session_id: str) -> bytes:
        """Everybody else is told first, so that one number means one frame."""
        facts = self._facts(session_id)
        if self._frames.kept(session_id):
            frame = self._tell_frame(session_id, facts)
        else:
            frame = self._frame(session_id, facts)
        if frame is None:
            return encode(NoSuchSession(session_id))
        n = self._frames.snapshot(session_id, frame)
        return encode(Snapshot(self._epoch, n, session_id, frame["seq"], Raw(encode(frame))))

    def _answer_past(self, ask: ReadView, at_seq: int) -> bytes:
        row = self._reader.session(ask.session_id)
        if row is None:
            return encode(NoSuchSession(ask.session_id))
        session = Session(ask.session_id)
        for envelope in self._reader.events(ask.session_id, to_seq=at_seq):
            fold(session, envelope)
        frame = Frames(PERSON).frame(session, row, Live(), ())
        return encode(Snapshot(self._epoch, 0, ask.session_id, session.seq, Raw(encode(frame))))

    # --- frames -------------------------------------------------------------------------------

    def _facts(self, session_id: str) -> Facts:
        return Facts(
            self._reader.session(session_id),
            self._live.get(session_id, Live()),
            self._reader.waiting_proposals(session_id),
        )

    def _frame(self, session_id: str, facts: Facts) -> Json | None:
        row = facts.row
        if row is None or row.last_seq == 0:
            return None
        if session_id in self._sessions and self._sessions.get(session_id).seq > row.last_seq:
            self._drop(session_id)  # purged and begun anew
        session = self._sessions.catch_up(session_id)
        drawn = self._drawn.pop(session_id, None) or Frames(PERSON)
        self._drawn[session_id] = drawn
        while len(self._drawn) > KEPT_MAX:
            del self._drawn[next(iter(self._drawn))]
        return drawn.frame(session, row, facts.live, facts.proposals)

    def _drop(self, session_id: str) -> None:
        self._sessions.drop(session_id)
        self._drawn.pop(session_id, None)

    def _stats(self) -> dict[str, int]:
        return {
            "sessions": len(self._sessions),
            "folded": self._sessions.folded,
            "told": self._told,
            "waiting": len(self._moved),
        }


def main(child: Child) -> None:
    loop = Loop()
    viewer = Viewer(child, loop)
    child.attach(loop)
    child.ready()
    if not child.stopping:
        loop.run()
    viewer.close()
