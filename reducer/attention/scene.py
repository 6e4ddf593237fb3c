"""Nodes and arcs where they stand, with every mark that is drawn: shape and word, not colour.

A node is drawn anew only if something it is drawn from changed; everything else is the very object
of the look before (`Scenery`), so that telling the difference costs what changed and not the net.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from ..alignment.tension import Tension
from ..net.rules import enabled_at
from ..net.standing import standing, token_status
from ..net.state import Net, Place, Transition
from ..session.corridor import Corridor
from ..session.state import Session
from ..vocabulary.terms import ArcKind
from .horizon import Horizon
from .view import ArcView, PlaceView, Scene, StepView, TokenView

EVIDENCE_LISTED_MAX: Final = 50  # per step, the newest; `evidence` counts them all


class Marks(NamedTuple):
    """What stands about a step besides itself."""

    enabled: bool
    pinned: bool
    folded: bool
    tension: bool
    provisional: bool


class Scenery:
    """What was drawn at the last look, each with what it was drawn from. One per viewer."""

    __slots__ = ("arcs", "places", "steps")

    def __init__(self) -> None:
        self.places: dict[str, tuple[tuple[Any, ...], PlaceView]] = {}
        self.steps: dict[str, tuple[tuple[Any, ...], StepView]] = {}
        self.arcs: dict[str, tuple[tuple[Any, ...], dict[str, ArcView]]] = {}


def scene(
    session: Session,
    horizon: Horizon,
    tense: Iterable[Tension],
    pinned: frozenset[str],
    folded: frozenset[str],
    provisional: frozenset[str] = frozenset(),
    last: Scenery | None = None,
) -> Scene:
    """`last` is brought up to date; without it everything is drawn anew."""
    known = last or Scenery()
    net, corridor = session.net, session.corridor
    tense = list(tense)
    in_tension = {t.transition_id for t in tense} | {t.place_id for t in tense}
    can_start = {step for token in net.tokens.values() for step in enabled_at(net, token)}
    counts = _episodes_of_steps(session)
    for place in net.places.values():
        _draw_place(known, net, corridor, horizon, place, place.place_id in provisional)
    for step in net.transitions.values():
        here = step.transition_id
        marks = Marks(
            enabled=here in can_start,
            pinned=here in pinned,
            folded=here in folded,
            tension=here in in_tension,
            provisional=here in provisional,
        )
        _draw_step(known, net, corridor, horizon.band(here), step, counts.get(here, 0), marks)
    return Scene(
        places={key: view for key, (_, view) in known.places.items()},
        steps={key: view for key, (_, view) in known.steps.items()},
        arcs={key: arc for _, arcs in known.arcs.values() for key, arc in arcs.items()},
        tokens={token.id: token for token in _tokens(net)},
    )


def _episodes_of_steps(session: Session) -> dict[str, int]:
    counts: dict[str, int] = {}
    for record in session.episodes.values():
        if record.transition_id is not None:
            counts[record.transition_id] = counts.get(record.transition_id, 0) + 1
    return counts


def _draw_place(
    known: Scenery,
    net: Net,
    corridor: Corridor,
    horizon: Horizon,
    place: Place,
    provisional: bool,
) -> None:
    """Its standing rests on itself, on the steps that lead to it, on where the tokens are and, if
    something was claimed of it, on whether anything was edited since (`net/standing.py`)."""
    here = place.place_id
    band = horizon.band(here)
    claimed = place.claimed_by is not None or place.evidence_ids
    led = [net.transitions[step] for step in net.led_to_by.get(here, ())]
    held = any(token.place_id == here for token in net.tokens.values())
    drawn_from = (place, band, net.edits if claimed else 0, held, provisional, *led)
    last = known.places.get(here)
    if last is not None and last[0] == drawn_from:
        return
    spot = corridor.spots[here]
    known.places[here] = (
        drawn_from,
        PlaceView(
            id=here,
            type=place.type,
            label=place.label,
            standing=str(standing(net, here)),
            column=spot.column,
            lane=spot.lane,
            band=band,
            gate=place.gate_state,
            parent=place.parent,
            provisional=provisional,
        ),
    )


def _draw_step(
    known: Scenery,
    net: Net,
    corridor: Corridor,
    band: str,
    step: Transition,
    episodes: int,
    marks: Marks,
) -> None:
    here = step.transition_id
    last = known.steps.get(here)
    drawn_from = (step, band, episodes, marks)
    if last is not None and last[0] == drawn_from:
        return
    spot = corridor.spots[here]
    known.steps[here] = drawn_from, _step(net, step, spot.column, spot.lane, band, episodes, marks)
    ends = (step.flow, step.reads, step.success, step.failure)
    if here not in known.arcs or known.arcs[here][0] != ends:
        arcs = {f"{arc.source} {arc.kind} {arc.target}": arc for arc in _arcs(step)}
        known.arcs[here] = ends, arcs


def _step(
    net: Net,
    step: Transition,
    column: int,
    lane: int,
    band: str,
    episodes: int,
    marks: Marks,
) -> StepView:
    return StepView(
        id=step.transition_id,
        type=step.type,
        intent=step.intent,
        state=step.state,
        column=column,
        lane=lane,
        band=band,
        why_now=step.why_now,
        action=step.action,
        expected=tuple(one.text for one in step.expected),
        expected_met=_met(net, step),
        exit_condition=step.exit_condition,
        failure_condition=step.failure_condition,
        owner=step.owner,
        reason=step.reason,
        superseded_by=step.superseded_by,
        parent=step.parent,
        shell=step.refinement is not None,
        firings=step.firings,
        episodes=episodes,
        evidence=len(step.evidence_ids),
        evidence_ids=step.evidence_ids[-EVIDENCE_LISTED_MAX:],
        enabled=marks.enabled,
        pinned=marks.pinned,
        folded=marks.folded,
        tension=marks.tension,
        provisional=marks.provisional,
    )


def _met(net: Net, step: Transition) -> tuple[bool, ...]:
    """Which expected evidence is named by a piece of evidence of the present firing."""
    named = {
        key
        for each in map(net.evidence.__getitem__, step.evidence_ids)
        if each.firing_id == step.firing_id
        for key in each.satisfies
    }
    return tuple(one.key in named for one in step.expected)


def _arcs(step: Transition) -> Iterator[ArcView]:
    here = step.transition_id
    if step.flow is not None:
        yield ArcView(step.flow, here, ArcKind.FLOW)
    for read in step.reads:
        yield ArcView(read, here, ArcKind.READ)
    if step.success is not None:
        yield ArcView(here, step.success, ArcKind.SUCCESS)
    if step.failure is not None:
        yield ArcView(here, step.failure, ArcKind.FAILURE)


def _tokens(net: Net) -> Iterator[TokenView]:
    for token in net.tokens.values():
        at = token.reserved_by or token.place_id
        yield TokenView(token.token_id, token.agent_id, at, str(token_status(net, token)))
