"""When the observer may be asked at all: the seed's list, "触发语义判别的边界". Pure.

Most episodes are not worth a question: one that ran inside a declared step, with a kind that
step expects and nothing new in it, tells the map nothing that it does not know.
"""

from __future__ import annotations

from typing import Final

from ..reducer.session.state import EpisodeRecord, Session
from ..reducer.vocabulary.terms import Boundary

EPISODES_WITHOUT_PATCH_MAX: Final = 3

_ASKING_BOUNDARIES: Final[dict[Boundary, str]] = {
    Boundary.PATCH: "the agent changed its path",
    Boundary.NEW_SIGNATURE: "a new error signature",
    Boundary.THIRD_REPEAT: "the same error three times",
    Boundary.GATE: "a gate changed",
    Boundary.SETTLED: "the agent settled",
    Boundary.PROMPT: "a turn ended",
}


def reason_to_ask(session: Session, record: EpisodeRecord) -> str | None:
    """Why this episode is worth a question, in words, or None."""
    if record.episode.calls == 0:
        return None
    reason = _ASKING_BOUNDARIES.get(record.episode.boundary)
    if reason is not None:
        return reason
    last = session.last_patch()
    since = sum(1 for other in session.episodes.values() if last is None or other.seq > last.seq)
    if since >= EPISODES_WITHOUT_PATCH_MAX:
        return f"{since} episodes without a path update"
    return None
