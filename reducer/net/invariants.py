"""The net's invariants, one function each.

Structure
  I1  ids             a name is one place, one transition or one token, never two
  I2  bipartite       arcs join a place and a transition, and both exist
  I3  arity           at most one flow input, one success and one failure output (Phase 1)
  I4  indexes         the arcs seen from places are the arcs seen from transitions
  I5  gates           a Gate has a gate state, nothing else has
  I6  border          no arc crosses a shell's border but a read from outside
  I7  refinement      one level; entry and exits are three different places inside
Marking
  I8  marking         a token stands on a place that exists
  I9  reservation     what reserves a token is active, and flows from where the token stands
  I10 one active      an agent has at most one active transition; shells do not count
  I11 shells          a refined shell is active exactly while a token is inside
History
  I12 endings         retired has a reason; superseded also a live or once-live successor
  I13 firings         a firing id belongs to one transition; an active one has a firing
  I14 contracts       keys of expected evidence are unique, and every key referred to exists
  I15 evidence        evidence that is cited exists; a state other than unknown cites some
  I16 goal            the goal's place is a Goal; no Goal place is its own successor
  I17 born            birth numbers are unique and below the counter

`check` runs them all; tests run it after every step. What may start: `rules.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ..vocabulary.ids import START_PLACE_ID
from ..vocabulary.terms import PlaceState, PlaceType, TransitionState
from .rules import DEAD
from .state import Net, Transition

ACTIVE_PER_AGENT_MAX: Final = 1


def ids(net: Net) -> Iterator[str]:
    spaces = (set(net.places), set(net.transitions), set(net.tokens))
    for index, space in enumerate(spaces):
        for other in spaces[index + 1 :]:
            yield from (f"{name} names two things" for name in sorted(space & other))


def _arcs(step: Transition) -> Iterator[tuple[str, str]]:
    ends = (("flow", step.flow), ("success", step.success), ("failure", step.failure))
    yield from ((name, end) for name, end in ends if end is not None)
    yield from (("read", place_id) for place_id in step.reads)


def bipartite(net: Net) -> Iterator[str]:
    for step in net.transitions.values():
        for name, place_id in _arcs(step):
            if place_id not in net.places:
                yield f"{step.transition_id}: {name} arc to {place_id}, which is no place"


def arity(net: Net) -> Iterator[str]:
    """One flow, success and failure are single fields; reads are a set without limit."""
    for step in net.transitions.values():
        if len(set(step.reads)) != len(step.reads):
            yield f"{step.transition_id} reads a place twice"


def indexes(net: Net) -> Iterator[str]:
    wanted: dict[str, dict[str, set[str]]] = {"flow": {}, "read": {}, "led": {}}
    for step in net.transitions.values():
        for name, place_id in _arcs(step):
            index = name if name in wanted else "led"
            wanted[index].setdefault(place_id, set()).add(step.transition_id)
    kept = {"flow": net.flows_from, "read": net.read_by, "led": net.led_to_by}
    for name, index in kept.items():
        if {key: set(value) for key, value in index.items()} != wanted[name]:
            yield f"the index of {name} arcs is not the arcs"


def gates(net: Net) -> Iterator[str]:
    for place in net.places.values():
        if (place.type is PlaceType.GATE) != (place.gate_state is not None):
            yield f"{place.place_id}: {place.type} with gate state {place.gate_state}"
        if place.gate_state is not None and place.state is not PlaceState.UNKNOWN:
            yield f"{place.place_id}: a gate with a place state"


def border(net: Net) -> Iterator[str]:
    for step in net.transitions.values():
        for name, place_id in _arcs(step):
            outside = net.places[place_id].parent
            if outside != step.parent and not (name == "read" and outside is None):
                yield f"{step.transition_id}: {name} arc to {place_id} crosses a shell's border"


def refinement(net: Net) -> Iterator[str]:
    for step in net.transitions.values():
        inside = step.refinement
        if inside is None:
            continue
        if step.parent is not None:
            yield f"{step.transition_id} is refined inside a shell"
        ends = [inside.entry, inside.success_exit, inside.failure_exit]
        ends = [end for end in ends if end is not None]
        if len(set(ends)) != len(ends):
            yield f"{step.transition_id}: entry and exits coincide"
        for end in ends:
            if net.places[end].parent != step.transition_id:
                yield f"{step.transition_id}: {end} is not inside"
    for node in (*net.places.values(), *net.transitions.values()):
        if node.parent is not None and net.transitions[node.parent].refinement is None:
            yield f"{node.parent} has an inside but no refinement"


def marking(net: Net) -> Iterator[str]:
    for token in net.tokens.values():
        if token.place_id not in net.places:
            yield f"{token.token_id} stands on {token.place_id}, which is no place"


def reservation(net: Net) -> Iterator[str]:
    holders = {token.reserved_by: token for token in net.tokens.values() if token.reserved_by}
    for holder, token in holders.items():
        step = net.transitions[holder]
        if step.state is not TransitionState.ACTIVE:
            yield f"{holder} reserves {token.token_id} but is {step.state}"
        if step.flow != token.place_id:
            yield f"{holder} reserves {token.token_id} on {token.place_id}, not its flow input"
        if step.success is None:
            yield f"{holder} is active without a success output"
    for step in net.transitions.values():
        starts = step.state is TransitionState.ACTIVE and step.refinement is None
        if starts and step.transition_id not in holders:
            yield f"{step.transition_id} is active but reserves nothing"


def one_active(net: Net) -> Iterator[str]:
    active = [
        step.transition_id
        for step in net.transitions.values()
        if step.state is TransitionState.ACTIVE and step.refinement is None
    ]
    if len(active) > ACTIVE_PER_AGENT_MAX * len(net.tokens):
        yield f"more than one active: {', '.join(sorted(active))}"


def shells(net: Net) -> Iterator[str]:
    inside = {net.places[token.place_id].parent for token in net.tokens.values()}
    for step in net.transitions.values():
        if step.refinement is None:
            continue
        active = step.state is TransitionState.ACTIVE
        if active != (step.transition_id in inside):
            yield f"{step.transition_id} is {step.state}, its inside says otherwise"


def endings(net: Net) -> Iterator[str]:
    for step in net.transitions.values():
        if step.state in DEAD and not step.reason:
            yield f"{step.transition_id} is {step.state} without a reason"
        if step.state is TransitionState.SUPERSEDED and (
            step.superseded_by not in net.transitions or step.superseded_by == step.transition_id
        ):
            yield f"{step.transition_id} is superseded by {step.superseded_by}"


def firings(net: Net) -> Iterator[str]:
    seen: dict[str, str] = {}
    for step in net.transitions.values():
        if (step.firing_id is None) != (step.firings == 0):
            yield f"{step.transition_id}: {step.firings} firings, last {step.firing_id}"
        if step.firing_id is not None:
            other = seen.setdefault(step.firing_id, step.transition_id)
            if other != step.transition_id:
                yield f"firing {step.firing_id} is of {other} and {step.transition_id}"
    if sum(step.firings for step in net.transitions.values()) != net.firings:
        yield "the count of firings is wrong"


def contracts(net: Net) -> Iterator[str]:
    for step in net.transitions.values():
        keys = [expected.key for expected in step.expected]
        if len(set(keys)) != len(keys):
            yield f"{step.transition_id}: a key of expected evidence stands twice"
        for evidence_id in step.evidence_ids:
            evidence = net.evidence[evidence_id]
            if evidence.target_id == step.transition_id:
                for key in evidence.satisfies:
                    if key not in keys:
                        yield f"{evidence_id} satisfies {key}, unknown to {step.transition_id}"


def evidence(net: Net) -> Iterator[str]:
    for node in (*net.places.values(), *net.transitions.values()):
        for evidence_id in node.evidence_ids:
            if evidence_id not in net.evidence:
                yield f"evidence {evidence_id} is cited and missing"
    for place in net.places.values():
        bare = place.state is not PlaceState.UNKNOWN and not place.evidence_ids
        if bare and place.place_id != START_PLACE_ID:
            yield f"{place.place_id} is {place.state} without evidence"


def goal(net: Net) -> Iterator[str]:
    if net.goal is not None and net.goal.place_id is not None:
        place = net.places.get(net.goal.place_id)
        if place is None or place.type is not PlaceType.GOAL or place.superseded_by is not None:
            yield f"the goal's place {net.goal.place_id} is no standing Goal"


def born(net: Net) -> Iterator[str]:
    numbers = [node.born for node in (*net.places.values(), *net.transitions.values())]
    if len(set(numbers)) != len(numbers) or any(number >= net.born for number in numbers):
        yield "birth numbers repeat or pass the counter"


INVARIANTS: Final[tuple[Callable[[Net], Iterator[str]], ...]] = (
    ids,
    bipartite,
    arity,
    indexes,
    gates,
    border,
    refinement,
    marking,
    reservation,
    one_active,
    shells,
    endings,
    firings,
    contracts,
    evidence,
    goal,
    born,
)


def check(net: Net) -> list[str]:
    """Every broken invariant in words; empty is right."""
    return [f"{rule.__name__}: {broken}" for rule in INVARIANTS for broken in rule(net)]
