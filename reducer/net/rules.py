"""When a transition may start. Each obstacle is told with what would remove it.

Reads ask what is believed of a place, the flow arc asks where the token is; the two never mix.
A precondition that goes away later never aborts a firing (RULES 7).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..vocabulary.answer import Code
from ..vocabulary.terms import GateState, PlaceState, TransitionState
from .state import Net, Place, Token, Transition

DEAD: Final = frozenset({TransitionState.RETIRED, TransitionState.SUPERSEDED})


class Obstacle(NamedTuple):
    """Why a transition cannot start: what was expected, and the ids that help to mend it."""

    code: Code
    expected: str
    known: tuple[str, ...] = ()


def is_live(step: Transition) -> bool:
    """Live steps may fire, also again; retired and superseded ones never (RULES 4)."""
    return step.state not in DEAD


def is_met(place: Place) -> bool:
    """Whether a read of this place is satisfied."""
    if place.gate_state is not None:
        return place.gate_state is GateState.OPEN
    return place.state is PlaceState.SATISFIED


def obstacles(net: Net, step: Transition, token: Token) -> list[Obstacle]:
    """Everything that keeps `step` from starting with `token`; empty means enabled."""
    if step.state in DEAD:
        return [Obstacle("not_live", f"a live transition; this one is {step.state}")]
    found: list[Obstacle] = []
    if step.flow is None or step.success is None:
        found.append(_without_arcs(step))
    elif token.place_id != step.flow:
        found.append(
            Obstacle(
                "not_enabled",
                f"{token.token_id} on {step.flow}; it is on {token.place_id}",
                (token.place_id,),
            )
        )
    for place_id in step.reads:
        place = net.places[place_id]
        if not is_met(place):
            found.append(_unmet(place))
    if token.reserved_by is not None:
        found.append(_reserved(step, token.reserved_by))
    return found


def _without_arcs(step: Transition) -> Obstacle:
    lacks = " and ".join(
        name for name, end in (("flow", step.flow), ("success", step.success)) if end is None
    )
    return Obstacle("arity", f"a {lacks} arc before activation", (step.transition_id,))


def _unmet(place: Place) -> Obstacle:
    if place.gate_state is not None:
        expected = f"gate {place.place_id} open; it is {place.gate_state}"
    else:
        expected = f"{place.place_id} satisfied; it is {place.state}"
    return Obstacle("not_enabled", expected, (place.place_id,))


def _reserved(step: Transition, by: str) -> Obstacle:
    if by == step.transition_id:
        return Obstacle("token_reserved", "a free token; this step holds it already", (by,))
    return Obstacle("already_active", f"{by} completed or failed first", (by,))


def enabled(net: Net, transition_id: str) -> bool:
    """Whether some token could start it now."""
    step = net.transitions[transition_id]
    return any(not obstacles(net, step, token) for token in net.tokens.values())


def enabled_at(net: Net, token: Token) -> tuple[str, ...]:
    """What the token could start, oldest first. Nothing while a firing reserves it."""
    return tuple(
        transition_id
        for transition_id in net.flows_from.get(token.place_id, ())
        if not obstacles(net, net.transitions[transition_id], token)
    )


def preconditions_gone(net: Net, step: Transition) -> tuple[str, ...]:
    """Read places no longer met while the step is active: shown, never an abort (RULES 7)."""
    return tuple(place_id for place_id in step.reads if not is_met(net.places[place_id]))
