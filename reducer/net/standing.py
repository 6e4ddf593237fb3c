"""What is known of a place. Claimed is not verified (DESIGN 6, RULES 3 and 5).

    unreachable   only dead steps lead here, and nothing is known of it
    unknown       nobody has said anything
    claimed       the token arrived: the agent says so by moving on
    satisfied     someone cited evidence for it
    verified      a passing result was observed, no older than the last edit
    invalidated   evidence says no

And of a token: `active` while a step is at work, `blocked` while only a gate or an unmet read
keeps every step from starting, `complete` on the goal, else `waiting`. Both are derived, so they
cannot disagree with the net.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from ..vocabulary.evidence import Evidence
from ..vocabulary.terms import GateState, PlaceState, TokenStatus
from .evidence import verifies
from .rules import is_live, is_met
from .state import Net, Place, Token


class Standing(StrEnum):
    UNKNOWN = "unknown"
    CLAIMED = "claimed"
    SATISFIED = "satisfied"
    VERIFIED = "verified"
    INVALIDATED = "invalidated"
    UNREACHABLE = "unreachable"


_OF_GATE = {
    GateState.OPEN: Standing.SATISFIED,
    GateState.CLOSED: Standing.UNKNOWN,
    GateState.BLOCKED: Standing.INVALIDATED,
}


def standing(net: Net, place_id: str) -> Standing:
    place = net.places[place_id]
    if place.gate_state is not None:
        return _OF_GATE[place.gate_state]
    if place.state is PlaceState.INVALIDATED:
        return Standing.INVALIDATED
    held = place.state is PlaceState.SATISFIED
    if held or place.claimed_by is not None:
        if any(verifies(net, evidence) for evidence in evidence_for(net, place)):
            return Standing.VERIFIED
        return Standing.SATISFIED if held else Standing.CLAIMED
    return Standing.UNREACHABLE if is_unreachable(net, place_id) else Standing.UNKNOWN


def evidence_for(net: Net, place: Place) -> Iterator[Evidence]:
    """Cited by or attached to the place, or gathered in the firing that reached it."""
    for evidence_id in place.evidence_ids:
        yield net.evidence[evidence_id]
    for step_id in net.led_to_by.get(place.place_id, ()):
        step = net.transitions[step_id]
        for evidence_id in step.evidence_ids:
            evidence = net.evidence[evidence_id]
            if evidence.firing_id is not None and evidence.firing_id == place.claimed_by:
                yield evidence


def is_unreachable(net: Net, place_id: str) -> bool:
    """Steps lead here, none of them live. A place without any is only far, not unreachable."""
    producers = net.led_to_by.get(place_id, ())
    if any(token.place_id == place_id for token in net.tokens.values()):
        return False
    return bool(producers) and not any(is_live(net.transitions[step]) for step in producers)


def token_status(net: Net, token: Token) -> TokenStatus:
    if net.active_transition(token.agent_id) is not None:
        return TokenStatus.ACTIVE
    if net.goal is not None and token.place_id == net.goal.place_id:
        return TokenStatus.COMPLETE
    ahead = [net.transitions[step] for step in net.flows_from.get(token.place_id, ())]
    ready = [step for step in ahead if is_live(step) and step.success is not None]
    unmet = [any(not is_met(net.places[read]) for read in step.reads) for step in ready]
    return TokenStatus.BLOCKED if unmet and all(unmet) else TokenStatus.WAITING
