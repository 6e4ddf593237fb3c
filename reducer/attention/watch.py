"""WATCH: what most wants a person's eye, each item with the fact it ranks by (RULES 35).

    1 needs a person   2 blocks several   3 tension, repeats   4 uncertainty   5 lately changed
then distance, then pin. Nothing else is allowed in: tools, tokens, time are no reasons.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from ..alignment.situation import Situation
from ..alignment.tensions import tensions, watches
from ..net.rules import is_live, is_met
from ..net.state import Net, Place
from ..session.state import Session
from ..vocabulary.terms import GateState, Level, PlaceState, PlaceType, TransitionType
from .horizon import NEAR_MAX, Horizon
from .texts import Language, sentence, text
from .view import Line, WatchLine

NEEDS_PERSON, BLOCKS, TENSION, UNCERTAIN, RECENT = 1, 2, 3, 4, 5
BLOCKS_MIN: Final = 2
RECENT_EVENTS: Final = 40
WATCHES_MAX: Final = 7


class Outside(Struct, frozen=True):
    """Facts that stand outside the log: proposals that wait and the nodes they speak of, the
    agent's own prompt being open."""

    proposals: int = 0
    provisional: frozenset[str] = frozenset()
    asking: bool = False


def watch_lines(
    session: Session,
    situation: Situation,
    horizon: Horizon,
    pinned: frozenset[str],
    outside: Outside,
    language: Language,
) -> list[WatchLine]:
    found = [
        *_needs_person(session.net, horizon, outside, language),
        *_blocking(session.net, language),
        *_disagreements(session, situation, language),
        *_uncertainties(session.net, horizon, language),
        *_lately(session, language),
    ]
    unique = {(item.kind, item.line.node_id, item.line.text): item for item in reversed(found)}
    ranked = sorted(
        unique.values(),
        key=lambda item: (
            item.rank,
            _distance(session.net, horizon, item.line.node_id),
            item.line.node_id not in pinned,
            item.line.text,
        ),
    )
    return ranked[:WATCHES_MAX]


def _distance(net: Net, horizon: Horizon, node_id: str | None) -> int:
    if node_id is None:
        return 0
    if node_id in net.transitions:
        return horizon.distances.get(node_id, 99)
    near = [horizon.distances.get(t, 99) for t in net.read_by.get(node_id, ())]
    return min(near, default=50)


def _item(rank: int, kind: str, line: Line) -> WatchLine:
    return WatchLine(rank, kind, line)


def _needs_person(
    net: Net, horizon: Horizon, outside: Outside, language: Language
) -> Iterator[WatchLine]:
    because = text("because_needs", language)
    if outside.asking:
        said = text("waiting_ui", language)
        yield _item(NEEDS_PERSON, "asking", Line(said, Level.OBSERVED, because=because))
    for transition_id, distance in horizon.distances.items():
        step = net.transitions[transition_id]
        if step.type is TransitionType.ASK_HUMAN and distance <= 1:
            said = text("ask_human", language, intent=step.intent)
            line = Line(said, Level.DECLARED, (), transition_id, because)
            yield _item(NEEDS_PERSON, "ask_human", line)
        if distance <= NEAR_MAX:
            yield from _gates(net, step.reads, because, language)
    if outside.proposals:
        said = text("proposals", language, count=outside.proposals)
        yield _item(NEEDS_PERSON, "proposals", Line(said, Level.DECLARED, because=because))


def _gates(
    net: Net, reads: tuple[str, ...], because: str, language: Language
) -> Iterator[WatchLine]:
    for read in reads:
        place = net.places[read]
        if place.gate_state in (GateState.CLOSED, GateState.BLOCKED):
            said = text(f"gate_{place.gate_state}", language, label=place.label)
            line = Line(said, Level.DECLARED, place.evidence_ids, read, because)
            yield _item(NEEDS_PERSON, "gate", line)


def _blocking(net: Net, language: Language) -> Iterator[WatchLine]:
    """An unmet place that two or more live steps read, or that stands before such steps."""
    for place_id, readers in net.read_by.items():
        place = net.places[place_id]
        if is_met(place):
            continue
        waiting = _live_beyond(net, readers)
        if len(waiting) >= BLOCKS_MIN:
            because = text("because_blocks", language, count=len(waiting))
            said = text("unmet", language, label=place.label)
            line = Line(said, Level.DECLARED, place.evidence_ids, place_id, because)
            yield _item(BLOCKS, "blocks", line)


def _live_beyond(net: Net, readers: tuple[str, ...]) -> set[str]:
    found = {t for t in readers if is_live(net.transitions[t])}
    line = list(found)
    while line:
        step = net.transitions[line.pop()]
        for place in (step.success, step.failure):
            for after in net.flows_from.get(place or "", ()):
                if after not in found and is_live(net.transitions[after]):
                    found.add(after)
                    line.append(after)
    return found


def _disagreements(
    session: Session, situation: Situation, language: Language
) -> Iterator[WatchLine]:
    for tension in tensions(session, situation):
        declared = sentence(tension.declared.words, language)
        observed = sentence(tension.observed.words, language)
        said = text("two_sides", language, declared=declared, observed=observed)
        node = tension.transition_id or tension.place_id
        evidence = (*tension.episode_ids[-3:], *tension.evidence_ids)
        because = text("because_recent" if tension.news else "because_tension", language)
        line = Line(said, Level.OBSERVED, evidence, node, because)
        yield _item(RECENT if tension.news else TENSION, str(tension.kind), line)
    for watch in watches(session, situation):
        said = sentence(watch.words, language) + (f": {watch.quote}" if watch.quote else "")
        because = text("because_repeat", language)
        line = Line(said, Level.OBSERVED, watch.episode_ids[-3:], None, because)
        yield _item(TENSION, str(watch.kind), line)


def _uncertainties(net: Net, horizon: Horizon, language: Language) -> Iterator[WatchLine]:
    """An open question upstream of a place where two live ways part."""
    for transition_id in horizon.distances:
        step = net.transitions[transition_id]
        for place_id in (step.flow, *step.reads, step.success):
            place = net.places.get(place_id or "")
            if place is not None and _is_open_question(place) and _parts_ahead(net, place):
                because = text("because_uncertain", language)
                said = text("uncertain", language, label=place.label)
                line = Line(said, Level.DECLARED, place.evidence_ids, place.place_id, because)
                yield _item(UNCERTAIN, "uncertain", line)


def _is_open_question(place: Place) -> bool:
    return place.type is PlaceType.INFORMATION_NEED and place.state is not PlaceState.SATISFIED


def _parts_ahead(net: Net, place: Place) -> bool:
    ahead, seen = [place.place_id], {place.place_id}
    while ahead:
        here = ahead.pop()
        ways = [
            t
            for t in (*net.flows_from.get(here, ()), *net.read_by.get(here, ()))
            if is_live(net.transitions[t])
        ]
        if sum(net.transitions[t].flow == here for t in ways) >= BLOCKS_MIN:
            return True
        for transition_id in ways:
            for after in (net.transitions[transition_id].success,):
                if after is not None and after not in seen:
                    seen.add(after)
                    ahead.append(after)
    return False


def _lately(session: Session, language: Language) -> Iterator[WatchLine]:
    """A change of path within the last events: news, not guilt."""
    for patch in session.patches[-3:]:
        if session.seq - patch.seq > RECENT_EVENTS:
            continue
        if "transition.superseded" not in patch.kinds:
            continue
        for step in session.net.transitions.values():
            if step.superseded_by is not None and step.changed_revision == patch.revision:
                said = text("superseded", language, reason=step.reason or step.intent)
                because = text("because_recent", language)
                line = Line(said, Level.DECLARED, (), step.superseded_by, because)
                yield _item(RECENT, "superseded", line)
