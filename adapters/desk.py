"""The adapter's desk: lines from agents in, positions, patches and notes out.

One frame at a time, in the order of its instance's numbers. A frame takes effect in the spool,
then is acknowledged after the commit that ends the turn; its patch goes out before that, since
sending it twice is harmless.

A connection waits (`paused`, nothing lost) while its session's counter is not known or its file
is being read. It never makes another one wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from ..daemon.logs import Log
from ..daemon.loop import Loop
from ..daemon.messages import Standing
from ..reducer.vocabulary.answer import CODES, AnyAnswer, Fault, Rejected
from ..reducer.vocabulary.codec import Malformed, encode
from ..reducer.vocabulary.observation import AnyObservation, Gap, LiveNote, Opened, Patched
from ..reducer.vocabulary.terms import Coverage
from . import wire
from .catching_up import CatchUp, Reader, batches
from .declared import SecretId, clean
from .importer.frames import MARK as IMPORT
from .importer.host import ImportHost, Refused
from .normalise.clean import Cleaner
from .outbox import Outbox
from .privacy import Privacy
from .server import Agent, AgentServer
from .sessions import Bound, Note, Session, Translator, info_of
from .spool import Errand, Spool, key_of

WELCOME_MS: Final = 60  # an extension waits 100 ms for it
IDLE_CLOSE_S: Final = 30 * 60
READ_AGAIN_S: Final = 10
BAD_FRAMES_MAX: Final = 100  # of one connection; then it is closed

Tell = Callable[[LiveNote], None]  # best effort
AskStanding = Callable[[str], None]


class Desk:
    """`Listener` of the server; owns the live sessions. Wired up in `__main__`."""

    def __init__(
        self,
        loop: Loop,
        spool: Spool,
        privacy: Privacy,
        log: Log,
        *,
        translators: dict[str, Callable[[str, Privacy], Translator]],
        readers: dict[str, Reader],
    ) -> None:
        self._loop = loop
        self._spool = spool
        self._privacy = privacy
        self._cleaner = Cleaner(privacy.redactor)
        self._log = log
        self._translators = translators
        self._readers = readers
        self._bound: dict[Agent, Bound] = {}
        self._grown: set[str] = set()  # sessions with something new since the last commit
        self._left_s: dict[str, float] = {}  # open sessions nobody is connected to, since when
        self.sessions: dict[str, Session] = {}
        self.server: AgentServer
        self.outbox: Outbox
        self.ask_standing: AskStanding
        self.tell: Tell
        self.importer: ImportHost
        self.tell_agents: Callable[[tuple[int, ...]], None]
        self.push: Callable[[str], None]

    # --- Listener -----------------------------------------------------------------------------

    def line(self, agent: Agent, data: bytes) -> None:
        if data.startswith(IMPORT) and agent not in self._bound:
            self._import(agent, data)
            return
        try:
            frame = wire.decode_line(data)
        except wire.BadFrame as bad:
            self._bad(agent, bad)
            return
        bound = self._bound.get(agent)
        if isinstance(frame, wire.Hello):
            if bound is None:
                self._hello(agent, frame)
            else:
                self.server.refuse(agent, "hello", "one hello per connection")
        elif bound is None:
            self.server.refuse(agent, "hello", "a hello before anything else")
        else:
            self._numbered(bound, frame)

    def overlong(self, agent: Agent) -> None:
        self._log.warning("overlong", pid=agent.pid)

    def gone(self, agent: Agent) -> None:
        bound = self._bound.pop(agent, None)
        if bound is None:
            return
        session = bound.session
        session.bound.pop(agent, None)
        self.say_who()
        if not session.bound:
            self._note(session, _now_ms(), (Note("gone"),))
            self._left_s[session.session_id] = time.monotonic()
            self.sessions.pop(session.session_id, None)

    def turn_done(self) -> None:
        """One commit for all that was taken, then the acknowledgements and the news."""
        self._spool.commit()
        for bound in list(self._bound.values()):  # one that does not read is lost on the way
            if bound.accepted > bound.acked:
                bound.acked = bound.accepted
                self.server.send(bound.agent, wire.Ack(bound.accepted))
        grown, self._grown = self._grown, set()
        for session_id in grown:
            self.push(session_id)

    # --- from the reconciler ------------------------------------------------------------------

    def take_standing(self, session_id: str, standing: Standing) -> None:
        """Revision, constraints, committed position: now known, or changed."""
        session = self.sessions.get(session_id)
        if session is None:
            return
        before, session.standing = session.standing, standing
        if not session.ready:
            self._spool.remember(session.info, live=True, position=standing.to_position)
            session.ready = True
            for bound in list(session.bound.values()):
                self._begin(bound)
        for bound in list(session.bound.values()):
            if not bound.welcomed:
                self._welcome(bound)
            elif before is None or before.constraints != standing.constraints:
                self.server.send(bound.agent, wire.Constraints(standing.constraints))
            if standing.anchor and session.primary == bound.hello.instance:
                self._anchor(bound, standing.anchor)
        self.turn_done()

    def deliver(self, errand: Errand, answer: AnyAnswer) -> bool:
        """An answer to the connection its instance has now; False: there is none."""
        for bound in self._bound.values():
            if bound.hello.instance == errand.instance:
                self.server.send(bound.agent, wire.AnswerFrame(errand.call_id, answer))
                return not bound.agent.link.closed
        return False

    def say_who(self) -> None:
        """Whoever descends from one of these is no person (`daemon/who.py`)."""
        self.tell_agents(tuple(sorted({bound.agent.pid for bound in self._bound.values()})))

    def sweep(self) -> None:
        """Sessions that nobody has worked on for long are over, as far as we can know."""
        now_s = time.monotonic()
        for known in self._spool.sessions():
            session_id = known.info.session_id
            if not known.open or not known.live or session_id in self.sessions:
                continue
            if now_s - self._left_s.setdefault(session_id, now_s) > IDLE_CLOSE_S:
                self._close_session(session_id)
        self.turn_done()

    # --- imports ------------------------------------------------------------------------------

    def _import(self, agent: Agent, data: bytes) -> None:
        """Past sessions: a connection that asks for them never says hello."""
        agent.greeted = True
        try:
            self.importer.ask(data, lambda line: self.server.send_line(agent, line))
        except Refused as refused:
            self.server.refuse(agent, "import", str(refused))

    # --- hello --------------------------------------------------------------------------------

    def _hello(self, agent: Agent, hello: wire.Hello) -> None:
        translator = self._translators.get(hello.agent)
        if translator is None:
            known = ", ".join(self._translators)
            return self.server.refuse(agent, "agent", f"one of {known}")
        agent.greeted = True
        session_id = f"{hello.agent}-{hello.session}"
        session = self.sessions.get(session_id)
        if session is None:
            known_info = self._spool.known(session_id)
            info = known_info.info if known_info else info_of(hello, self._privacy, _now_ms())
            session = Session(info, translator(hello.cwd, self._privacy))
            session.translator.resume(self._spool.last_plan(session_id))
            self.sessions[session_id] = session
            session.ready = known_info is not None
        bound = Bound(agent, session, hello, self._spool.accepted(hello.instance))
        session.bound[agent] = self._bound[agent] = bound
        self.say_who()
        session.claim(hello.instance)
        self._left_s.pop(session_id, None)
        self.server.pause(agent)
        self.ask_standing(session_id)
        self._loop.after(WELCOME_MS, lambda: self._welcome(bound))
        if session.ready:
            self._begin(bound)

    def _welcome(self, bound: Bound) -> None:
        """With what is known by now; what comes later is pushed."""
        if bound.welcomed or bound.agent not in self._bound:
            return
        bound.welcomed = True
        session, standing = bound.session, bound.session.standing
        first = session.claim(bound.hello.instance)
        self.server.send(
            bound.agent,
            wire.Welcome(
                v=wire.VERSION,
                ack=bound.accepted,
                revision=session.revision,
                declared=standing.declared if standing else True,
                constraints=standing.constraints if standing else (),
                bound=first,
                reason=None if first else "second instance",
            ),
        )
        self.outbox.redeliver(bound.hello.instance)

    def _begin(self, bound: Bound) -> None:
        """The counter is known: open the stream if it is new, read what we have missed."""
        session = bound.session
        self._spool.remember(session.info, live=True)
        if self._spool.last_position(session.session_id) == 0:
            started = session.info.started_at
            self._stamp(session, (Opened(0, started, session.info),))
        if bound.new and bound.hello.entries > 0 and not session.catching_up:
            self._missing(bound, 0, bound.session.info.started_at, "joined late")
        if not session.catching_up:
            self.server.resume(bound.agent)

    # --- numbered frames ----------------------------------------------------------------------

    def _bad(self, agent: Agent, bad: wire.BadFrame) -> None:
        """Told, counted as a gap if it had the next number, and gone on from if we can."""
        if agent.bad_frames == 0:
            self._log.warning("bad frame", pid=agent.pid, code=bad.code, seq=bad.seq)
        agent.bad_frames += 1
        bound = self._bound.get(agent)
        if bound is None or bad.seq is None or agent.bad_frames > BAD_FRAMES_MAX:
            return self.server.refuse(agent, bad.code, bad.expected)
        self.server.send(agent, wire.Error(bad.code, bad.expected))
        if bad.seq == bound.accepted + 1:
            at = self._last_at(bound.session)
            self._stamp(bound.session, (Gap(0, at, Coverage.PARTIAL, "bad frame", 1),))
            self._accept(bound, bad.seq)

    def _numbered(self, bound: Bound, frame: wire.Numbered) -> None:
        if frame.seq <= bound.accepted:
            bound.acked = min(bound.acked, bound.accepted - 1)  # say it again
            if isinstance(frame, wire.Patch | wire.Propose):
                self._declare(bound, frame)
            return
        hole = frame.seq - bound.accepted - 1
        if hole and not bound.new:
            self._missing(bound, hole, frame.at, "hole")
        bound.new = False
        if isinstance(frame, wire.Patch | wire.Propose):
            self._declare(bound, frame)
        elif isinstance(frame, wire.Drop):
            self._missing(bound, frame.count, frame.at, "dropped")
        else:
            self._hear(bound, frame)
        self._accept(bound, frame.seq)

    def _accept(self, bound: Bound, seq: int) -> None:
        bound.accepted = seq
        self._spool.accept(bound.hello.instance, bound.session.session_id, seq)

    def _hear(self, bound: Bound, frame: wire.Obs) -> None:
        session = bound.session
        heard = session.translator.hear(frame)
        self._stamp(
            session,
            [
                seen
                for seen in heard.observations
                if not self._spool.was_told(session.session_id, key_of(seen))
            ],
        )
        if heard.duration is not None:
            session.lasted(*heard.duration)
        if isinstance(frame, wire.Receipt):
            self._receipt(bound, frame)
        self._note(session, frame.at, heard.notes)
        if isinstance(frame, wire.Shutdown) and frame.reason != "reload":
            others = [b for b in session.bound.values() if b is not bound]
            if not others:
                self._close_session(session.session_id)

    def _declare(self, bound: Bound, frame: wire.Patch | wire.Propose) -> None:
        """A patch: at once to the reconciler, with the position its call has in the order."""
        session, instance, call_id = bound.session, bound.hello.instance, frame.call_id
        if self._spool.has_errand(instance, call_id):
            return
        if not session.claim(instance):
            fault = Fault("second_instance", "$", CODES["second_instance"])
            return self._reject(bound, call_id, fault)
        position = self._spool.place_of(session.session_id, call_id)
        if position == 0 and isinstance(frame, wire.Patch):
            position = self._stamp(session, (Patched(0, frame.at, call_id),))
        try:
            body = clean(frame.patch, call_id, self._privacy)
        except SecretId as secret:
            return self._reject(bound, call_id, secret.fault)
        except Malformed as error:
            return self._reject(bound, call_id, Fault("malformed", error.path, error.expected))
        position = position or self._spool.last_position(session.session_id)
        kind = "propose" if isinstance(frame, wire.Propose) else "patch"
        self.outbox.put(Errand(session.session_id, instance, kind, call_id, position, body))

    def _reject(self, bound: Bound, call_id: str, fault: Fault) -> None:
        answer = Rejected(bound.session.revision, (fault,))
        self.server.send(bound.agent, wire.AnswerFrame(call_id, answer))

    def _receipt(self, bound: Bound, frame: wire.Receipt) -> None:
        session_id = bound.session.session_id
        note = LiveNote(
            session_id, "receipt", frame.at, self._spool.last_position(session_id),
            ref=frame.correction_id,
        )  # fmt: skip
        call_id = f"receipt:{frame.correction_id}"
        self.outbox.put(
            Errand(session_id, bound.hello.instance, "receipt", call_id, note.after, encode(note))
        )

    def _anchor(self, bound: Bound, text: str) -> None:
        """Once per connection and request."""
        if bound.anchored != text:
            bound.anchored = text
            self.server.send(bound.agent, wire.Anchor(text))

    # --- what is missing ----------------------------------------------------------------------

    def _missing(self, bound: Bound, count: int, at: int, reason: str) -> None:
        """From the session file if there is one and it was not just read, else a gap."""
        session = bound.session
        reader = self._readers.get(bound.hello.agent)
        fresh = time.monotonic() - session.caught_up_s < READ_AGAIN_S and session.caught_up_s > 0
        gap = Gap(0, at, Coverage.PARTIAL, reason, count)
        if reader is None or bound.hello.file is None or fresh:
            self._stamp(session, (gap,))
            return
        session.catching_up = True
        session.caught_up_s = time.monotonic()
        for each in session.bound.values():
            self.server.pause(each.agent)
        catch_up = CatchUp(reader, bound.hello, self._privacy.refs)
        self._loop.after(0, lambda: self._catch_up(session, catch_up, gap))

    def _catch_up(self, session: Session, catch_up: CatchUp, gap: Gap) -> None:
        """A slice of the file per turn, so that nobody else has to wait for it."""
        if not catch_up.read_some():
            self._loop.after(0, lambda: self._catch_up(session, catch_up, gap))
            return
        missed: list[AnyObservation] = [gap]
        if catch_up.failed is not None:
            self._log.warning("cannot catch up", session=session.session_id, why=catch_up.failed)
        elif (known := self._spool.known(session.session_id)) is not None:
            missed = catch_up.behind(known.last_position, known.last_key)
            self._spool.tell(session.session_id, [key for seen in missed if (key := key_of(seen))])
        self._append(session, batches(missed))

    def _append(self, session: Session, rest: Iterator[list[AnyObservation]]) -> None:
        batch = next(rest, None)
        if batch is not None:
            self._stamp(session, batch)
            self._loop.after(0, lambda: self._append(session, rest))
            return
        session.translator.resume(self._spool.last_plan(session.session_id))
        session.catching_up = False
        for bound in list(session.bound.values()):
            self.server.resume(bound.agent)
        self.turn_done()

    # --- small change -------------------------------------------------------------------------

    def _stamp(self, session: Session, seen: Iterable[AnyObservation]) -> int:
        """Through the last gate, with positions in order; returns the last one given."""
        session_id = session.session_id
        position = self._spool.last_position(session_id)
        stamped = self._cleaner.clean(list(seen), position + 1)
        for observation in stamped:
            if isinstance(observation, Patched):
                self._spool.place_call(session_id, observation.call_id, observation.position)
        self._spool.append(session_id, stamped)
        if stamped:
            self._grown.add(session_id)
        return position + len(stamped)

    def _note(self, session: Session, at: int, notes: Iterable[Note]) -> None:
        after = self._spool.last_position(session.session_id)
        for note in notes:
            self.tell(LiveNote(session.session_id, note.what, at, after, note.name, note.ref))

    def _close_session(self, session_id: str) -> None:
        self._spool.close_session(session_id)
        self._grown.add(session_id)

    def _last_at(self, session: Session) -> int:
        known = self._spool.known(session.session_id)
        return known.last_at if known else session.info.started_at


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
