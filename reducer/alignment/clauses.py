"""The six clauses, in the specification's order, as one table (seed, "评估窗口").

    1  a person denied the current transition                              → diverged
    2  coverage unknown, and no directly observed confirming evidence      → unknown
    3  two adjacent episodes, one observer model version, ≥ 0.85 sure of
       the same alternate intent, path not updated since                   → diverged
    4  new matching activity or confirming evidence in the window          → aligned
    5  three completed episodes without explainable progress               → lagging
    6  anything else                                                       → pending

The first that speaks decides. Each is a pure function of a `Case`; a reason names what it used.
No clause reads a model's verdict: clause 3 reads annotations as facts with a version on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Final

from msgspec import Struct

from ..net.state import Transition
from ..session.state import Annotation
from ..vocabulary.terms import AlignmentStatus, Coverage
from .denials import Denial
from .window import EPISODES_MAX, OpenedBy, Seen, Step
from .words import Words, words

SURE: Final = 0.85  # seed, "信心阈值"


class Case(Struct, frozen=True):
    """All that one evaluation may look at."""

    transition: Transition
    step: Step
    denial: Denial | None
    annotations: Mapping[str, tuple[Annotation, ...]]


class Finding(Struct, frozen=True):
    """What a clause says: the reason, and the episodes it rests on."""

    reason: Words
    episode_ids: tuple[str, ...] = ()


Clause = Callable[[Case], Finding | None]


def decide(case: Case) -> tuple[int, AlignmentStatus, Finding]:
    for number, status, clause in CLAUSES:
        if (finding := clause(case)) is not None:
            return number, status, finding
    raise AssertionError("clause 6 always speaks")


def _denied(case: Case) -> Finding | None:
    return None if case.denial is None else Finding(case.denial.reason)


def _blind(case: Case) -> Finding | None:
    step = case.step
    observed = step.window.opened_by in (OpenedBy.EVIDENCE, OpenedBy.PERSON)
    if step.window.coverage is not Coverage.UNKNOWN or (observed and step.evidence_counts):
        return None
    unseen = tuple(
        seen.episode_id for seen in step.seen if seen.record.episode.coverage is Coverage.UNKNOWN
    )
    return Finding(words("blind", coverage=step.window.coverage), unseen)


def _alternate(case: Case) -> Finding | None:
    found: Finding | None = None
    for first, second in pairwise(case.step.seen):
        shared = _shared(alternates(case, first), alternates(case, second))
        if shared:
            what, alternate = min(shared)
            reason = words(f"alternate_{what}", count=2, alternate=alternate)
            found = Finding(reason, (first.episode_id, second.episode_id))
    return found


class Alternate(Struct, frozen=True, order=True):
    """Another intent one model version is sure of. Empty = not said."""

    model_version: str
    step: str
    intent: str


def alternates(case: Case, seen: Seen) -> frozenset[Alternate]:
    """What sure annotations of one episode name instead of the active transition.

    A set, so that neither the order of arrival nor a repeat of an annotation changes anything.
    """
    named = (
        _alternate_of(item, case.transition)
        for item in case.annotations.get(seen.episode_id, ())
        if item.confidence >= SURE
    )
    return frozenset(item for item in named if item is not None)


def _alternate_of(item: Annotation, transition: Transition) -> Alternate | None:
    step = item.annotation.alternate_transition_id or ""
    intent = item.annotation.intent_class or ""
    own = {str(transition.type).casefold(), transition.intent.casefold()}
    if step == transition.transition_id or (not step and intent.casefold() in {"", *own}):
        return None
    return Alternate(item.model_version, step, intent)


def _shared(first: frozenset[Alternate], second: frozenset[Alternate]) -> set[tuple[str, str]]:
    """Same alternate: the same step id, or the same intent where one names no step (RULES 29)."""
    found: set[tuple[str, str]] = set()
    for one in first:
        for other in second:
            if one.model_version != other.model_version:
                continue
            if one.step and other.step:
                found.update({("step", one.step)} if one.step == other.step else ())
            elif one.intent and one.intent == other.intent:
                found.add(("intent", one.intent))
    return found


def _progress(case: Case) -> Finding | None:
    """What was seen speaks before what was told."""
    step = case.step
    told = step.window.opened_by is OpenedBy.SATISFIED
    if step.evidence_counts and not told:
        opener = (step.opener.episode_id,) if step.opener else ()
        return Finding(words(_EVIDENCE_REASON[step.window.opened_by]), opener)
    matching = tuple(seen.episode_id for seen in step.seen if seen.matching)
    if matching:
        return Finding(words("matching"), matching)
    return Finding(words("satisfied_declared")) if step.evidence_counts else None


_EVIDENCE_REASON: Final[dict[OpenedBy, str]] = {
    OpenedBy.EVIDENCE: "confirmed",
    OpenedBy.PERSON: "satisfied_person",
}


def _stuck(case: Case) -> Finding | None:
    step = case.step
    if step.window.completed < EPISODES_MAX:
        return None
    stuck = tuple(seen.episode_id for seen in step.seen)
    return Finding(words("no_progress", count=step.window.completed), stuck)


def _too_early(case: Case) -> Finding | None:
    return Finding(words("too_early"), tuple(seen.episode_id for seen in case.step.seen))


CLAUSES: Final[tuple[tuple[int, AlignmentStatus, Clause], ...]] = (
    (1, AlignmentStatus.DIVERGED, _denied),
    (2, AlignmentStatus.UNKNOWN, _blind),
    (3, AlignmentStatus.DIVERGED, _alternate),
    (4, AlignmentStatus.ALIGNED, _progress),
    (5, AlignmentStatus.LAGGING, _stuck),
    (6, AlignmentStatus.PENDING, _too_early),
)
