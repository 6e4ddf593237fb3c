"""Who is connected to what: a session, the instances that work on it, and which of them may speak.

A session may be held by two live instances (two Pis on one file). Both are watched; only the
first may declare a path. When it is gone, the next one that declares takes its place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from ..daemon.messages import Standing
from ..reducer.vocabulary.observation import AnyObservation, Planned, SessionInfo
from . import wire
from .privacy import Privacy
from .server import Agent

DURATIONS_MAX: Final = 256


class Note(Struct, frozen=True):
    """Something only the live channel knows: `what` as in LiveNote."""

    what: str
    name: str | None = None
    ref: str | None = None


class Heard(Struct, frozen=True):
    """One frame, understood. Observations are drafts: raw strings, position 0."""

    observations: tuple[AnyObservation, ...] = ()
    notes: tuple[Note, ...] = ()
    duration: tuple[str, int] | None = None  # call id, ms


class Translator(Protocol):
    """One agent's live frames → observations, by the functions its file reader uses too."""

    def resume(self, plan: Planned | None) -> None: ...
    def hear(self, frame: wire.Obs) -> Heard: ...


class Bound:
    """One connection after its hello. `accepted`: its frames up to there have taken effect."""

    __slots__ = ("accepted", "acked", "agent", "anchored", "hello", "new", "session", "welcomed")

    def __init__(self, agent: Agent, session: Session, hello: wire.Hello, accepted: int) -> None:
        self.agent = agent
        self.session = session
        self.hello = hello
        self.accepted = accepted
        self.acked = accepted
        self.new = accepted == 0  # an instance not seen before: the file may know more than we
        self.welcomed = False
        self.anchored: str | None = None  # the last request to anchor it was sent


class Session:
    """One session while somebody is connected. Positions and all that must last are the spool's."""

    def __init__(self, info: SessionInfo, translator: Translator) -> None:
        self.info = info
        self.session_id = info.session_id
        self.translator = translator
        self.bound: dict[Agent, Bound] = {}
        self.primary: str | None = None
        self.ready = False  # its position counter is known
        self.catching_up = False
        self.caught_up_s = 0.0  # when, so that a bad peer cannot make us read a file all day
        self.standing: Standing | None = None
        self.durations: dict[str, int] = {}
        self.handed_over: set[str] = set()  # corrections that were written to an agent's socket

    @property
    def revision(self) -> int:
        return self.standing.revision if self.standing else 0

    def claim(self, instance: str) -> bool:
        """Whether this instance may declare; the first, or whoever comes when that has gone."""
        held = any(bound.hello.instance == self.primary for bound in self.bound.values())
        if self.primary is None or not held:
            self.primary = instance
        return self.primary == instance

    def lasted(self, call_id: str, duration_ms: int) -> None:
        self.durations[call_id] = duration_ms
        if len(self.durations) > DURATIONS_MAX:
            del self.durations[next(iter(self.durations))]


def info_of(hello: wire.Hello, privacy: Privacy, now_ms: int) -> SessionInfo:
    """Who is watched, as the hello tells it."""
    parent = f"{hello.agent}-{hello.parent}" if hello.parent else None
    relation = None if parent is None else "fork" if hello.reason == "fork" else "subagent"
    return SessionInfo(
        session_id=f"{hello.agent}-{hello.session}",
        agent=hello.agent,
        agent_version=hello.agent_version,
        project=privacy.line(Path(hello.cwd).name) if Path(hello.cwd).name else None,
        project_ref=privacy.refs.ref("project", hello.cwd) if hello.cwd else None,
        parent_session_id=parent,
        relation=relation,
        started_at=hello.started_at or now_ms,
    )
