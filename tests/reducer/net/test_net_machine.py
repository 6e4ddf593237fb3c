"""The product's net against a naive one over long random stories, compared after every step."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from naive_net import Naive
from net_build import Op, mark, new_net, on, refine, submit
from net_ops import any_op, fitting_op, wired_start

from wayfinder.reducer.net.decide import Committed
from wayfinder.reducer.net.rules import enabled
from wayfinder.reducer.vocabulary.answer import Conflict, ReadBack, Rejected, Unchanged
from wayfinder.reducer.vocabulary.terms import Channel

ANSWERS = {ReadBack: "read", Unchanged: "unchanged", Conflict: "conflict", Committed: "applied"}


class NetMachine(RuleBasedStateMachine):
    """`submit` itself checks invariants, digests, and that a refused patch leaves no trace."""

    def __init__(self) -> None:
        super().__init__()
        self.net = new_net()
        self.naive = Naive()

    def both(self, ops: list[Op], lag: int = 0, by_person: bool = False) -> str:
        base = max(0, self.net.revision - lag)
        channel = Channel.HUMAN if by_person else Channel.DECLARED_PATH
        decision = submit(self.net, *ops, base=base, channel=channel)
        told = decision.faults[0].code if isinstance(decision, Rejected) else None
        said = told or ANSWERS[type(decision)]
        assert said == self.naive.submit(ops, base, by_person), decision
        return said

    @initialize(begun=st.integers(0, 4))
    def begin(self, begun: int) -> None:
        """From nothing, from wired steps, or already deep inside a refined one."""
        story: list[list[Op]] = [
            wired_start(),
            [refine("tr_s", "pl_start", "pl_a", "pl_start")],
            [on("activate", "tr_s")],
            [on("activate", "tr_s_step")],
        ]
        for ops in story[:begun]:
            assert self.both(ops) == "applied"

    @rule(data=st.data())
    def fitting(self, data: st.DataObject) -> None:
        self.both([data.draw(fitting_op(self.naive))])

    @rule(data=st.data())
    def fitting_together(self, data: st.DataObject) -> None:
        """The second op was drawn before the first was applied, so it may no longer fit."""
        self.both(data.draw(st.lists(fitting_op(self.naive), min_size=2, max_size=3)))

    @rule(op=any_op)
    def anything(self, op: Op) -> None:
        self.both([op])

    @rule(ops=st.lists(any_op, max_size=4), lag=st.sampled_from([0, 0, 0, 1, 3]))
    def several_ops(self, ops: list[Op], lag: int) -> None:
        self.both(ops, lag)

    @rule(op=any_op, lag=st.sampled_from([0, 0, 1]))
    def a_person_s_op(self, op: Op, lag: int) -> None:
        if op["op"] != "attach_evidence":
            self.both([op], lag, by_person=True)

    @rule(ok=st.booleans(), pick=st.integers(0, 3))
    def walk(self, ok: bool, pick: int) -> None:
        """Goes on from wherever the token is: end what is held, else start something enabled."""
        if self.naive.held:
            self.both([on("complete" if ok else "fail", self.naive.held)])
        elif ready := sorted(self.naive.enabled()):
            self.both([on("activate", ready[pick % len(ready)])])

    @rule()
    def walk_on(self) -> None:
        """Straight on, and gates open: what most sessions do most of the time."""
        closed = [name for name, is_ in self.naive.state.items() if is_ in ("closed", "blocked")]
        if self.naive.held:
            self.both([on("complete", self.naive.held)])
        elif ready := sorted(self.naive.enabled()):
            self.both([on("activate", ready[-1])])
        elif closed:
            self.both([mark(closed[0], "open")])

    @rule(failure=st.booleans())
    def refine_well(self, failure: bool) -> None:
        ends = [self.naive.to(kind, "tr_s") for kind in ("flow", "success", "failure")]
        if ends[0] and ends[1]:
            self.both([refine("tr_s", ends[0], ends[1], (ends[2] or ends[0]) * failure)])

    @invariant()
    def same(self) -> None:
        net, naive = self.net, self.naive
        token = net.tokens["tok_main"]
        assert (net.revision, token.place_id) == (naive.revision, naive.at)
        assert (token.reserved_by or "") == naive.held
        assert {name: place.type.value for name, place in net.places.items()} == naive.places
        assert naive.state == {
            name: (place.gate_state or place.state).value for name, place in net.places.items()
        }
        assert naive.steps == {name: step.state.value for name, step in net.transitions.items()}
        nodes = {**net.places, **net.transitions}
        assert naive.inside == {name: node.parent for name, node in nodes.items() if node.parent}
        assert naive.enabled() == {name for name in net.transitions if enabled(net, name)}
        assert (net.goal.place_id if net.goal else "") == naive.goal
        arcs = {("read", at, name) for name, step in net.transitions.items() for at in step.reads}
        for kind in ("flow", "success", "failure"):
            ends = {(kind, getattr(step, kind), name) for name, step in net.transitions.items()}
            arcs |= {end for end in ends if end[1]}
        assert arcs == naive.arcs


TestNetMachine = NetMachine.TestCase
TestNetMachine.settings = settings(
    max_examples=int(os.environ.get("WAYFINDER_EXAMPLES", "500")),
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
