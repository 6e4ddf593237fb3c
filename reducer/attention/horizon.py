"""Near, mid, far: how much detail a node deserves now. A projection; it changes no net.

Seed, "Action Horizon"; RULES 31. Distance counts transitions along flow, success and failure
arcs (the active one is 0), never reads.

    near   distance <= 2 with every read met now; direct failure branches; what a viewer pinned
    mid    3–6, near ones whose reads are not met, the rest of the active shell's steps
    far    the rest
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from ..net.rules import is_live, is_met
from ..net.state import Net, Transition
from ..vocabulary.ids import MAIN_AGENT_ID

NEAR_MAX: Final = 2
MID_MAX: Final = 6
NEAR, MID, FAR = "near", "mid", "far"


class Horizon:
    """Distances of transitions and the band of every node, worked out once per view."""

    __slots__ = ("_bands", "distances", "failure_branches")

    def __init__(self, net: Net, pinned: Iterable[str] = ()) -> None:
        self.distances = distances(net)
        self.failure_branches = set(_failure_branches(net))
        self._bands = dict(_step_bands(net, self.distances, self.failure_branches))
        self._bands.update((node, NEAR) for node in pinned if net.knows(node))
        self._bands.update(
            (place, band) for place, band in _place_bands(net, self._bands) if place not in pinned
        )

    def band(self, node_id: str) -> str:
        return self._bands.get(node_id, FAR)

    def distance(self, transition_id: str) -> int | None:
        return self.distances.get(transition_id)


def distances(net: Net) -> dict[str, int]:
    """Breadth first from the active step; from the token's place (distance 1 on) when idle.

    Cost: what can be reached within MID_MAX, not the net.
    """
    active = net.active_transition()
    found: dict[str, int] = {}
    line: deque[tuple[Transition, int]] = deque()
    if active is not None:
        line.append((active, 0))
    else:
        token = net.token_of(MAIN_AGENT_ID)
        if token is not None:
            line.extend((step, 1) for step in _from_place(net, token.place_id))
    while line:
        step, distance = line.popleft()
        if step.transition_id in found or distance > MID_MAX:
            continue
        found[step.transition_id] = distance
        line.extend((after, distance + 1) for after in successors(net, step))
    return found


def successors(net: Net, step: Transition) -> Iterator[Transition]:
    """Live steps that start where this one may end: success first, then failure."""
    for place in (step.success, step.failure):
        if place is not None:
            yield from _from_place(net, place)
    shell = net.transitions.get(step.parent or "")
    refined = shell.refinement if shell is not None else None
    if shell is not None and refined is not None and step.success == refined.success_exit:
        yield from successors(net, shell)


def _from_place(net: Net, place_id: str) -> Iterator[Transition]:
    for transition_id in net.flows_from.get(place_id, ()):
        step = net.transitions[transition_id]
        if is_live(step):
            yield step


def reads_met(net: Net, step: Transition) -> bool:
    """Flow marking ignored: would only the token be missing?"""
    return all(is_met(net.places[read]) for read in step.reads)


def _failure_branches(net: Net) -> Iterator[str]:
    active = net.active_transition()
    if active is None or active.failure is None:
        return
    for step in _from_place(net, active.failure):
        yield step.transition_id


def _step_bands(net: Net, found: dict[str, int], branches: set[str]) -> Iterator[tuple[str, str]]:
    active = net.active_transition()
    shell = active.parent if active is not None else None
    for transition_id, distance in found.items():
        near = distance <= NEAR_MAX and reads_met(net, net.transitions[transition_id])
        yield transition_id, NEAR if near or transition_id in branches else MID
    if shell is not None:
        for place in _subnet_steps(net, shell):
            if place not in found:
                yield place, MID


def _subnet_steps(net: Net, shell_id: str) -> Iterator[str]:
    shell = net.transitions[shell_id]
    if shell.refinement is None:
        return
    line, seen = deque([shell.refinement.entry]), {shell.refinement.entry}
    while line:
        for transition_id in net.flows_from.get(line.popleft(), ()):
            yield transition_id
            step = net.transitions[transition_id]
            for place in (step.success, step.failure):
                if place is not None and place not in seen:
                    seen.add(place)
                    line.append(place)


def _place_bands(net: Net, steps: dict[str, str]) -> Iterator[tuple[str, str]]:
    """A place is as near as the nearest step that touches it. The token's place is always near."""
    order = {NEAR: 0, MID: 1, FAR: 2}
    best: dict[str, str] = {}
    for transition_id, band in steps.items():
        step = net.transitions.get(transition_id)
        if step is None:
            continue
        for place in (step.flow, step.success, step.failure, *step.reads):
            if place is not None and order[band] < order[best.get(place, FAR)]:
                best[place] = band
    for token in net.tokens.values():
        best[token.place_id] = NEAR
    yield from best.items()
