"""Since you looked: at most three lines for a viewer who comes back (RULES 37)."""

from __future__ import annotations

from ..alignment.tension import Tension
from ..alignment.verdict import sequence_of
from ..net.standing import Standing, standing
from ..session.state import Session
from ..vocabulary.terms import Level
from .texts import Language, sentence, text
from .view import Line, Retired


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
        _met(session, revision, language),
        _set_aside(session, revision, retired, language),
        _opened(session, seen_up_to, tense, language),
    )
    return tuple(line for line in lines if line is not None)


def _met(session: Session, revision: int, language: Language) -> Line | None:
    net = session.net
    met = [
        place
        for place in net.places.values()
        if place.changed_revision > revision
        and standing(net, place.place_id)
        in (Standing.CLAIMED, Standing.SATISFIED, Standing.VERIFIED)
    ]
    if not met:
        return None
    newest = max(met, key=lambda place: place.changed_revision)
    said = text("since_met", language, label=newest.label)
    return _line(said, len(met), Level.DECLARED, newest.place_id, language)


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
