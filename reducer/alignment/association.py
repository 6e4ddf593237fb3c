"""Which firing an episode belongs to, in the specification's order (seed, "关联顺序").

1. the episode names a transition that exists        → EXPLICIT (stamped at commit)
2. else the one active at its first source position   → ACTIVE (stamped at commit)
3. an observer's alternative                          → never; a tension at most
4. a person moved it                                  → PERSON; the stamp stays beside it
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from ..session.state import EpisodeRecord, PatchRecord, Session


class How(StrEnum):
    EXPLICIT = "explicit"
    ACTIVE = "active"
    PERSON = "person"
    NONE = "none"


class Association(Struct, frozen=True):
    """`stamped_transition_id` is what it was before a person moved it: provenance stays."""

    transition_id: str | None
    firing_id: str | None
    how: How
    stamped_transition_id: str | None


def associate(session: Session, record: EpisodeRecord) -> Association:
    transition_id = record.transition_id
    firing_id, how = record.firing_id, _how(record)
    if how is How.PERSON and transition_id != record.stamped_transition_id:
        firing_id = _firing_at(session, transition_id, record.episode.from_position)
    return Association(transition_id, firing_id, how, record.stamped_transition_id)


def episodes_of(session: Session, firing_id: str) -> list[EpisodeRecord]:
    """Episodes of one firing in position order."""
    return [
        record
        for record in session.episodes.values()
        if associate(session, record).firing_id == firing_id
    ]


def _how(record: EpisodeRecord) -> How:
    if record.moved_by is not None:
        return How.PERSON
    if record.transition_id is None:
        return How.NONE
    explicit = record.episode.transition_id == record.transition_id
    return How.EXPLICIT if explicit else How.ACTIVE


def _firing_at(session: Session, transition_id: str | None, position: int) -> str | None:
    """The firing of that transition under way at a position, else its first."""
    own = [patch for patch in session.patches if patch.active_transition_id == transition_id]
    before: list[PatchRecord] = [patch for patch in own if patch.position <= position]
    chosen = before[-1:] or own[:1]
    return chosen[0].firing_id if chosen and transition_id is not None else None
