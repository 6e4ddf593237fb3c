"""The evaluation window of one firing, step by step (seed, "评估窗口"; RULES 25–27, 29).

A window opens at the later of
  * the last applied patch that changed the active transition, its arcs, reads or contract keys,
  * the last *new* confirming evidence: an episode whose facts hit a selector, an agent's own
    `satisfies` (once per key and firing, declared only), or a person's.
It holds the latest three completed episodes whose first position lies after its opening.

Invariants:
* Everything is ordered by source position; the time anything was committed plays no part, so
  late segments and late annotations give the same windows.
* An episode whose key was already seen in this firing is not fresh: it neither matches nor
  confirms. The same failing test for ever is no progress.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from msgspec import Struct

from ..net.state import Evidence, Transition
from ..session.state import EpisodeRecord, Session
from ..vocabulary.ids import Wire
from ..vocabulary.observation import Fact
from ..vocabulary.terms import Coverage, EvidenceType
from .association import episodes_of
from .selectors import matcher, parse

EPISODES_MAX: Final = 3
_WORST: Final = (Coverage.FULL, Coverage.PARTIAL, Coverage.UNKNOWN)

Key = tuple[object, ...]


class OpenedBy(StrEnum):
    ACTIVATION = "activation"
    PATCH = "patch"
    EVIDENCE = "evidence"  # observed
    SATISFIED = "satisfied"  # the agent's own word for it
    PERSON = "person"


class Window(Wire, frozen=True):
    """`completed` counts all episodes since it opened; at most three of them are looked at."""

    opened_by: OpenedBy
    opened_id: str
    opened_position: int
    completed: int = 0
    coverage: Coverage = Coverage.FULL


class Seen(Struct, frozen=True):
    """One episode read against the contract. `facts` are those a selector matched."""

    record: EpisodeRecord
    facts: tuple[Fact, ...]
    kind_allowed: bool
    fresh: bool

    @property
    def episode_id(self) -> str:
        return self.record.episode.episode_id

    @property
    def matching(self) -> bool:
        return self.fresh and self.kind_allowed

    @property
    def confirming(self) -> bool:
        return self.fresh and bool(self.facts)


class Step(Struct, frozen=True):
    """How the window stands after one fact. `opener` is the episode that confirmed, if one did."""

    cause_id: str
    position: int
    window: Window
    seen: tuple[Seen, ...] = ()
    opener: Seen | None = None

    @property
    def evidence_counts(self) -> bool:
        """Confirming evidence counts in the window it opened until three later episodes."""
        opened_by_evidence = self.window.opened_by not in (OpenedBy.ACTIVATION, OpenedBy.PATCH)
        return opened_by_evidence and self.window.completed < EPISODES_MAX


def walk(session: Session, transition: Transition, firing_id: str) -> list[Step]:
    """Every step of one firing in position order; the last one is how it stands now."""
    steps: list[Step] = []
    reader = _Reader(transition)
    for fact in _timeline(session, transition, firing_id):
        earlier = steps[-1] if steps else None
        if isinstance(fact, EpisodeRecord):
            step = _after_episode(earlier, fact, reader)
        else:
            step = _opened(fact)
        steps.append(step)
    return steps


class _Opening(Struct, frozen=True):
    position: int
    cause_id: str
    by: OpenedBy


def _timeline(
    session: Session, transition: Transition, firing_id: str
) -> list[EpisodeRecord | _Opening]:
    entries: list[tuple[int, int, EpisodeRecord | _Opening]] = [
        (record.episode.to_position, 0, record) for record in episodes_of(session, firing_id)
    ]
    for opening in (
        *_patch_openings(session, firing_id),
        *_satisfied_openings(session, transition, firing_id),
    ):
        entries.append((opening.position, 1, opening))
    entries.sort(key=lambda entry: entry[:2])
    return [entry[2] for entry in entries]


def _patch_openings(session: Session, firing_id: str) -> Iterator[_Opening]:
    first = True
    for patch in session.patches:
        if patch.firing_id == firing_id and patch.opens_window:
            by = OpenedBy.ACTIVATION if first else OpenedBy.PATCH
            yield _Opening(patch.position, patch.patch_id, by)
            first = False


def _satisfied_openings(
    session: Session, transition: Transition, firing_id: str
) -> Iterator[_Opening]:
    positions = {patch.patch_id: patch for patch in session.patches}
    expected = {item.key for item in transition.expected}
    told: set[str] = set()
    for evidence in own_evidence(session, transition, firing_id):
        keys = expected.intersection(evidence.satisfies)
        patch = positions.get(evidence.source)
        if not keys or patch is None:
            continue
        if evidence.type is EvidenceType.HUMAN_STATEMENT:
            yield _Opening(patch.position, patch.patch_id, OpenedBy.PERSON)
        elif evidence.type is EvidenceType.AGENT_DECLARATION and keys - told:
            told |= keys
            yield _Opening(patch.position, patch.patch_id, OpenedBy.SATISFIED)


def own_evidence(session: Session, transition: Transition, firing_id: str) -> tuple[Evidence, ...]:
    """Evidence of this firing, in the order it was attached."""
    found = (session.net.evidence[evidence_id] for evidence_id in transition.evidence_ids)
    return tuple(evidence for evidence in found if evidence.firing_id == firing_id)


def wanted(transition: Transition) -> tuple[str, ...]:
    """What an observed fact is compared with: the selectors, and keys spelled as selectors."""
    keys = (item.key for item in transition.expected)
    return (*transition.selectors, *(key for key in keys if parse(key) is not None))


def _opened(opening: _Opening) -> Step:
    window = Window(opening.by, opening.cause_id, opening.position)
    return Step(opening.cause_id, opening.position, window)


def _after_episode(earlier: Step | None, record: EpisodeRecord, reader: _Reader) -> Step:
    seen = reader.read(record)
    episode = record.episode
    if earlier is None:  # a person moved it here from before the firing began
        earlier = Step("", 0, Window(OpenedBy.ACTIVATION, "", episode.to_position))
    if episode.from_position <= earlier.window.opened_position:
        return Step(
            episode.episode_id, episode.to_position, earlier.window, earlier.seen, earlier.opener
        )
    if seen.confirming:
        window = Window(OpenedBy.EVIDENCE, episode.episode_id, episode.to_position)
        return Step(episode.episode_id, episode.to_position, window, (), seen)
    kept = (*earlier.seen, seen)[-EPISODES_MAX:]
    window = Window(
        earlier.window.opened_by,
        earlier.window.opened_id,
        earlier.window.opened_position,
        earlier.window.completed + 1,
        worst(item.record.episode.coverage for item in kept),
    )
    return Step(episode.episode_id, episode.to_position, window, kept, earlier.opener)


class _Reader:
    """Reads episodes of one firing in order, and remembers which keys it has met."""

    __slots__ = ("hits", "kinds", "known")

    def __init__(self, transition: Transition) -> None:
        self.hits = matcher(wanted(transition))
        self.kinds = frozenset(transition.kinds)
        self.known: set[Key] = set()

    def read(self, record: EpisodeRecord) -> Seen:
        episode = record.episode
        facts = self.hits(episode.facts)
        key: Key = (
            episode.kind,
            episode.outcome,
            frozenset(item.signature.digest for item in episode.signatures),
            frozenset((fact.kind, fact.name, fact.result) for fact in facts),
            frozenset(episode.changed_refs),
        )
        fresh = key not in self.known
        self.known.add(key)
        return Seen(record, facts, episode.kind in self.kinds, fresh)


def worst(coverages: Iterator[Coverage]) -> Coverage:
    return max(coverages, key=_WORST.index, default=Coverage.FULL)
