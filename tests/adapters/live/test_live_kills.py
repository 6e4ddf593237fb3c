"""kill -9 of adapter and segmenter in the middle of a live session changes no byte of it."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

S = "pi-s1"
STEPS = 60
PATCH = {"schemaVersion": 1, "patchId": "p", "baseRevision": 0, "ops": [],
         "actor": {"type": "agent", "agentId": "main"}}  # fmt: skip


def session(seed: int) -> list[dict[str, Any]]:
    """The frames of one session, numbered, with failures, patches and prompts in it."""
    dice, frames, at = random.Random(seed), [], 1_700_000_000_000
    for seq in range(1, STEPS + 1):
        at += dice.randrange(1_000, 60_000)
        head: dict[str, Any] = {"seq": seq, "t": "obs", "at": at}
        what = dice.choice(["call"] * 6 + ["fail"] * 2 + ["edit", "reply", "patch", "prompt"])
        if what == "prompt":
            frames.append({**head, "ev": "prompt", "text": f"go on {seq}"})
        elif what == "reply":
            frames.append({**head, "ev": "reply", "stopReason": "stop"})
        elif what == "patch":
            patch = {**PATCH, "idempotencyKey": f"k{seq}"}
            frames.append({**head, "t": "patch", "callId": f"p{seq}", "patch": patch})
        else:
            frames.append(call(head, what, seq))
    return [*frames, {"seq": STEPS + 1, "t": "obs", "at": at + 1, "ev": "shutdown"}]


def call(head: dict[str, Any], what: str, seq: int) -> dict[str, Any]:
    edit = what == "edit"
    return {
        **head, "ev": "call_end", "callId": f"c{seq}", "tool": "edit" if edit else "bash",
        "isError": what == "fail", "leaf": f"leaf{seq}", "durationMs": 12,
        "args": {"path": "src/auth.py"} if edit else {"command": "pytest tests/auth.py"},
        "text": "E   assert 1 == 2\n\nCommand exited with code 1" if what == "fail" else "1 passed",
    }  # fmt: skip


@pytest.fixture
def worlds(rules: Path, make_world: Any) -> Iterator[Any]:
    """Several worlds with one key, so that references agree."""
    made: list[tuple[Any, Path]] = []

    def one() -> Any:
        folder = Path(tempfile.mkdtemp(prefix="wf-"))
        world = make_world(folder, rules, key=b"r" * 32)
        made.append((world, folder))
        return world

    yield one
    for world, folder in made:
        world.close()
        shutil.rmtree(folder)


def play(world: Any, frames: list[dict[str, Any]], kills: dict[int, str]) -> list[bytes]:
    """An extension that keeps what is unacknowledged, and processes that die as `kills` says."""
    kept, sent, acked = list(frames), 0, 0
    agent = world.agent()
    agent.hello()
    while kept:
        for frame in kept:
            if frame["seq"] <= sent:
                continue
            sent = frame["seq"]
            agent.say(frame)
            victim = kills.pop(sent, None)
            if victim is not None:
                getattr(world, victim).kill()
                getattr(world, victim).start()
            if victim == "adapter":
                agent.socket.close()
                agent = world.agent()
                acked = agent.hello()["ack"]
                sent = acked
                break
        else:
            agent.acked(frames[-1]["seq"])
            acked = frames[-1]["seq"]
        kept = [frame for frame in kept if frame["seq"] > acked]
    agent.socket.close()
    last = 1 + sum(1 for frame in frames if frame.get("ev") != "shutdown")
    world.reconciler.until(lambda: world.reconciler.to_position.get(S, 0) >= last)
    return world.reconciler.episodes(S)


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 12))]
)
def test_kill_9_changes_no_byte(worlds: Any, seed: int) -> None:
    """Adapter and segmenter killed six times in mid-stream: the same facts, episodes, patches."""
    frames = session(seed)
    calm = worlds()
    undisturbed = play(calm, frames, {})
    dice = random.Random(seed)
    moments = dice.sample(range(2, STEPS), 6)
    kills = {at: dice.choice(["adapter", "segmenter"]) for at in moments}
    shaken = worlds()
    assert play(shaken, frames, kills) == undisturbed
    assert any("calls" in json.loads(core) for core in undisturbed)
    patched = [(p.position, bytes(p.patch)) for p in calm.reconciler.patches]
    again = dict.fromkeys((p.position, bytes(p.patch)) for p in shaken.reconciler.patches)
    assert list(again) == patched
