"""Random nets, walked at random by the product. One JSON line per net, for `judge.py`.

    {"seed":7, "pnml":"…", "counts":{"places":9,"transitions":6,"arcs":20},
     "places":["pl_start",…], "steps":{"tr_a":{"flow":…,"success":…,"failure":…,"reads":[…],
     "shell":null|[entry, success exit, failure exit]}},
     "walk":[{"enabled":["tr_a",…], "at":"pl_start", "met":["pl_b",…]},
             {"fired":["tr_a","tr_s·exit"], "enabled":…, "at":…, "met":…}, …]}

`enabled` names what the net would let the token do, in the names of the exported net; `fired` is
what one op of the agent did. Between firings conditions and gates change: `met` is told anew.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from net_build import (
    Op,
    applied,
    arc,
    evidence,
    gate,
    mark,
    new_net,
    on,
    place,
    refine,
    state,
    submit,
    wired,
)

from wayfinder.reducer.net.export.pnml import to_pnml, unfold
from wayfinder.reducer.net.rules import enabled, is_live, is_met
from wayfinder.reducer.net.state import Net, Transition

WALK_STEPS = 20


def build(random_: random.Random) -> Net:
    """Up to 9 places, 9 steps, some refined, some reading conditions and gates, loops welcome."""
    net = new_net()
    places = ["pl_start", *(f"pl_{n}" for n in range(random_.randint(1, 6)))]
    gates = [f"gate_{n}" for n in range(random_.randint(0, 2))]
    applied(net, *map(place, (*places[1:], "pl_seen")), evidence("pl_seen", "ev_seen"))
    for name in gates:
        applied(net, gate(name, random_.choice(["open", "closed"])))
    for number in range(random_.randint(2, 9)):
        name = f"tr_{number}"
        flow, success = random_.choice(places), random_.choice(places)
        failure = random_.choice(["", random_.choice(places)])
        reads = {at for at in (*places, *gates, "pl_seen") if random_.random() < 0.08}
        ops: list[Op] = wired(name, flow, success, failure)
        ops += [arc(at, name, "read") for at in sorted(reads)]
        applied(net, *ops)
        if random_.random() < 0.3:
            fails = random_.choice(["", failure or flow])
            applied(net, refine(name, flow, success, fails))
            if random_.random() < 0.5:
                applied(net, arc(random_.choice([*gates, "pl_seen"]), f"{name}_step", "read"))
    if random_.random() < 0.2:
        applied(net, on("retire", "tr_0", reason="not needed"))
    return net


def ways(net: Net) -> dict[str, list[Op]]:
    """What the token could do now: name in the exported net → the ops that do it."""
    found: dict[str, list[Op]] = {}
    for name, step in net.transitions.items():
        if not enabled(net, name):
            continue
        if step.refinement is not None:
            found[f"{name}·enter"] = [on("activate", name)]
            continue
        found[name] = [on("activate", name), on("complete", name)]
        if step.failure is not None:
            found[f"{name}·fail"] = [on("activate", name), on("fail", name)]
    return found


def exit_of(net: Net, before: str) -> list[str]:
    """The shell that ended because a step inside it reached an exit, in the exported net's name."""
    shell = net.transitions[before]
    if shell.state.value == "active":
        return []
    return [f"{before}·exit" if shell.state.value == "completed" else f"{before}·fail"]


def moment(net: Net) -> dict[str, Any]:
    return {
        "enabled": sorted(ways(net)),
        "at": net.tokens["tok_main"].place_id,
        "met": sorted(name for name, at in net.places.items() if is_met(at)),
    }


def shell_of(step: Transition) -> list[str | None] | None:
    inside = step.refinement
    return inside and [inside.entry, inside.success_exit, inside.failure_exit]


def change_conditions(net: Net, random_: random.Random) -> None:
    at = net.places[random_.choice(list(net.places))]
    if at.gate_state is not None:
        op = mark(at.place_id, random_.choice(["open", "closed", "blocked"]))
    else:
        op = state(at.place_id, random_.choice(["satisfied", "satisfied", "unknown"]), "ev_seen")
    submit(net, op)


def story(seed: int) -> dict[str, Any]:
    random_ = random.Random(seed)
    net = build(random_)
    flat, pnml = unfold(net), to_pnml(net)
    walk = [moment(net)]
    for _ in range(WALK_STEPS):
        open_ways = ways(net)
        if not open_ways or random_.random() < 0.25:
            change_conditions(net, random_)
            walk.append(moment(net))
            continue
        name = random_.choice(sorted(open_ways))
        inside = net.places[net.tokens["tok_main"].place_id].parent
        applied(net, *open_ways[name])
        walk.append({"fired": [name, *(exit_of(net, inside) if inside else [])], **moment(net)})
    steps = {
        name: {
            "flow": step.flow,
            "success": step.success,
            "failure": step.failure,
            "reads": step.reads,
            "shell": None
            if step.refinement is None
            else [
                step.refinement.entry,
                step.refinement.success_exit,
                step.refinement.failure_exit,
            ],
        }
        for name, step in net.transitions.items()
        if is_live(step)
    }
    counts = {"places": len(flat.places), "transitions": len(flat.transitions)}
    return {
        "seed": seed,
        "pnml": pnml,
        "counts": {**counts, "arcs": len(flat.arcs)},
        "places": list(net.places),
        "steps": steps,
        "walk": walk,
    }


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2])
    for seed in range(first, first + count):
        print(json.dumps(story(seed), ensure_ascii=False))
