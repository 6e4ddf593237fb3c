"""The peers of the firing rule, in `.venv-oracle`: a number of firings in, seconds out."""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Callable

Fire = Callable[[int], None]


def pm4py_ring() -> Fire:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        from pm4py.objects.petri_net import semantics
        from pm4py.objects.petri_net.obj import Marking, PetriNet
        from pm4py.objects.petri_net.utils.petri_utils import add_arc_from_to
    net = PetriNet("ring")
    places = [PetriNet.Place("a"), PetriNet.Place("b")]
    steps = [PetriNet.Transition("ab", "ab"), PetriNet.Transition("ba", "ba")]
    net.places.update(places)
    net.transitions.update(steps)
    for step, source, target in ((steps[0], *places), (steps[1], *places[::-1])):
        add_arc_from_to(source, step, net)
        add_arc_from_to(step, target, net)
    at = [Marking({places[0]: 1})]

    def fire(count: int) -> None:
        marking = at[0]
        for number in range(count):
            marking = semantics.execute(steps[number & 1], net, marking)
        assert marking is not None
        at[0] = marking

    return fire


def snakes_ring() -> Fire:
    from snakes.nets import PetriNet, Place, Transition, Value

    net = PetriNet("ring")
    net.add_place(Place("a", [1]))
    net.add_place(Place("b", []))
    for name, source, target in (("ab", "a", "b"), ("ba", "b", "a")):
        net.add_transition(Transition(name))
        net.add_input(source, name, Value(1))
        net.add_output(target, name, Value(1))
    steps = [net.transition("ab"), net.transition("ba")]

    def fire(count: int) -> None:
        for number in range(count):
            step = steps[number & 1]
            step.fire(step.modes()[0])

    return fire


if __name__ == "__main__":
    run = {"pm4py": pm4py_ring, "snakes": snakes_ring}[sys.argv[1]]()
    for line in sys.stdin:
        begun = time.perf_counter()
        run(int(line))
        print(time.perf_counter() - begun, flush=True)
