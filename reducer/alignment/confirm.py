"""Admission: the one way from an observed episode into the net (seed, "准入规则"; RULES 10, 23).

An episode becomes evidence only where a declaration asked for it by name:

    fact hits …                                     becomes
    a selector of the episode's transition          Evidence on it, tied to the firing
    an expected-evidence key spelled as a selector  the same, naming that key
    a selector of a place                           Evidence on the place
    a selector of a Gate place                      Evidence, and `gate.marked` if that settles it

and nothing else ever: no node, no arc, no state of a condition, no firing. Everything else stays
in the drawer of its episode. Observed evidence is summed up as the fact itself, spelled as a
selector, so that no text of a tool enters the net.

A repeat is not admitted again. The same fact counts anew when its result changed, or when it
passed and something was edited since: only then does it say something new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from ..net.state import Net, Place, Transition
from ..session.state import EpisodeRecord, Session
from ..vocabulary.episode import Episode
from ..vocabulary.event import EvidenceAttached, GateMarked
from ..vocabulary.evidence import Evidence, RedactionStatus
from ..vocabulary.observation import Fact
from ..vocabulary.terms import (
    ActorType,
    EvidenceType,
    FactKind,
    FactResult,
    GateState,
    PlaceType,
    TransitionState,
)
from .association import associate
from .selectors import fact_of, matches, names, parse, spelled
from .window import wanted

EVIDENCE_PER_EPISODE_MAX: Final = 16  # per target; failures first

_TESTS: Final = frozenset({FactKind.TEST, FactKind.ASSERTION})


def admit(session: Session, record: EpisodeRecord) -> tuple[EvidenceAttached | GateMarked, ...]:
    """What one committed episode adds, to be written after it without advancing the revision."""
    net, episode = session.net, record.episode
    if not episode.facts:
        return ()
    numbers = _numbers(net, episode)
    payloads: list[EvidenceAttached | GateMarked] = []
    for target in _targets(session, record):
        fresh = [
            _evidence(net, episode, target, fact, numbers) for fact in _new(net, episode, target)
        ]
        payloads.extend(EvidenceAttached(evidence) for evidence in fresh)
        if target.gate is not None and fresh:
            payloads.extend(_marked(net, target.gate, fresh))
    return tuple(payloads)


class _Target(Struct, frozen=True):
    """Something whose declaration asks for facts."""

    node_id: str
    selectors: tuple[str, ...]
    evidence_ids: tuple[str, ...]
    firing_id: str | None = None
    expected: frozenset[str] = frozenset()
    gate: Place | None = None


def _targets(session: Session, record: EpisodeRecord) -> Iterator[_Target]:
    net = session.net
    association = associate(session, record)
    transition = net.transitions.get(association.transition_id or "")
    if transition is not None and _takes_evidence(transition):
        keys = frozenset(item.key for item in transition.expected)
        yield _Target(
            transition.transition_id,
            wanted(transition),
            transition.evidence_ids,
            association.firing_id,
            keys,
        )
    for place in net.places.values():
        if not place.selectors or place.superseded_by is not None:
            continue
        if place.type is not PlaceType.GATE:
            yield _Target(place.place_id, place.selectors, place.evidence_ids)
        elif not _decided_by_person(net, place.place_id):
            yield _Target(place.place_id, place.selectors, place.evidence_ids, gate=place)


def _takes_evidence(transition: Transition) -> bool:
    return transition.state not in (TransitionState.RETIRED, TransitionState.SUPERSEDED)


def _decided_by_person(net: Net, gate_id: str) -> bool:
    """Only a person opens what a person closed (RULES 39)."""
    return any(gate_id in (lock.gate_id, lock.target_id) for lock in net.locks.values())


def _new(net: Net, episode: Episode, target: _Target) -> list[tuple[int, Fact]]:
    """(place in the episode's list, fact) for what says something new about the target.

    The outcome a selector did not ask for is admitted too: it may disprove. It confirms nothing.
    """
    about = [parts for selector in target.selectors if (parts := parse(selector)) is not None]
    hit = [
        (index, fact)
        for index, fact in enumerate(episode.facts)
        if any(names(parts, fact) for parts in about)
    ]
    news = [item for item in hit if _says_something(net, episode, target, *item)]
    news.sort(key=lambda item: (item[1].result is not FactResult.FAIL, item[0]))
    return sorted(news[:EVIDENCE_PER_EPISODE_MAX], key=lambda item: item[0])


def _says_something(net: Net, episode: Episode, target: _Target, index: int, fact: Fact) -> bool:
    last = _last_of(net, target, fact)
    if last is None or last.result is not fact.result:
        return True
    return fact.result is FactResult.PASS and _edit_of(net, episode, index) > last.from_edit


def _last_of(net: Net, target: _Target, fact: Fact) -> Evidence | None:
    about = spelled(Fact(fact.kind, fact.name))
    for evidence_id in reversed(target.evidence_ids):
        evidence = net.evidence[evidence_id]
        same_firing = evidence.firing_id == target.firing_id
        if same_firing and evidence.confidence_owner is ActorType.ADAPTER:
            known = fact_of(evidence.summary)
            if known is not None and spelled(Fact(known.kind, known.name)) == about:
                return evidence
    return None


def _edit_of(net: Net, episode: Episode, index: int) -> int:
    """How many edits were observed before the fact. `episode` is folded, so the net counts it."""
    return net.edits - 1 if index < episode.facts_before_edit else net.edits


def _numbers(net: Net, episode: Episode) -> Iterator[str]:
    """Fresh evidence ids, the same on every replay: `obs_<position>_<n>`."""
    stem, number = f"obs_{episode.from_position}", 0
    while True:
        number += 1
        if (evidence_id := f"{stem}_{number}") not in net.evidence:
            yield evidence_id


def _evidence(
    net: Net,
    episode: Episode,
    target: _Target,
    found: tuple[int, Fact],
    numbers: Iterator[str],
) -> Evidence:
    index, fact = found
    return Evidence(
        evidence_id=next(numbers),
        type=_type_of(target, fact),
        summary=spelled(fact),
        observed_at=episode.ended_at,
        source=episode.episode_id,
        confidence_owner=ActorType.ADAPTER,
        redaction_status=RedactionStatus.CLEAN,
        target_id=target.node_id,
        satisfies=tuple(sorted(key for key in target.expected if matches(key, fact))),
        result=fact.result,
        firing_id=target.firing_id,
        from_edit=_edit_of(net, episode, index),
    )


def _type_of(target: _Target, fact: Fact) -> EvidenceType:
    if target.gate is not None:
        return EvidenceType.EXTERNAL_GATE
    if fact.kind is FactKind.ASSERTION and fact.result is FactResult.FAIL:
        return EvidenceType.ERROR_SIGNATURE
    return EvidenceType.TEST_RESULT if fact.kind in _TESTS else EvidenceType.TOOL_EPISODE


def _marked(net: Net, gate: Place, fresh: list[Evidence]) -> Iterator[GateMarked]:
    seen = [*(net.evidence[evidence_id] for evidence_id in gate.evidence_ids), *fresh]
    state = gate_state(gate.selectors, seen)
    if state is not None and state is not gate.gate_state:
        evidence_ids = tuple(evidence.evidence_id for evidence in fresh)
        yield GateMarked(gate.place_id, state, evidence_ids, 0)


def gate_state(selectors: Iterable[str], seen: list[Evidence]) -> GateState | None:
    """Open when the newest result for every selector meets it, blocked when one does not.

    A selector without an outcome asks for a pass here: a gate needs a direction. None: not all
    selectors have been seen, so the gate stays as it is.
    """
    met = [_met(selector, seen) for selector in selectors]
    if any(each is False for each in met):
        return GateState.BLOCKED
    return GateState.OPEN if met and all(met) else None


def _met(selector: str, seen: list[Evidence]) -> bool | None:
    parts = parse(selector)
    if parts is None:
        return None
    newest: dict[str, bool] = {}
    for evidence in seen:
        fact = fact_of(evidence.summary) if evidence.type is EvidenceType.EXTERNAL_GATE else None
        if fact is not None and names(parts, fact):
            asked = parts.result or FactResult.PASS
            newest[fact.name] = fact.result in (None, asked)
    return all(newest.values()) if newest else None
