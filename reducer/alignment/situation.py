"""What every detector looks at, worked out once: verdict, active step, window, newest results."""

from __future__ import annotations

from ..net.state import Transition
from ..session.state import EpisodeRecord, Session
from ..vocabulary.observation import Fact
from ..vocabulary.terms import FactKind
from .verdict import Verdict, latest, nothing_active, subject
from .window import Step


class Situation:
    """Built per question and thrown away; nothing in it may be changed."""

    __slots__ = ("last", "newest", "session", "step", "verdict")

    def __init__(self, session: Session) -> None:
        self.session = session
        self.step: Transition | None
        self.step, firing_id = subject(session)
        self.last: Step | None = None
        if self.step is None or firing_id is None:
            self.verdict: Verdict = nothing_active(session)
        else:
            self.last, self.verdict = latest(session, self.step, firing_id)
        self.newest = newest_results(session)

    def since_patch(self, revision: int) -> tuple[str, int]:
        """The patch that made a revision, as (id, position)."""
        patches = self.session.patches
        patch = next((each for each in patches if each.revision >= revision), None)
        return (patch.patch_id, patch.position) if patch is not None else ("", 0)


def newest_results(session: Session) -> dict[tuple[FactKind, str], tuple[Fact, EpisodeRecord]]:
    """(kind, name) → the last fact of that name with a result, and the episode it stood in."""
    found: dict[tuple[FactKind, str], tuple[Fact, EpisodeRecord]] = {}
    for record in session.episodes.values():
        for fact in record.episode.facts:
            if fact.result is not None:
                found[fact.kind, fact.name] = (fact, record)
    return found
