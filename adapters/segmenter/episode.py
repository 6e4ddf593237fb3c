"""One open stretch of work, and the `Episode` it becomes. RULES 19 and 20.

An episode holds only what live feed and session file both have; durations are put beside it by
the caller. Lists are bounded here; what is over the bound is left out oldest first, the counts
still count it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Final, TypeVar

from ...reducer.vocabulary.episode import (
    Episode,
    OutcomeCount,
    RefusalCount,
    SignatureCount,
    ToolCount,
)
from ...reducer.vocabulary.observation import Called, Fact, Gap, Refusal, Signature
from ...reducer.vocabulary.terms import Boundary, Coverage, EpisodeKind, Outcome
from .streaks import Streaks, is_edit, of_signature

T = TypeVar("T", bound=Hashable)

FACTS_MAX: Final = 128
REFS_MAX: Final = 256

# Looking around: never what an episode is called when it did anything else (RULES 19).
LOOKING: Final = frozenset({EpisodeKind.INSPECT, EpisodeKind.SEARCH})
_WORSE: Final = {Coverage.FULL: 0, Coverage.PARTIAL: 1, Coverage.UNKNOWN: 2}


class OpenEpisode:
    """Calls since the last boundary. Mutable, owned by one `Segmenter`, never empty of calls."""

    __slots__ = ("calls", "coverage", "reason", "to_position")

    def __init__(self, first: Called, coverage: Coverage, reason: str | None) -> None:
        self.calls = [first]
        self.coverage = coverage
        self.reason = reason
        self.to_position = first.position

    @property
    def first(self) -> Called:
        return self.calls[0]

    @property
    def last(self) -> Called:
        return self.calls[-1]

    def add(self, call: Called) -> None:
        self.calls.append(call)
        self.to_position = call.position

    def miss(self, gap: Gap) -> None:
        """Facts are missing inside this stretch."""
        self.coverage, self.reason = worse(self.coverage, self.reason, gap)
        self.to_position = gap.position

    def close(self, boundary: Boundary, streaks: Streaks) -> Episode:
        calls = self.calls
        files_changed = _distinct(ref for call in calls for ref in call.files_changed)
        return Episode(
            episode_id=f"ep_{self.first.position}",
            from_position=self.first.position,
            to_position=self.to_position,
            kind=kind_of(calls),
            outcome=outcome_of(calls),
            boundary=boundary,
            coverage=self.coverage,
            ended_at=self.last.at,
            calls=len(calls),
            tools=_tool_counts(calls),
            outcomes=_outcome_counts(calls),
            facts=_facts(calls),
            signatures=_signature_counts(calls, streaks),
            refusals=_refusal_counts(calls),
            files_read=len(_distinct(ref for call in calls for ref in call.files_read)),
            files_changed=len(files_changed),
            changed_refs=tuple(files_changed)[-REFS_MAX:],
            coverage_reason=self.reason,
            transition_id=next((c.transition_id for c in reversed(calls) if c.transition_id), None),
            inner_calls=sum(call.inner_calls for call in calls),
            facts_before_edit=_facts_before_edit(calls),
        )


def worse(coverage: Coverage, reason: str | None, gap: Gap) -> tuple[Coverage, str | None]:
    """Coverage is that of the worst gap; the first reason for it stands."""
    if _WORSE[gap.coverage] > _WORSE[coverage]:
        return gap.coverage, gap.reason
    return coverage, reason


def kind_of(calls: list[Called]) -> EpisodeKind:
    """The most frequent kind that is not mere looking; of equals, the one seen last."""
    doing = [call.kind for call in calls if call.kind not in LOOKING]
    kinds = doing or [call.kind for call in calls]
    counts = Counter(kinds)
    most = max(counts.values())
    return next(kind for kind in reversed(kinds) if counts[kind] == most)


def outcome_of(calls: list[Called]) -> Outcome:
    """How the last call that did anything ended; looking around changes no outcome."""
    doing = [call for call in calls if call.kind not in LOOKING or call.outcome is not Outcome.OK]
    return (doing or calls)[-1].outcome


def _tool_counts(calls: list[Called]) -> tuple[ToolCount, ...]:
    counts = Counter(call.tool for call in calls)
    return tuple(ToolCount(tool, n) for tool, n in sorted(counts.items(), key=_most_first))


def _outcome_counts(calls: list[Called]) -> tuple[OutcomeCount, ...]:
    counts = Counter(call.outcome for call in calls)
    return tuple(OutcomeCount(outcome, counts[outcome]) for outcome in Outcome if counts[outcome])


def _facts(calls: list[Called]) -> tuple[Fact, ...]:
    """Each fact once, where it was last seen; the newest if there are too many."""
    newest_first = _distinct(fact for call in reversed(calls) for fact in reversed(call.facts))
    return tuple(reversed(list(newest_first)[:FACTS_MAX]))


def _facts_before_edit(calls: list[Called]) -> int:
    """How many of the kept facts were last seen before the last edit: they lead the list."""
    edited = max((index for index, call in enumerate(calls) if is_edit(call)), default=0)
    after = _distinct(fact for call in calls[edited:] for fact in call.facts)
    return max(0, len(_facts(calls)) - len(after))


def _signature_counts(calls: list[Called], streaks: Streaks) -> tuple[SignatureCount, ...]:
    signatures = [call.signature for call in calls if call.signature is not None]
    by_digest: dict[str, Signature] = {}
    for signature in signatures:
        by_digest.setdefault(signature.digest, signature)
    counts = Counter(signature.digest for signature in signatures)
    return tuple(
        SignatureCount(signature, counts[digest], of_signature(streaks, digest))
        for digest, signature in by_digest.items()
    )


def _refusal_counts(calls: list[Called]) -> tuple[RefusalCount, ...]:
    refusals = [call.refusal for call in calls if call.refusal is not None]
    by_digest: dict[str, Refusal] = {}
    for refusal in refusals:
        by_digest.setdefault(refusal.digest, refusal)
    counts = Counter(refusal.digest for refusal in refusals)
    return tuple(RefusalCount(refusal, counts[digest]) for digest, refusal in by_digest.items())


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    return -item[1], item[0]


def _distinct(items: Iterable[T]) -> dict[T, None]:
    return dict.fromkeys(items)
