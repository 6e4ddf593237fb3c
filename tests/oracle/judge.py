"""Replays the product's stories in pm4py and in SNAKES. Runs in `.venv-oracle`, imports nothing
of the product.

* pm4py reads the exported PNML. Its readers drop what they do not understand without a word, so
  the counts of places, transitions and arcs are compared before anything else is believed.
* SNAKES gets the net through its own API, straight from places and steps, with its own test arcs
  for reads: if the export itself were wrong, this judge would see it.

After every firing and every change of a condition: same enabled set, same marking.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import snakes.nets as sn

warnings.simplefilter("ignore")
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    import pm4py
    from pm4py.objects.petri_net import semantics
    from pm4py.objects.petri_net.obj import Marking


class ByPm4py:
    def __init__(self, story: dict[str, Any]) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".pnml", encoding="utf-8") as file:
            file.write(story["pnml"])
            file.flush()
            self.net, self.marking, final = pm4py.read_pnml(file.name)
        counts = {
            "places": len(self.net.places),
            "transitions": len(self.net.transitions),
            "arcs": len(self.net.arcs),
        }
        assert counts == story["counts"], f"pm4py read {counts}"
        assert final, "pm4py found no final marking"
        self.places = {place.name: place for place in self.net.places}
        self.transitions = {each.name: each for each in self.net.transitions}

    def fire(self, name: str) -> None:
        step = self.transitions[name]
        assert semantics.is_enabled(step, self.net, self.marking), f"{name} is not enabled"
        self.marking = semantics.execute(step, self.net, self.marking)

    def set_met(self, met: set[str]) -> None:
        kept = {place: n for place, n in self.marking.items() if "·met" not in place.name}
        held = {self.places[f"{m}·met"]: 1 for m in met if f"{m}·met" in self.places}
        self.marking = Marking({**kept, **held})

    def enabled(self) -> set[str]:
        return {each.name for each in semantics.enabled_transitions(self.net, self.marking)}

    def at(self) -> set[str]:
        return {place.name for place, n in self.marking.items() if n and "·met" not in place.name}


class BySnakes:
    """A place per place, a second one per condition; reads are SNAKES' own test arcs."""

    def __init__(self, story: dict[str, Any]) -> None:
        self.net = sn.PetriNet("wayfinder")
        for name in story["places"]:
            self.net.add_place(sn.Place(name, [1] if name == story["walk"][0]["at"] else []))
            self.net.add_place(sn.Place(f"{name}·met", []))
        for name, step in story["steps"].items():
            if step["flow"] and step["success"]:
                self._step(name, step)

    def _step(self, name: str, step: dict[str, Any]) -> None:
        reads, shell = step["reads"], step["shell"]
        if shell is None:
            self._arc(name, step["flow"], step["success"], reads)
            if step["failure"]:
                self._arc(f"{name}·fail", step["flow"], step["failure"], reads)
            return
        entry, success, failure = shell
        self._arc(f"{name}·enter", step["flow"], entry, reads)
        self._arc(f"{name}·exit", success, step["success"], [])
        if failure:
            self._arc(f"{name}·fail", failure, step["failure"] or step["flow"], [])

    def _arc(self, name: str, source: str, target: str, reads: list[str]) -> None:
        self.net.add_transition(sn.Transition(name))
        self.net.add_input(source, name, sn.Value(1))
        self.net.add_output(target, name, sn.Value(1))
        for place in reads:
            self.net.add_input(f"{place}·met", name, sn.Test(sn.Value(1)))

    def fire(self, name: str) -> None:
        step = self.net.transition(name)
        modes = step.modes()
        assert modes, f"{name} is not enabled"
        step.fire(modes[0])

    def set_met(self, met: set[str]) -> None:
        for place in self.net.place():
            if place.name.endswith("·met"):
                place.reset([1] if place.name.removesuffix("·met") in met else [])

    def enabled(self) -> set[str]:
        return {step.name for step in self.net.transition() if step.modes()}

    def at(self) -> set[str]:
        return {place.name for place in self.net.place()
                if place.tokens and not place.name.endswith("·met")}  # fmt: skip


def judged(story: dict[str, Any]) -> tuple[int, int]:
    """(firings, moments) compared. Raises AssertionError where a judge sees something else."""
    fired = 0
    for judge in (ByPm4py(story), BySnakes(story)):
        for moment in story["walk"]:
            for name in moment.get("fired", ()):
                judge.fire(name)
                fired += 1
            judge.set_met(set(moment["met"]))
            who = type(judge).__name__
            assert judge.at() == {moment["at"]}, f"{who}: token on {judge.at()}, not {moment}"
            seen = judge.enabled()
            assert seen == set(moment["enabled"]), f"{who}: enabled {seen}, not {moment}"
    return fired // 2, len(story["walk"])


def main(path: str) -> int:
    nets = firings = moments = 0
    for line in Path(path).read_text("utf-8").splitlines():
        story = json.loads(line)
        try:
            fired, looked_at = judged(story)
        except AssertionError as difference:
            print(f"net of seed {story['seed']}: {difference}")
            return 1
        nets, firings, moments = nets + 1, firings + fired, moments + looked_at
    print(f"{nets} nets, {firings} firings, {moments} markings and enabled sets: "
          "the product, pm4py and SNAKES agree")  # fmt: skip
    return 0 if nets else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
