"""Which transition was active where: the reconciler's stamp on an episode (RULES 21).

The stream is ordered by source position, so an episode that arrives late is still stamped with
the transition that was active when its first fact happened, not with today's.
"""

from __future__ import annotations

from ..vocabulary.episode import Episode, Timing
from ..vocabulary.event import EpisodeCompleted
from .state import PatchRecord, Session


def stamp(session: Session, episode: Episode, timing: Timing | None = None) -> EpisodeCompleted:
    """The episode as an event. An explicit transition id that exists wins (seed, 关联顺序 1)."""
    patch = patch_before(session, episode.from_position)
    active = patch.active_transition_id if patch else None
    firing = patch.firing_id if patch else None
    explicit = episode.transition_id
    if explicit is not None and explicit in session.net.transitions and explicit != active:
        active, firing = explicit, _firing_before(session, explicit, episode.from_position)
    return EpisodeCompleted(
        episode=episode,
        active_transition_id=active,
        firing_id=firing,
        path_revision=patch.revision if patch else 0,
        timing=timing,
    )


def _firing_before(session: Session, transition_id: str, position: int) -> str | None:
    """Its last firing at that position; today's net may have fired it since."""
    for patch in reversed(session.patches):
        if patch.position <= position and patch.active_transition_id == transition_id:
            return patch.firing_id
    return None


def patch_before(session: Session, position: int) -> PatchRecord | None:
    """The last applied patch at or before a source position. Corrections count from their own."""
    for patch in reversed(session.patches):
        if patch.position <= position:
            return patch
    return None
