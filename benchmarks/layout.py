"""How still the map stands: the share of existing nodes that a patch moves, beside elkjs and dagre.

A corridor grows by 24 patches to 77 nodes: a path, failure branches that lead back, alternatives.
Ours places a node once, when it is born; a layered layout places everything anew.
"""

from __future__ import annotations

import itertools
import json
import shutil
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

from wayfinder.reducer.net.decide import Committed, apply
from wayfinder.reducer.net.fold import fold
from wayfinder.reducer.net.state import Net
from wayfinder.reducer.session.corridor import Corridor
from wayfinder.reducer.vocabulary.codec import decode_untrusted, encode
from wayfinder.reducer.vocabulary.observation import SessionInfo
from wayfinder.reducer.vocabulary.patch import GraphPatch
from wayfinder.reducer.vocabulary.payload import PlaceConfirmed, SessionStarted, TransitionProposed

from .result import Result, beside

PATCHES = 24
PEERS = Path(__file__).with_name("layout_peers.mjs")
Op = dict[str, Any]
Spots = dict[str, tuple[float, float]]


def growth() -> list[list[Op]]:
    """The ops of each patch: a step with its condition; every third with a failure branch that
    leads back; every sixth with an alternative from an earlier place."""
    patches: list[list[Op]] = []
    for n in range(PATCHES):
        ops = _step(f"s{n}", "pl_start" if n == 0 else f"p{n - 1}", f"p{n}")
        if n % 3 == 2:
            ops += [_place(f"f{n}"), _arc(f"s{n}", f"f{n}", "failure")]
            ops += [*_step(f"r{n}", f"f{n}", None), _arc(f"r{n}", f"p{n - 1}", "success")]
        if n % 6 == 5:
            ops += _step(f"a{n}", f"p{n - 3}", f"q{n}")
        patches.append(ops)
    return patches


def _place(name: str) -> Op:
    return {"op": "create_place", "placeId": name, "type": "Condition", "label": name}


def _arc(source: str, target: str, kind: str) -> Op:
    return {"op": "connect", "fromId": source, "toId": target, "arc": kind}


def _step(name: str, start: str, end: str | None) -> list[Op]:
    step = {"op": "create_transition", "transitionId": name, "type": "Verify", "intent": name}
    ops = [step, _arc(start, name, "flow")]
    return ops if end is None else [_place(end), *ops, _arc(name, end, "success")]


def ours(patches: list[list[Op]]) -> list[tuple[float, Spots]]:
    """(milliseconds, where every node stands) after each patch."""
    net, corridor = Net(), Corridor()
    fold(net, SessionStarted(SessionInfo("pi-1", "pi"), 1, "pl_start", "tok_main"))
    corridor.begin("pl_start")
    found: list[tuple[float, Spots]] = []
    for number, ops in enumerate(patches):
        body = {"patchId": f"p{number}", "baseRevision": net.revision,
                "idempotencyKey": f"k{number}", "ops": ops}  # fmt: skip
        done = apply(net, decode_untrusted(encode(body), GraphPatch))
        assert isinstance(done, Committed), done
        born = [
            payload.place.place_id if isinstance(payload, PlaceConfirmed)
            else payload.transition.transition_id
            for payload in done.payloads
            if isinstance(payload, PlaceConfirmed | TransitionProposed)
        ]  # fmt: skip
        begun = time.perf_counter()
        corridor.settle(net, born)
        ms = (time.perf_counter() - begun) * 1_000
        found.append((ms, {key: (at.column, at.lane) for key, at in corridor.spots.items()}))
    return found


def peers(patches: list[list[Op]]) -> dict[str, list[tuple[float, Spots]]]:
    nodes, edges = ["pl_start"], []
    stages: list[dict[str, Any]] = []
    for ops in patches:
        nodes += [op.get("placeId") or op["transitionId"] for op in ops if op["op"] != "connect"]
        edges += [[op["fromId"], op["toId"]] for op in ops if op["op"] == "connect"]
        stages.append({"nodes": list(nodes), "edges": list(edges)})
    done = subprocess.run(
        ["node", str(PEERS)], input=json.dumps(stages).encode(), capture_output=True, check=True
    )
    return {
        name: [(one["ms"], {key: tuple(at) for key, at in one["at"].items()}) for one in found]
        for name, found in json.loads(done.stdout).items()
    }


def moved_percent(stages: list[tuple[float, Spots]]) -> float:
    """Of the nodes that stood before a patch, how many stand elsewhere after it; the mean."""
    shares: list[float] = []
    for (_, before), (_, after) in itertools.pairwise(stages):
        far = [
            k
            for k in before
            if max(abs(a - b) for a, b in zip(before[k], after[k], strict=True)) > 1
        ]
        shares.append(100 * len(far) / len(before))
    return statistics.mean(shares)


def run() -> list[Result]:
    patches = growth()
    mine = ours(patches)
    moved, ms = moved_percent(mine), statistics.median(t for t, _ in mine)
    if shutil.which("node") is None:
        return [Result("existing nodes moved per patch", "%", moved)]
    results: list[Result] = []
    for name, stages in peers(patches).items():
        results.append(
            beside("existing nodes moved per patch", "%", moved, name, moved_percent(stages))
        )
        peer_ms = statistics.median(t for t, _ in stages)
        results.append(beside("placing what a patch brings", "ms", ms, name, peer_ms))
    return results
