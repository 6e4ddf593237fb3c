"""The one decoder, fuzzed: a million inputs near good ones; only Malformed ever comes out.

Two processes, half a million inputs each: about 20 s on two free cores, a minute on busy ones. A
failure prints the input. `WAYFINDER_FUZZ` changes the number of inputs.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))  # for the spawned processes

from golden_stories import told
from mutations import mutations
from net_build import arc, evidence, gate, on, place, refine, state, step, supersede

from wayfinder.reducer.net.entrance import fault_of
from wayfinder.reducer.vocabulary.answer import CODES
from wayfinder.reducer.vocabulary.codec import (
    Malformed,
    decode_untrusted,
    encode,
)
from wayfinder.reducer.vocabulary.event import Envelope
from wayfinder.reducer.vocabulary.patch import GraphPatch
from wayfinder.reducer.vocabulary.people import HumanIntentPatch

INPUTS = int(os.environ.get("WAYFINDER_FUZZ", "1000000"))
PROCESSES = 2


def seeds() -> list[tuple[bytes, Any]]:
    """Good inputs of each kind that strangers send, and the type they decode to."""
    ops = [
        [place("pl_a"), gate("gate_a"), step("tr_a", whyNow="登录"), arc("pl_a", "tr_a", "flow")],
        [evidence("tr_a", "ev_a", "ee1", confidence=0.5), state("pl_a", "satisfied", "ev_a")],
        [refine("tr_s", "pl_start", "pl_a"), on("activate", "tr_a"), supersede("tr_a", "tr_b")],
    ]
    patches = [
        {"schemaVersion": 1, "patchId": "p", "baseRevision": 7, "idempotencyKey": "k", "ops": each}
        for each in ops
    ]
    correction = {
        "correctionId": "c", "sessionId": "pi-1", "type": "only", "targetId": "tr_a", "text": "x",
    }  # fmt: skip
    dumped = [(json.dumps(patch).encode(), GraphPatch) for patch in patches]
    dumped.append((json.dumps(correction).encode(), HumanIntentPatch))
    log = told("evidence_keys_keep_their_meaning").log
    return dumped + [(encode(envelope), Envelope) for envelope in log[:6]]


def fuzz(seed: int, count: int) -> tuple[int, int]:
    """(accepted, refused). Raises AssertionError with the input that shows a fault."""
    random_ = random.Random(seed)
    good = seeds()
    kinds = sorted({kind for _, kind in good}, key=lambda kind: kind.__name__)
    streams = {
        kind: mutations([data for data, of in good if of is kind], random_) for kind in kinds
    }
    accepted = 0
    for number in range(count):
        kind = kinds[number % len(kinds)]
        data = next(streams[kind])
        try:
            value = decode_untrusted(data, kind)
        except Malformed as wrong:
            fault = fault_of(data, wrong) if number % 50 == 0 else None
            assert fault is None or (fault.code in CODES and fault.path.startswith("$")), data
            continue
        except Exception as fault:
            raise AssertionError(f"{type(fault).__name__} from {data!r}") from fault
        accepted += 1
        assert decode_untrusted(encode(value), kind) == value, data
    return accepted, count - accepted


@pytest.mark.parametrize("seed", [random.randrange(2**32)])
def test_only_the_documented_error_comes_out(seed: int) -> None:
    """Whatever bytes arrive: a value that re-encodes to itself, or Malformed; nothing else."""
    each = INPUTS // PROCESSES
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        results = pool.starmap(fuzz, [(seed + offset, each) for offset in range(PROCESSES)])
    accepted = sum(result[0] for result in results)
    refused = sum(result[1] for result in results)
    print(f"seed {seed}: {accepted} accepted, {refused} refused")
    assert accepted + refused == each * PROCESSES
    assert accepted > INPUTS // 100, "the mutations have lost touch with good inputs"
