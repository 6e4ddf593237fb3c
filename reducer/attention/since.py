"""Since you looked: at most three lines for a viewer who comes back (RULES 37)."""

from __future__ import annotations

from typing import Final

from ..alignment.tension import Tension
from ..alignment.verdict import sequence_of
from ..net.standing import Standing, standing
from ..session.state import Session
from ..vocabulary.terms import Level
from .texts import Language, sentence, text
from .view import Line, Retired

_HOLDS: Final = (Standing.CLAIMED, Standing.SATISFIED, Standing.VERIFIED)


def since(
    session: Session,
    seen_up_to: int,
    retired: tuple[Retired, ...],
    tense: tuple[Tension, ...],
    language: Language,
) -> tuple[Line, ...]:
    """Conditions met, paths set aside, tensions opened after event `seen_up_to`; newest of each."""
    if seen_up_to <= 0 or seen_up_to >= session.seq:
        return ()
    revision = max((p.revision for p in session.patches if p.seq <= seen_up_to), default=0)
    lines = (
        _met(session, seen_up_to, revision, language),
        _set_aside(session, revision, retired, language),
        _opened(session, seen_up_to, tense, language),
    )
    return tuple(line for line in lines if line is not None)


def _met(session: Session, seen_up_to: int, revision: int, language: Language) -> Line | None:
    """Conditions that hold by now and were reached or set after the viewer looked."""
    net = session.net
    ended = _ended(session)
    met = [
        place
        for place in net.places.values()
        if standing(net, place.place_id) in _HOLDS
        and (place.changed_revision > revision or ended.get(place.claimed_by, 0) > seen_up_to)
    ]
    if not met:
        return None
    newest = max(met, key=lambda place: ended.get(place.claimed_by, 0))
    said = text("since_met", language, label=newest.label)
    return _line(said, len(met), Level.DECLARED, newest.place_id, language)


def _ended(session: Session) -> dict[str | None, int]:
    """Firing → the event at which it was over: the first patch that left it."""
    found: dict[str | None, int] = {}
    before: str | None = None
    for patch in session.patches:
        if before is not None and patch.firing_id != before:
            found[before] = patch.seq
        before = patch.firing_id
    return found


def _set_aside(
    session: Session, revision: int, retired: tuple[Retired, ...], language: Language
) -> Line | None:
    new = [one for one in retired if session.net.transitions[one.id].changed_revision > revision]
    if not new:
        return None
    said = text("since_retired", language, intent=new[-1].intent, reason=new[-1].reason)
    return _line(said, len(new), new[-1].by, new[-1].id, language)


def _opened(
    session: Session, seen_up_to: int, tense: tuple[Tension, ...], language: Language
) -> Line | None:
    new = [t for t in tense if sequence_of(session, t.since_id) > seen_up_to]
    if not new:
        return None
    said = text("since_tension", language, text=sentence(new[-1].observed.words, language))
    return _line(said, len(new), Level.OBSERVED, new[-1].transition_id, language)


def _line(said: str, count: int, source: Level, node: str | None, language: Language) -> Line:
    if count > 1:
        said = text("since_count", language, text=said, count=count - 1)
    return Line(said, source, node_id=node)
