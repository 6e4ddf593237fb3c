"""When the agent is asked to say where it stands (seed, "在下一个安全边界重新锚定路径").

Asked at a safe boundary only, for a path that was declared, when it reads lagging or diverged and
stayed so, or when nothing is active for long. Never twice for one cause, and not again before
some work has gone by. The request holds ids and counts alone: nothing observed, no model's word.
"""

from __future__ import annotations

from typing import Final

from ..alignment.verdict import Verdict, verdict
from ..session.state import Session
from ..vocabulary.event import AnchorRequested
from ..vocabulary.terms import AlignmentStatus

LAGGING_EPISODES_MIN: Final = 4  # in the window: one more than it takes to lag
QUIET_EPISODES: Final = 6  # between two requests, whatever their causes


def due(session: Session, now: Verdict | None = None) -> AnchorRequested | None:
    """The request to make at the boundary reached now, if any."""
    current = now or verdict(session)
    if not _beyond_threshold(session, current) or not _rested(session):
        return None
    cause_id = cause_of(current)
    if cause_id in session.anchored:
        return None
    return AnchorRequested(cause_id, current.status)


def cause_of(current: Verdict) -> str:
    """One cause: this firing, in this state, since then."""
    return f"{current.firing_id or 'none'}:{current.status}:{current.since_id or 'start'}"


def text_of(current: Verdict) -> str:
    """What the agent reads. Ids and counts only."""
    if current.transition_id is None:
        return (
            f"No step is active since {current.window.completed} stretches of work. "
            "Please call update_action_path: activate the step you are on, or declare one."
        )
    return (
        f"The path may be stale: step {current.transition_id} reads {current.status} over "
        f"{current.window.completed} stretches of work. Please call update_action_path: attach "
        "the evidence, change the step's contract, or complete, fail or supersede the step."
    )


def _beyond_threshold(session: Session, current: Verdict) -> bool:
    if not session.declared():
        return False
    if current.status is AlignmentStatus.DIVERGED:
        return True
    if current.status is AlignmentStatus.LAGGING:
        return current.window.completed >= LAGGING_EPISODES_MIN
    return current.stale


def _rested(session: Session) -> bool:
    if not session.anchored:
        return True
    last = max(session.anchored.values())
    since = sum(record.seq > last for record in session.episodes.values())
    return since >= QUIET_EPISODES
