"""Nodes and arcs where they stand, with every mark that is drawn: shape and word, not colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ..alignment.tension import Tension
from ..net.rules import enabled
from ..net.standing import standing, token_status
from ..net.state import Net, Place, Transition
from ..session.corridor import Corridor
from ..session.state import Session
from ..vocabulary.terms import ArcKind
from .horizon import Horizon
from .view import ArcView, PlaceView, Scene, StepView, TokenView

EVIDENCE_LISTED_MAX: Final = 50  # per step, the newest; `evidence` counts them all


def scene(
    session: Session,
    horizon: Horizon,
    tense: Iterable[Tension],
    pinned: frozenset[str],
    folded: frozenset[str],
) -> Scene:
    net, corridor = session.net, session.corridor
    in_tension = {t.transition_id for t in tense} | {t.place_id for t in tense}
    counts: dict[str, int] = {}
    for record in session.episodes.values():
        if record.transition_id is not None:
            counts[record.transition_id] = counts.get(record.transition_id, 0) + 1
    return Scene(
        places={
            place.place_id: _place(net, corridor, horizon, place) for place in net.places.values()
        },
        steps={
            step.transition_id: _step(
                net, corridor, horizon, step, counts, in_tension, pinned, folded
            )
            for step in net.transitions.values()
        },
        arcs={f"{arc.source} {arc.kind} {arc.target}": arc for arc in _arcs(net)},
        tokens={token.id: token for token in _tokens(net)},
    )


def _place(net: Net, corridor: Corridor, horizon: Horizon, place: Place) -> PlaceView:
    spot = corridor.spots[place.place_id]
    return PlaceView(
        id=place.place_id,
        type=place.type,
        label=place.label,
        standing=str(standing(net, place.place_id)),
        column=spot.column,
        lane=spot.lane,
        band=horizon.band(place.place_id),
        gate=place.gate_state,
        parent=place.parent,
    )


def _step(
    net: Net,
    corridor: Corridor,
    horizon: Horizon,
    step: Transition,
    counts: dict[str, int],
    in_tension: set[str | None],
    pinned: frozenset[str],
    folded: frozenset[str],
) -> StepView:
    spot = corridor.spots[step.transition_id]
    return StepView(
        id=step.transition_id,
        type=step.type,
        intent=step.intent,
        state=step.state,
        column=spot.column,
        lane=spot.lane,
        band=horizon.band(step.transition_id),
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
        episodes=counts.get(step.transition_id, 0),
        evidence=len(step.evidence_ids),
        evidence_ids=step.evidence_ids[-EVIDENCE_LISTED_MAX:],
        enabled=enabled(net, step.transition_id),
        pinned=step.transition_id in pinned,
        folded=step.transition_id in folded,
        tension=step.transition_id in in_tension,
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


def _arcs(net: Net) -> Iterator[ArcView]:
    for step in net.transitions.values():
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
