"""A segment of a session's observation stream: its items become events, in order, exactly once.

One function per kind of item, in one table. The segment is taken whole or not at all; it ends with
`stream.advanced`, which is the sender's only checkpoint and carries what the next one must know.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...reducer.alignment.confirm import admit
from ...reducer.session.stamp import stamp
from ...reducer.vocabulary.codec import encode
from ...reducer.vocabulary.episode import Episode, EpisodeItem, Segment
from ...reducer.vocabulary.observation import (
    Noted,
    Opened,
    Patched,
    Planned,
    Prompted,
    SessionInfo,
    Settled,
)
from ...reducer.vocabulary.payload import (
    PlanPublished,
    PromptReceived,
    RootIntentSet,
    SessionNoted,
    SessionSettled,
    StreamAdvanced,
)
from ...reducer.vocabulary.terms import Level
from ..inbox import Arrival, arrival
from ..messages import StreamAt
from . import causes
from .change import Change
from .opening import open_if_new


def take_segment(change: Change, segment: Segment) -> StreamAt:
    """Where the stream stands afterwards; the same answer for a repeat and a gap, unchanged."""
    session = change.session
    what = arrival(session.stream_position, segment.from_position, segment.to_position)
    if what is Arrival.NEXT:
        open_if_new(change, segment.info)
        for item in segment.items:
            if isinstance(item, EpisodeItem):
                _episode(change, segment.info, item)
            else:
                _FACTS[type(item.fact)](change, segment.info, item.fact)
        cause = causes.by_adapter(session, segment.info, segment.to_position)
        change.tell(cause, StreamAdvanced(segment.to_position, segment.resume))
        change.beside.append(
            lambda writer: writer.advance_stream(
                session.session_id, segment.to_position, encode(segment.resume)
            )
        )
    return StreamAt(session.session_id, session.stream_position, session.resume)


def _episode(change: Change, info: SessionInfo, item: EpisodeItem) -> None:
    """The episode with its stamp, then what a declaration asked of it by name (`admit`)."""
    session, episode = change.session, item.episode
    cause = causes.by_adapter(session, info, episode.from_position)
    change.tell(cause, stamp(session, episode, item.timing))
    admitted = admit(session, session.episodes[episode.episode_id])
    change.tell(_because_of(change, info, episode), *admitted)


def _because_of(change: Change, info: SessionInfo, episode: Episode) -> causes.Cause:
    cause = causes.by_adapter(change.session, info, episode.from_position)
    cause.causation_id = episode.episode_id
    return cause


def _opened(_: Change, __: SessionInfo, ___: Opened) -> None:
    """Says what `session.started` has said already."""


def _prompted(change: Change, info: SessionInfo, fact: Prompted) -> None:
    """The first prompt of a person is the inferred North Star until somebody declares one."""
    session = change.session
    is_first = session.root is None and session.first_prompt is None and not fact.machine
    cause = causes.by_adapter(session, info, fact.position)
    change.tell(cause, PromptReceived(fact.line, fact.position, fact.machine))
    if is_first:
        change.tell(cause, RootIntentSet(fact.line, Level.INFERRED))


def _patched(_: Change, __: SessionInfo, ___: Patched) -> None:
    """Only a boundary: the patch itself came on its own way."""


def _planned(change: Change, info: SessionInfo, fact: Planned) -> None:
    cause = causes.by_plan(change.session, info, fact.position)
    change.tell(cause, PlanPublished(fact.items, fact.position))


def _settled(change: Change, info: SessionInfo, fact: Settled) -> None:
    cause = causes.by_adapter(change.session, info, fact.position)
    change.tell(cause, SessionSettled(fact.reason, fact.position, fact.at))


def _noted(change: Change, info: SessionInfo, fact: Noted) -> None:
    cause = causes.by_adapter(change.session, info, fact.position)
    change.tell(cause, SessionNoted(fact.code, fact.position))


_FACTS: Final[dict[type[Any], Callable[[Change, SessionInfo, Any], None]]] = {
    Opened: _opened,
    Prompted: _prompted,
    Patched: _patched,
    Planned: _planned,
    Settled: _settled,
    Noted: _noted,
}
