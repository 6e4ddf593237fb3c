"""Columns by longest path from the start, lanes by birth: a plain layout for a still picture.

The live page has its own positions, fixed at birth (`attention`); pass those to `svg` instead.
"""

from __future__ import annotations

from ..state import Net

Point = tuple[int, int]


def layers(net: Net) -> dict[str, Point]:
    """(column, lane) of every node. Loops are cut where they lead back to an older node."""
    born = {place.place_id: place.born for place in net.places.values()}
    born |= {step.transition_id: step.born for step in net.transitions.values()}
    order = sorted(born, key=born.__getitem__)
    follows: dict[str, list[str]] = {name: [] for name in order}
    for step in net.transitions.values():
        sources = [end for end in (step.flow, *step.reads) if end is not None]
        targets = [end for end in (step.success, step.failure) if end is not None]
        for source in sources:
            follows[source].append(step.transition_id)
        follows[step.transition_id] += targets
    column = _columns(follows, order)
    lanes: dict[int, int] = {}
    points: dict[str, Point] = {}
    for name in order:
        lane = lanes.get(column[name], 0)
        lanes[column[name]] = lane + 1
        points[name] = (column[name], lane)
    return points


def _columns(follows: dict[str, list[str]], order: list[str]) -> dict[str, int]:
    """Longest path in the acyclic part: an edge that closes a cycle of the walk is left out."""
    kept: dict[str, list[str]] = {name: [] for name in order}
    done: list[str] = []
    state: dict[str, int] = {}  # 1 on the walk's path, 2 finished
    for root in order:
        stack = [(root, iter(follows[root]))] if root not in state else []
        state.setdefault(root, 1)
        while stack:
            name, targets = stack[-1]
            target = next(targets, None)
            if target is None:
                stack.pop()
                state[name] = 2
                done.append(name)
            elif state.get(target) != 1:
                kept[name].append(target)
                if target not in state:
                    state[target] = 1
                    stack.append((target, iter(follows[target])))
    column = dict.fromkeys(order, 0)
    for name in reversed(done):
        for target in kept[name]:
            column[target] = max(column[target], column[name] + 1)
    return column
