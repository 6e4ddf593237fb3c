"""Observed work in a few words: "testing; the same failure twice". Never invents an intent."""

from __future__ import annotations

from typing import Final

from ..session.state import EpisodeRecord, Session
from ..vocabulary.observation import SettleReason
from ..vocabulary.terms import Coverage, FactKind, FactResult, Level, Outcome
from .texts import Language, text, work
from .view import Line

RECENT: Final = 3
_WORST: Final = {Coverage.FULL: 0, Coverage.PARTIAL: 1, Coverage.UNKNOWN: 2}


def doing(session: Session, language: Language) -> Line:
    """What is being done, from the newest episode; or why nothing is."""
    if session.settled is not None and session.settled is not SettleReason.STOP:
        return Line(text(f"settled_{session.settled.value}", language), Level.OBSERVED)
    records = list(session.episodes.values())
    if not records:
        return Line(text("nothing_yet", language), Level.UNKNOWN)
    return Line(_in_words(records, language), Level.OBSERVED, (records[-1].episode.episode_id,))


def _in_words(records: list[EpisodeRecord], language: Language) -> str:
    newest = records[-1].episode
    doing_now = work(newest.kind, language)
    repeats = max((s.failing_streak for s in newest.signatures), default=0)
    if repeats >= 2:
        return text("same_failure", language, work=doing_now, count=repeats)
    if newest.outcome is Outcome.FAILED:
        return text("failing", language, work=doing_now)
    return doing_now


def coverage(session: Session) -> tuple[Coverage, str | None]:
    """The worst coverage of the latest episodes, with its reason."""
    recent = [record.episode for record in list(session.episodes.values())[-RECENT:]]
    if not recent:
        return Coverage.UNKNOWN, None
    worst = max(recent, key=lambda episode: _WORST[episode.coverage])
    return worst.coverage, worst.coverage_reason


def newest_failure(session: Session) -> str | None:
    """The name of the newest failing test or assertion, if the newest result of it is a failure."""
    for record in reversed(list(session.episodes.values())[-RECENT:]):
        for fact in reversed(record.episode.facts):
            named = fact.kind in (FactKind.TEST, FactKind.ASSERTION)
            if named and fact.result is FactResult.FAIL:
                return fact.name
    return None
