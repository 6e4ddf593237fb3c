"""The adapter process: `python -P -m wayfinder.adapters`, started by the supervisor.

One poll loop over agent.sock, the spool's counter, the reconciler and its events. No network; no
raw text past the redactor. Killed at any moment it loses nothing that was acknowledged: agents
send again what was not, and positions go on where the spool stands.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from ..daemon.bus import LIVE_TOPIC, Bus, Published, Welcome
from ..daemon.child import Child, run_child
from ..daemon.lock import Lock
from ..daemon.loop import Loop
from ..daemon.messages import AnyReply, ReadStanding, Standing, SubmitLiveNote, TellAgents
from ..reducer.vocabulary.codec import decode, encode
from ..reducer.vocabulary.observation import LiveNote
from .agents import READERS, TRANSLATORS
from .counter import Counter
from .desk import Desk
from .importer.host import ImportHost
from .outbox import Outbox
from .privacy import Privacy, open_privacy, warm
from .server import AgentServer
from .spool import Spool

TICK_MS: Final = 200
WARM_POLL_MS: Final = 10
STANDING_TICKS: Final = 3
SAY_WHO_TICKS: Final = 10
SWEEP_MS: Final = 60_000
DRAIN_MAX: Final = 256
NOTE_ID: Final = b"note"

# What changes what an agent must be told, by kind of event.
CHANGES_STANDING: Final = frozenset({"human.corrected", "constraint.receipted", "anchor.requested"})


class _Event(Struct):
    kind: str = ""


_events: Final = msgspec.json.Decoder(_Event)
_replies: Final[msgspec.json.Decoder[AnyReply]] = msgspec.json.Decoder(AnyReply)


class Process:
    """Wires the parts to their sockets; holds no state of its own but what was asked."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self.loop = Loop()
        self._lock = Lock(child.paths.state / "adapter.lock")
        self._spool = Spool(child.paths.state / "spool.db")
        self._privacy: Privacy = open_privacy(child.paths, self._on_redactor)
        self._warming = threading.Thread(target=warm, args=(self._privacy,), daemon=True)
        bus = self._bus = Bus(child.paths, name="adapter", key=child.key)
        self._doorman = bus.doorman()
        self._patches = bus.caller("patch.ipc")
        self._stream = bus.caller("stream.ipc")
        self._events = bus.subscriber("events.ipc", LIVE_TOPIC)
        self._answerer = bus.answerer("spool.ipc")
        self._numbers = itertools.count(1)
        self._asked: dict[bytes, str] = {}  # request id → session whose standing was asked
        self._standing_due: dict[str, int] = {}  # session → tick to ask again at
        self._tick = 0
        self._desk = self._make_desk()
        self._counter = Counter(self._spool, self._answerer, self._timings)
        self._outbox = Outbox(self._spool, self._patches, self._stream, self._desk.deliver)
        self._join()

    def run(self) -> None:
        child, loop = self._child, self.loop
        child.on_stop = loop.stop
        child.stats = self._stats
        loop.watch(child.fd, child.turn)
        loop.watch(self._doorman.socket, self._doorman.serve)
        loop.watch(self._patches.socket, self._read_patches)
        loop.watch(self._stream.socket, self._read_stream)
        loop.watch(self._events.socket, self._read_events)
        loop.watch(self._answerer.socket, self._serve_spool)
        loop.every(TICK_MS, self._on_tick)
        loop.every(SWEEP_MS, self._desk.sweep)
        self._desk.server = AgentServer(loop, child.paths, self._desk)
        self._warming.start()
        loop.after(0, self._open_when_warm)
        child.ready()
        loop.run()
        self._desk.importer.close()
        self._desk.server.close()
        self._spool.close()
        self._bus.close()

    def _make_desk(self) -> Desk:
        return Desk(
            self.loop,
            self._spool,
            self._privacy,
            self._child.log,
            translators=TRANSLATORS,
            readers=READERS,
        )

    def _join(self) -> None:
        desk = self._desk
        desk.outbox = self._outbox
        desk.declaring = desk.make_declaring()
        desk.ask_standing = self._ask_standing
        desk.tell = self._tell
        desk.tell_agents = self._tell_agents
        desk.push = self._counter.push
        desk.importer = ImportHost(
            self.loop,
            self._spool,
            self._child.paths,
            self._child.log,
            live=lambda session_id: session_id in desk.sessions,
            push=self._counter.push,
        )

    def _open_when_warm(self) -> None:
        """Until the redactor has its rules nobody is let in, and this loop stays awake. The
        thread does nothing but wait for them; no one else asks before it has ended."""
        if self._warming.is_alive():
            self.loop.after(WARM_POLL_MS, self._open_when_warm)
        else:
            self._desk.server.open()

    # --- turns of the loop --------------------------------------------------------------------

    def _on_tick(self) -> None:
        self._tick += 1
        self._outbox.tick()
        if self._tick % SAY_WHO_TICKS == 0:
            self._desk.say_who()
        for session_id, due in list(self._standing_due.items()):
            if session_id not in self._desk.sessions:
                del self._standing_due[session_id]
            elif due <= self._tick:
                self._ask_standing(session_id)
        self._spool.commit()

    def _read_patches(self) -> None:
        for _ in range(DRAIN_MAX):
            message = self._patches.receive()
            if message is None:
                break
            request_id, body = message
            session_id = self._asked.pop(request_id, None)
            if session_id is None:
                self._outbox.take(request_id, body)
                continue
            reply = _replies.decode(body)
            if isinstance(reply, Standing):
                self._standing_due.pop(session_id, None)
                self._desk.take_standing(session_id, reply)
        self._spool.commit()
        while self._outbox.answered:
            self._counter.push(self._outbox.answered.pop())

    def _read_stream(self) -> None:
        for _ in range(DRAIN_MAX):
            message = self._stream.receive()
            if message is None:
                break
            self._outbox.take(*message)
        self._spool.commit()

    def _read_events(self) -> None:
        for _ in range(DRAIN_MAX):
            event = self._events.receive()
            if event is None:
                return
            if isinstance(event, Welcome):  # the publisher is new: we may have missed something
                for session_id in list(self._desk.sessions):
                    self._ask_standing(session_id)
            else:
                self._take_event(event)

    def _take_event(self, event: Published) -> None:
        if event.topic == LIVE_TOPIC:
            self._take_note(event.body)
            return
        session_id = event.topic.decode("utf-8", "replace")
        if session_id not in self._desk.sessions:
            return
        if _events.decode(event.body).kind in CHANGES_STANDING:
            self._ask_standing(session_id)

    def _take_note(self, body: bytes) -> None:
        """Mostly our own, echoed: only a purge is news."""
        note = decode(body, LiveNote) if b'"purged"' in body else None
        if note is not None and note.what == "purged":
            self._desk.purged(note.session_id)
            self._counter.forget(note.session_id)

    def _serve_spool(self) -> None:
        """A purge first: what it removes must not be handed out once more."""
        self._read_events()
        self._counter.serve()
        self._spool.commit()

    # --- to the reconciler --------------------------------------------------------------------

    def _ask_standing(self, session_id: str) -> None:
        self._events.subscribe(session_id.encode())
        request_id = b"s%d" % next(self._numbers)
        if self._patches.send(request_id, encode(ReadStanding(session_id))):
            self._asked[request_id] = session_id
            if len(self._asked) > DRAIN_MAX:
                del self._asked[next(iter(self._asked))]
        self._standing_due[session_id] = self._tick + STANDING_TICKS

    def _on_redactor(self, event: str, facts: Mapping[str, int | str]) -> None:
        self._child.log.warning(event, **facts)

    def _tell(self, note: LiveNote) -> None:
        self._stream.send(NOTE_ID, encode(SubmitLiveNote(note)))

    def _tell_agents(self, pids: tuple[int, ...]) -> None:
        self._stream.send(NOTE_ID, encode(TellAgents(pids)))

    def _timings(self, session_id: str) -> tuple[tuple[str, int], ...]:
        session = self._desk.sessions.get(session_id)
        return tuple(session.durations.items()) if session else ()

    def _stats(self) -> dict[str, int]:
        return {
            "sessions": len(self._desk.sessions),
            "connections": len(self._desk.server.agents),
            "spooled": self._spool.depth(),
            "in flight": self._outbox.in_flight,
            "refused": self._desk.server.refused,
        }


def main(child: Child) -> None:
    Process(child).run()


if __name__ == "__main__":
    run_child(main)
