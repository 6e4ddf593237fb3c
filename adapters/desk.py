"""The adapter's desk: lines from agents in, positions, patches and notes out.

One frame at a time, in the order of its instance's numbers. A frame takes effect in the spool,
then is acknowledged after the commit that ends the turn; its patch goes out before that, since
sending it twice is harmless.

A connection waits (`paused`, nothing lost) while its session's counter is not known or its file
is being read. It never makes another one wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Final

from ..daemon.logs import Log
from ..daemon.loop import Loop
from ..daemon.messages import Standing
from ..reducer.vocabulary.answer import AnyAnswer
from ..reducer.vocabulary.observation import AnyObservation, LiveNote, Opened, Patched
from . import wire
from .catching_up import Reader
from .declaring import Declaring
from .importer.frames import MARK as IMPORT
from .importer.host import ImportHost, Refused
from .missing import Lack, Missing
from .normalise.clean import Cleaner
from .outbox import Outbox
from .privacy import Privacy
from .server import Agent, AgentServer
from .sessions import Bound, Note, Session, Translator, info_of
from .spool import Spool
from .spooled import Errand, key_of

WELCOME_MS: Final = 60  # an extension waits 100 ms for it
IDLE_CLOSE_S: Final = 30 * 60
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
        self._missing = Missing(
            loop,
            spool,
            log,
            readers,
            privacy.refs,
            stamp=self._stamp,
            pause=self._pause_all,
            resume=self._resume_all,
        )
        self._bound: dict[Agent, Bound] = {}
        self._grown: set[str] = set()  # sessions with something new since the last commit
        self._left_s: dict[str, float] = {}  # open sessions nobody is connected to, since when
        self.sessions: dict[str, Session] = {}
        self.server: AgentServer
        self.outbox: Outbox
        self.declaring: Declaring
        self.ask_standing: AskStanding
        self.tell: Tell
        self.importer: ImportHost
        self.tell_agents: Callable[[tuple[int, ...]], None]
        self.push: Callable[[str], None]

    def make_declaring(self) -> Declaring:
        return Declaring(
            self._spool,
            self._privacy,
            self.outbox,
            stamp=self._stamp,
            send=lambda agent, frame: self.server.send(agent, frame),
        )

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
            self._numbered(bound, frame, data)

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
        self._spool.reach(session_id, standing.to_position)
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
                self.declaring.handed_over(bound, standing.constraints, _now_ms())
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

    def purged(self, session_id: str) -> None:
        """A person wants nothing of it kept. Whoever is connected starts anew."""
        session = self.sessions.get(session_id)
        for bound in list(session.bound.values()) if session else ():
            self.server.refuse(bound.agent, "purged", "a new connection")
        self._spool.forget(session_id)
        self._grown.discard(session_id)

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
        self.declaring.handed_over(bound, standing.constraints if standing else (), _now_ms())
        self.outbox.redeliver(bound.hello.instance)

    def _begin(self, bound: Bound) -> None:
        """The counter is known: open the stream if it is new, read what we have missed."""
        session = bound.session
        self._spool.remember(session.info, live=True)
        if self._spool.last_position(session.session_id) == 0:
            started = session.info.started_at
            self._stamp(session, (Opened(0, started, session.info),))
        if bound.new and bound.hello.entries > 0 and not session.catching_up:
            self._missing.make_good(bound, Lack(0, session.info.started_at, "joined late"))
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
            self._stamp(bound.session, [Lack(1, self._last_at(bound.session), "bad frame").gap()])
            self._accept(bound, bad.seq)

    def _numbered(self, bound: Bound, frame: wire.Numbered, data: bytes) -> None:
        if frame.seq <= bound.accepted:
            bound.acked = min(bound.acked, bound.accepted - 1)  # say it again
            if isinstance(frame, wire.Patch | wire.Propose):
                self.declaring.declare(bound, frame)
            return
        if hole := frame.seq - bound.accepted - 1:
            self._hole(bound, frame, hole)
            if bound.session.catching_up:  # what is missing comes first
                bound.agent.waiting.appendleft(data)
                return
        bound.new = False
        if isinstance(frame, wire.Patch | wire.Propose):
            self.declaring.declare(bound, frame)
        elif isinstance(frame, wire.Drop):
            self._missing.make_good(bound, Lack(frame.count, frame.at, "dropped"))
        else:
            self._hear(bound, frame)
        self._accept(bound, frame.seq)

    def _hole(self, bound: Bound, frame: wire.Numbered, count: int) -> None:
        """Numbers that another life of ours has acknowledged, or nobody ever sent."""
        just_read = bound.new and bound.session.caught_up_s > 0
        self._accept(bound, frame.seq - 1)
        bound.new = False
        if not just_read:
            self._missing.make_good(bound, Lack(count, frame.at, "hole"))

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
            self.declaring.receipt(bound, frame)
        self._note(session, frame.at, heard.notes)
        if isinstance(frame, wire.Shutdown) and frame.reason != "reload":
            others = [b for b in session.bound.values() if b is not bound]
            if not others:
                self._close_session(session.session_id)

    def _anchor(self, bound: Bound, text: str) -> None:
        """Once per connection and request."""
        if bound.anchored != text:
            bound.anchored = text
            self.server.send(bound.agent, wire.Anchor(text))

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

    def _pause_all(self, session: Session) -> None:
        for bound in session.bound.values():
            self.server.pause(bound.agent)

    def _resume_all(self, session: Session) -> None:
        for bound in list(session.bound.values()):
            self.server.resume(bound.agent)
        self.turn_done()

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
