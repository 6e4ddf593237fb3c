"""What one session amounts to: counts, episodes, and when Wayfinder would have spoken.

The session is folded as the daemon would (`take_segment`), nothing is written. What would have
been said is asked after every episode that brought trouble, so that a loop which later ended still
counts as spoken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from ...daemon.reconciler.change import Change
from ...daemon.reconciler.segments import take_segment
from ...reducer.alignment.gates import ledger
from ...reducer.alignment.tensions import tensions, watches
from ...reducer.alignment.words import say
from ...reducer.session.state import Session
from ...reducer.vocabulary.episode import EpisodeItem
from ...reducer.vocabulary.observation import (
    AnyObservation,
    Called,
    Gap,
    NoteCode,
    Noted,
    Prompted,
    SessionInfo,
    Settled,
)
from ..segmenter.segment import Segmenter, Step, segments
from .result import Often, Said, Totals

SPOKEN_MAX: Final = 200
LISTED_MAX: Final = 20


class Tally:
    """Feed it finished observations in order; `totals` at the end."""

    def __init__(self) -> None:
        self._segmenter = Segmenter()
        self._session: Session | None = None
        self._committed = 0
        self._turns: Counter[bool] = Counter()
        self._outcomes: Counter[str] = Counter()
        self._settled: Counter[str] = Counter()
        self._signatures: Counter[tuple[str, str, str]] = Counter()
        self._gates: Counter[tuple[str, str, str]] = Counter()
        self._samples: dict[str, str] = {}
        self._inner = self._compactions = self._gaps = self._episodes = 0
        self._spoken: dict[str, Said] = {}

    def take(self, info: SessionInfo, observations: Iterable[AnyObservation]) -> None:
        for observation in observations:
            self._count(observation)
            self._fold(info, self._segmenter.feed(observation))

    def finish(self, info: SessionInfo) -> None:
        self._fold(info, self._segmenter.finish())

    def _count(self, seen: AnyObservation) -> None:
        if isinstance(seen, Prompted):
            self._turns[seen.machine] += 1
        elif isinstance(seen, Called):
            self._outcomes[seen.outcome.value] += 1
            self._inner += seen.inner_calls
            if seen.signature is not None:
                sample = self._samples.setdefault(seen.signature.digest, seen.signature.sample)
                self._signatures[seen.signature.digest, sample, seen.outcome.value] += 1
            if seen.refusal is not None:
                quote = self._samples.setdefault(seen.refusal.digest, seen.refusal.quote)
                self._gates[seen.refusal.digest, quote, seen.outcome.value] += 1
        elif isinstance(seen, Settled):
            self._settled[seen.reason.value] += 1
        elif isinstance(seen, Noted):
            self._compactions += seen.code is NoteCode.COMPACTION
        elif isinstance(seen, Gap):
            self._gaps += 1

    def _fold(self, info: SessionInfo, steps: list[Step]) -> None:
        if not steps:
            return
        if self._session is None:
            self._session = Session(info.session_id)
        troubled = False
        for segment in segments(info, self._committed + 1, steps, live=False):
            take_segment(Change(self._session, 0), segment)
            self._committed = segment.to_position
            for item in segment.items:
                if isinstance(item, EpisodeItem):
                    self._episodes += 1
                    episode = item.episode
                    troubled |= bool(episode.signatures or episode.refusals)
        if troubled and len(self._spoken) < SPOKEN_MAX:
            self._listen(self._session)

    def _listen(self, session: Session) -> None:
        for watch in watches(session):
            said = Said(watch.since_position, watch.kind.value, say(watch.words))
            self._spoken.setdefault(watch.watch_id, said)
        for tension in tensions(session):
            words = say(tension.observed.words)
            self._spoken.setdefault(
                tension.tension_id, Said(tension.since_position, "tension", words)
            )

    def totals(self) -> Totals:
        gates = tuple(
            Often(entry.quote, "blocked_by_policy", entry.count)
            for entry in (ledger(self._session) if self._session is not None else ())
        )
        return Totals(
            turns=self._turns.total(),
            machine_turns=self._turns[True],
            calls=self._outcomes.total(),
            inner_calls=self._inner,
            outcomes=dict(sorted(self._outcomes.items())),
            compactions=self._compactions,
            settled=dict(sorted(self._settled.items())),
            gaps=self._gaps,
            episodes=self._episodes,
            gates=gates,
            signatures=_most(self._signatures),
            spoken=tuple(self._spoken.values()),
            positions=self._segmenter.position,
        )


def _most(counts: Counter[tuple[str, str, str]]) -> tuple[Often, ...]:
    return tuple(Often(text, end, n) for (_, text, end), n in counts.most_common(LISTED_MAX))
