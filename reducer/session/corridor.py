"""Where each node stands: fixed when it is born, never moved (DESIGN 7, RULES 32).

World coordinates in path order: `column` is causal rank (places and transitions alternate, so a
step takes two columns), `lane` the nearest free row to where its predecessor stands; success goes
straight on, failure turns off below. A node is placed at the end of the batch that made it, with
the arcs that batch gave it. Arcs that come later never move it: a longer arrow is a smaller lie
than a map that jumps. (Layered layouts move 63–76 % of the nodes at every patch.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from ..net.state import Net

FAR_GAP_COLUMNS: Final = 2  # a node nobody leads to yet stands beyond all that is known


class Spot(Struct, frozen=True):
    column: int
    lane: int


class Corridor:
    """Grows with the net; holds a spot per node and the set of taken spots."""

    __slots__ = ("_taken", "spots")

    def __init__(self) -> None:
        self.spots: dict[str, Spot] = {}
        self._taken: set[tuple[int, int]] = set()

    def begin(self, start_place_id: str) -> None:
        self.spots[start_place_id] = Spot(0, 0)
        self._taken.add((0, 0))

    def settle(self, net: Net, born: Iterable[str]) -> None:
        """Gives each of `born`, in order of birth, its spot for good. Cost: the batch, not the net.

        Nodes with a placed predecessor come first, so a chain declared back to front still
        stands in path order.
        """
        waiting = [node for node in born if node not in self.spots]
        while waiting:
            ready = [node for node in waiting if self._predecessors(net, node)]
            for node in ready or waiting[:1]:
                self._place(net, node)
            waiting = [node for node in waiting if node not in self.spots]

    def _place(self, net: Net, node: str) -> None:
        before = list(self._predecessors(net, node))
        if before:
            column = 1 + max(spot.column for spot, _ in before)
            spot, turns = max(before, key=lambda pair: pair[0].column)
            lane = spot.lane + turns
        else:
            column, lane = self._without_predecessor(net, node)
        lane = next(row for row in _nearest(lane) if (column, row) not in self._taken)
        self.spots[node] = Spot(column, lane)
        self._taken.add((column, lane))

    def _without_predecessor(self, net: Net, node: str) -> tuple[int, int]:
        after = [self.spots[other] for other in _successors(net, node) if other in self.spots]
        if after:
            first = min(after, key=lambda spot: spot.column)
            return max(0, first.column - 1), first.lane
        furthest = max(spot.column for spot in self.spots.values())
        wanted = furthest + FAR_GAP_COLUMNS
        # Places on even columns, transitions on odd ones, as the path itself alternates.
        return wanted + (wanted + (node in net.transitions)) % 2, 0

    def _predecessors(self, net: Net, node: str) -> list[tuple[Spot, int]]:
        """Placed nodes with an arc to this one, each with the lanes that arc turns off by."""
        return [(self.spots[n], turns) for n, turns in _arcs_into(net, node) if n in self.spots]


def _arcs_into(net: Net, node: str) -> Iterator[tuple[str, int]]:
    transition = net.transitions.get(node)
    if transition is not None:
        if transition.flow is not None:
            yield transition.flow, 0
        return
    for producer in net.led_to_by.get(node, ()):
        yield producer, int(net.transitions[producer].failure == node)
    parent = net.places[node].parent
    if parent is not None:
        yield parent, 1  # the inside of a shell hangs below it


def _successors(net: Net, node: str) -> Iterator[str]:
    transition = net.transitions.get(node)
    if transition is None:
        yield from net.flows_from.get(node, ())
        return
    for place in (transition.success, transition.failure):
        if place is not None:
            yield place


def _nearest(lane: int) -> Iterator[int]:
    """lane, lane + 1, lane - 1, lane + 2 …: below first, where failures turn to."""
    yield lane
    step = 1
    while True:
        yield lane + step
        yield lane - step
        step += 1
