"""To whom an event is owed: one function per channel. An actor never comes from a message."""

from __future__ import annotations

from typing import Final

from ...reducer.remarks.proposals import OBSERVER_ID
from ...reducer.session.seal import Cause
from ...reducer.session.state import Session
from ...reducer.vocabulary.ids import AgentId
from ...reducer.vocabulary.observation import SessionInfo
from ...reducer.vocabulary.patch import Actor
from ...reducer.vocabulary.terms import ActorType, Channel

SYSTEM: Final = Actor(ActorType.SYSTEM, "reconciler")
# There is one person at one machine; their name is not ours to store.
PERSON: Final = Actor(ActorType.HUMAN, "me")
OBSERVER: Final = Actor(ActorType.OBSERVER, OBSERVER_ID)


def by_agent(session: Session, agent_id: AgentId, patch_id: str) -> Cause:
    actor = Actor(ActorType.AGENT, agent_id)
    return Cause(Channel.DECLARED_PATH, actor, patch_id, turn(session))


def by_adapter(session: Session, info: SessionInfo, position: int) -> Cause:
    actor = Actor(ActorType.ADAPTER, info.agent)
    return Cause(Channel.OBSERVED, actor, f"obs_{position}", turn(session))


def by_plan(session: Session, info: SessionInfo, position: int) -> Cause:
    """A plan the agent published by its own means: declared, but coarse (RULES 24)."""
    actor = Actor(ActorType.ADAPTER, info.agent)
    return Cause(Channel.DECLARED_COARSE, actor, f"obs_{position}", turn(session))


def by_person(session: Session, correction_id: str) -> Cause:
    return Cause(Channel.HUMAN, PERSON, correction_id, turn(session))


def by_observer(session: Session, patch_id: str, confidence: float) -> Cause:
    return Cause(Channel.OBSERVER, OBSERVER, patch_id, turn(session), confidence)


def by_system(session: Session, cause_id: str) -> Cause:
    return Cause(Channel.SYSTEM, SYSTEM, cause_id, turn(session))


def turn(session: Session) -> str | None:
    """The prompt an event belongs to: `turn_3` is all that followed the third one."""
    return f"turn_{session.prompt_count}" if session.prompt_count else None
