"""What a step promises: keys of its expected evidence, the kinds of work it allows, what it lacks.

Absent is Unknown and stays so. The one thing filled in is `kinds`, from a table by transition
type, marked inferred wherever it is shown (RULES 11).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ..vocabulary.evidence import Evidence
from ..vocabulary.patch import ExpectedEvidence
from ..vocabulary.terms import EpisodeKind, TransitionType
from .state import Net, Transition

# Reading and searching stand only where they are the work itself: an episode of reading inside a
# step that implements is exactly what should not count as matching (seed, 典型漂移).
KINDS_BY_TYPE: Final[dict[TransitionType, tuple[EpisodeKind, ...]]] = {
    TransitionType.INVESTIGATE: (
        EpisodeKind.INSPECT,
        EpisodeKind.SEARCH,
        EpisodeKind.RUN,
        EpisodeKind.TEST,
        EpisodeKind.INSTRUMENT,
    ),
    TransitionType.DECIDE: (
        EpisodeKind.INSPECT,
        EpisodeKind.SEARCH,
        EpisodeKind.PLAN,
        EpisodeKind.ASK,
    ),
    TransitionType.IMPLEMENT: (
        EpisodeKind.EDIT,
        EpisodeKind.BUILD,
        EpisodeKind.RUN,
        EpisodeKind.TEST,
    ),
    TransitionType.VERIFY: (
        EpisodeKind.TEST,
        EpisodeKind.BUILD,
        EpisodeKind.RUN,
        EpisodeKind.INSPECT,
    ),
    TransitionType.RECOVER: (
        EpisodeKind.INSPECT,
        EpisodeKind.SEARCH,
        EpisodeKind.EDIT,
        EpisodeKind.BUILD,
        EpisodeKind.RUN,
        EpisodeKind.TEST,
        EpisodeKind.INSTRUMENT,
    ),
    TransitionType.ASK_HUMAN: (EpisodeKind.ASK, EpisodeKind.PLAN),
    TransitionType.BRANCH: (
        EpisodeKind.INSPECT,
        EpisodeKind.SEARCH,
        EpisodeKind.RUN,
        EpisodeKind.TEST,
        EpisodeKind.INSTRUMENT,
        EpisodeKind.DELEGATE,
    ),
    TransitionType.CONCLUDE: (
        EpisodeKind.INSPECT,
        EpisodeKind.PLAN,
        EpisodeKind.ASK,
        EpisodeKind.OTHER,
    ),
}


class KeyTwice(ValueError):
    """Two expected proofs share a key. `index` is the second one."""

    def __init__(self, key: str, index: int) -> None:
        super().__init__(key)
        self.key = key
        self.index = index


def keyed(
    wanted: Sequence[str | ExpectedEvidence], before: Sequence[ExpectedEvidence] = ()
) -> tuple[ExpectedEvidence, ...]:
    """Plain strings get keys: the one they had, else the next free `ee1`, `ee2`, … (RULES 10).

    A key of `before` is never given to another text, so evidence keeps meaning what it meant.
    Raises KeyTwice.
    """
    had = {known.text: known.key for known in before}
    taken = {item.key for item in wanted if not isinstance(item, str)}
    fresh = (key for number in _naturals() if (key := f"ee{number}") not in taken)
    free = (key for key in fresh if all(key != known.key for known in before))
    result: list[ExpectedEvidence] = []
    seen: set[str] = set()
    for index, item in enumerate(wanted):
        if isinstance(item, str):
            kept = had.get(item)
            key = kept if kept is not None and kept not in taken | seen else next(free)
            item = ExpectedEvidence(key, item)
        if item.key in seen:
            raise KeyTwice(item.key, index)
        seen.add(item.key)
        result.append(item)
    return tuple(result)


def _naturals() -> Iterator[int]:
    number = 0
    while True:
        number += 1
        yield number


def keyed_only(expected: Iterable[str | ExpectedEvidence]) -> tuple[ExpectedEvidence, ...]:
    """For the fold: events hold keyed entries only."""
    return tuple(item for item in expected if isinstance(item, ExpectedEvidence))


def keys_in_use(net: Net, step: Transition) -> dict[str, str]:
    """Key → the first evidence that refers to it."""
    used: dict[str, str] = {}
    for evidence_id in step.evidence_ids:
        evidence: Evidence = net.evidence[evidence_id]
        if evidence.target_id == step.transition_id:
            for key in evidence.satisfies:
                used.setdefault(key, evidence_id)
    return used


def missing_for_activation(step: Transition) -> tuple[str, ...]:
    """Wire names of what an agent must declare before it may start the step."""
    lacks = {"expectedEvidence": not step.expected, "exitCondition": step.exit_condition is None}
    return tuple(name for name, missing in lacks.items() if missing)


def missing_near(step: Transition) -> tuple[str, ...]:
    """Wire names of the other fields a Near step should have; shown as Unknown while absent."""
    lacks = {
        "whyNow": step.why_now is None,
        "action": step.action is None,
        "failureCondition": step.failure_condition is None and step.failure is None,
        "owner": step.owner is None,
    }
    return tuple(name for name, missing in lacks.items() if missing)
