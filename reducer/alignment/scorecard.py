"""How much the declarations are worth (seed, "最脆弱的假设": measured, not believed).

    coverage      episodes done under a declared step, of all episodes
    lead          observations between a step's activation and its first fitting act: a step that
                  was declared before the work has one, a step declared for form's sake has none
    hit rate      steps whose selectors were met by something observed, of those that named any
    usefulness    steps with a fitting act after they were declared, of all steps
    idle patches  applied patches that changed nothing about the step being worked on
    decay         coverage by quarter of the session's turns, and before and after compaction

Counts are kept beside every ratio; `None` means there was nothing to measure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Final

from msgspec import Struct

from ..session.state import EpisodeRecord, Session
from ..vocabulary.ids import Wire
from ..vocabulary.people import ReceiptStage
from ..vocabulary.terms import Boundary, Channel
from .association import How, associate, episodes_of
from .selectors import hits
from .verdict import firings, history
from .window import walk

QUARTERS: Final = 4
_TURN_ENDS: Final = frozenset({Boundary.PROMPT, Boundary.SETTLED, Boundary.ABORTED, Boundary.ENDED})


class Share(Wire, frozen=True, omit_defaults=False):
    """`part` of `whole`; `ratio` None where there is no whole."""

    part: int
    whole: int

    @property
    def ratio(self) -> float | None:
        return round(self.part / self.whole, 4) if self.whole else None


class Scorecard(Wire, frozen=True, omit_defaults=False):
    """One session's figures. `lead_median`: in observations, over steps that have a lead."""

    turns: int
    coverage: Share
    calls_covered: Share
    lead_median: float | None
    hit_rate: Share
    usefulness: Share
    idle_patches: Share
    by_quarter: tuple[Share, ...]
    before_compaction: Share
    after_compaction: Share
    statuses: dict[str, int]
    corrections: int
    obeyed: int
    violated: int
    anchors: int


def scorecard(session: Session) -> Scorecard:
    records = session.episode_list()
    steps = [_measured(session, *firing) for firing in firings(session)]
    leads = [step.lead for step in steps if step.lead is not None]
    patches = [each for each in session.patches if each.source is Channel.DECLARED_PATH]
    first_compaction = min(session.compactions, default=None)
    before, after = _split(records, first_compaction)
    stages = Counter(
        receipt.stage for each in session.corrections.values() for receipt in each.receipts
    )
    turns = _turns(records)
    return Scorecard(
        turns=turns[-1] + 1 if turns else 0,
        coverage=_covered(session, records),
        calls_covered=Share(
            sum(each.episode.calls for each in records if _declared(session, each)),
            sum(each.episode.calls for each in records),
        ),
        lead_median=float(median(leads)) if leads else None,
        hit_rate=Share(sum(each.hit for each in steps), sum(each.asked for each in steps)),
        usefulness=Share(len(leads), len(steps)),
        idle_patches=Share(sum(not each.opens_window for each in patches), len(patches)),
        by_quarter=tuple(_covered(session, each) for each in _quarters(records, turns)),
        before_compaction=_covered(session, before),
        after_compaction=_covered(session, after),
        statuses=_statuses(session),
        corrections=len(session.corrections),
        obeyed=stages[ReceiptStage.OBEYED],
        violated=stages[ReceiptStage.VIOLATED],
        anchors=len(session.anchored),
    )


class _Measured(Struct, frozen=True):
    lead: int | None
    asked: bool
    hit: bool


def _measured(session: Session, transition_id: str, firing_id: str) -> _Measured:
    transition = session.net.transitions[transition_id]
    declared = next(each.position for each in session.patches if each.firing_id == firing_id)
    fitting = [
        seen.record.episode.from_position - declared
        for step in walk(session, transition, firing_id)
        for seen in (*step.seen, *([step.opener] if step.opener else []))
        if (seen.matching or seen.confirming) and seen.record.episode.from_position > declared
    ]
    seen_facts = (each.episode.facts for each in episodes_of(session, firing_id))
    return _Measured(
        lead=min(fitting, default=None),
        asked=bool(transition.selectors),
        hit=any(hits(transition.selectors, facts) for facts in seen_facts),
    )


def _declared(session: Session, record: EpisodeRecord) -> bool:
    return associate(session, record).how is not How.NONE


def _covered(session: Session, records: Sequence[EpisodeRecord]) -> Share:
    return Share(sum(_declared(session, each) for each in records), len(records))


def _split(
    records: list[EpisodeRecord], position: int | None
) -> tuple[list[EpisodeRecord], list[EpisodeRecord]]:
    if position is None:
        return records, []
    before = [each for each in records if each.episode.to_position <= position]
    return before, records[len(before) :]


def _turns(records: Iterable[EpisodeRecord]) -> list[int]:
    """The turn each episode belongs to, counted by how episodes end."""
    turn, turns = 0, list[int]()
    for record in records:
        turns.append(turn)
        turn += record.episode.boundary in _TURN_ENDS
    return turns


def _quarters(records: list[EpisodeRecord], turns: list[int]) -> list[list[EpisodeRecord]]:
    total = turns[-1] + 1 if turns else 0
    quarters: list[list[EpisodeRecord]] = [[] for _ in range(QUARTERS if total >= QUARTERS else 0)]
    for record, turn in zip(records, turns, strict=True):
        if quarters:
            quarters[turn * QUARTERS // total].append(record)
    return quarters


def _statuses(session: Session) -> dict[str, int]:
    counts = Counter(str(each.status) for each in history(session).values())
    return dict(sorted(counts.items()))
