"""All small cases: every legal prefix of three ops over two places, two steps and one token.

Where sampling may miss a corner, this cannot: each op of the alphabet is tried after each legal
prefix, on the product and on the naive net; both must say the same, and the net must be sound.
The two steps are alike, so the first op that names a step may as well name `tr_a`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

import pytest
from naive_net import Naive
from net_build import (
    Op,
    applied,
    arc,
    contract,
    evidence,
    gate,
    mark,
    new_net,
    on,
    patch_of,
    place,
    refine,
    state,
    step,
    supersede,
    wired,
)

from wayfinder.reducer.net.decide import Committed, apply
from wayfinder.reducer.net.digest import net_digest
from wayfinder.reducer.net.invariants import check
from wayfinder.reducer.net.rules import enabled
from wayfinder.reducer.net.state import Net
from wayfinder.reducer.vocabulary.answer import Rejected, Unchanged

STEPS, PLACES = ("tr_a", "tr_b"), ("pl_start", "pl_a")
NODES: list[Op] = [place("pl_a"), step("tr_a"), step("tr_b"), evidence("pl_a", "ev_a")]
WIRED: list[Op] = [
    *[place("pl_a"), evidence("pl_a", "ev_a"), gate("gate_a", "closed")],
    *[*wired("tr_a", "pl_start", "pl_a"), *wired("tr_b", "pl_a", "pl_start", "pl_a")],
]


def alphabet() -> Iterator[Op]:
    for name in STEPS:
        for at in PLACES:
            yield from (arc(at, name, kind) for kind in ("flow", "read"))
            yield from (arc(name, at, kind) for kind in ("success", "failure"))
        yield from (on(verb, name) for verb in ("activate", "complete", "fail"))
        yield on("retire", name, reason="not needed")
        yield supersede(name, "tr_b" if name == "tr_a" else "tr_a")
        yield contract(name, expectedEvidence=[])
        yield evidence(name, f"ev_{name}", "ee1")
    for at in PLACES:
        yield from (state(at, value, "ev_a") for value in ("satisfied", "unknown", "invalidated"))
    yield gate("gate_a")
    yield from (mark("gate_a", value) for value in ("open", "closed"))
    yield arc("gate_a", "tr_a", "read")
    yield refine("tr_a", "pl_start", "pl_a")
    yield refine("tr_a", "pl_start", "pl_a", "pl_start")
    yield from (on(verb, "tr_a_step") for verb in ("activate", "complete", "fail"))


ALPHABET = list(alphabet())


class Counted:
    def __init__(self) -> None:
        self.tried = self.legal = 0

    def explore(self, net: Net, naive: Naive, depth: int, named: bool) -> None:
        for op in ALPHABET:
            steps = [value for value in op.values() if value in STEPS]
            if steps and not named and steps[0] != "tr_a":
                continue  # the same case with the steps' names exchanged
            child, other = forked(net), copy.deepcopy(naive)
            self.tried += 1
            if same_answer(child, other, op):
                self.legal += 1
                if depth > 1:
                    self.explore(child, other, depth - 1, named or bool(steps))


def forked(net: Net) -> Net:
    net_digest(net)
    return net.overlay()


def same_answer(net: Net, naive: Naive, op: Op) -> bool:
    """Whether the op was applied; asserts that both nets agree on that and on what came of it."""
    decision = apply(net, patch_of([op], net.revision))
    said = naive.submit([op], naive.revision)
    if isinstance(decision, Rejected):
        assert decision.faults[0].code == said, (op, decision)
        return False
    if isinstance(decision, Unchanged):
        assert said == "unchanged", (op, decision)
        return False
    assert isinstance(decision, Committed)
    assert said == "applied", (op, decision)
    assert check(net) == []
    assert net_digest(net) == decision.answer.snapshot_hash
    token = net.tokens["tok_main"]
    assert (token.place_id, token.reserved_by or "") == (naive.at, naive.held)
    assert {name for name in net.transitions if enabled(net, name)} == naive.enabled()
    assert {name: step.state.value for name, step in net.transitions.items()} == naive.steps
    return True


@pytest.mark.parametrize(
    ("begun", "depth", "alike"), [(NODES, 3, True), (WIRED, 3, False)], ids=["bare", "wired"]
)
def test_every_small_case(begun: list[Op], depth: int, alike: bool) -> None:
    """From bare nodes and from wired steps: three ops deep, nothing left out."""
    net, naive = new_net(), Naive()
    applied(net, *begun)
    assert naive.submit(begun, 0) == "applied"
    counted = Counted()
    counted.explore(net, naive, depth, named=not alike)
    assert counted.legal > 1000
    print(f"{counted.tried} tried, {counted.legal} legal")
