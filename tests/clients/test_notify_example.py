"""The example in docs/examples as a person runs it, with a stand-in for `notify-send`."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_world import WAIT_S, PageWorld

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "notify.py"
LIGHT = ("wayfinder.daemon.reconciler", "wayfinder.daemon.viewer")
STAND_IN = """#!/usr/bin/env python3
import json, sys
with open(sys.argv[0] + ".pipe", "w") as out:
    out.write(json.dumps(sys.argv[1:]) + "\\n")
"""


@pytest.fixture
def world() -> Iterator[PageWorld]:
    made = PageWorld(LIGHT)
    yield made
    made.close()


def asking(number: int, label: str) -> list[dict[str, str]]:
    place, step = f"pl_{number}", f"tr_{number}"
    return [
        {"op": "create_place", "placeId": place, "type": "DecisionOutcome", "label": "decided"},
        {"op": "create_transition", "transitionId": step, "type": "AskHuman", "intent": label},
        {"op": "connect", "fromId": "pl_start", "toId": step, "arc": "flow"},
        {"op": "connect", "fromId": step, "toId": place, "arc": "success"},
    ]


def test_a_need_is_told_once(world: PageWorld, tmp_path: Path) -> None:
    """Each new need of a person is one notification with the goal as its title; texts stay text."""
    assert len(EXAMPLE.read_text("utf-8").splitlines()) <= 40
    tool = tmp_path / "notify-send"
    tool.write_text(STAND_IN)
    tool.chmod(0o755)
    os.mkfifo(tmp_path / "notify-send.pipe")
    pipe = os.open(tmp_path / "notify-send.pipe", os.O_RDWR)
    world.open("ship it --help $(touch x)")
    world.patch(*asking(1, "Choose the cache"))
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        **{
            f"WAYFINDER_{kind.upper()}_DIR": str(world.folder / kind)
            for kind in ("run", "state", "config")
        },
    }
    with subprocess.Popen([sys.executable, "-P", str(EXAMPLE)], env=environment) as example:
        try:
            assert told(pipe) == ["ship it --help $(touch x)", "needs you: Choose the cache"]
            world.prompt("go on")  # another frame, the same need
            world.patch(*asking(2, "`rm` the old one?"))
            assert told(pipe) == ["ship it --help $(touch x)", "needs you: `rm` the old one?"]
        finally:
            example.terminate()
            os.close(pipe)
    assert not (tmp_path / "x").exists()


def told(pipe: int) -> list[str]:
    """Title and text of the next notification."""
    readable, _, _ = select.select([pipe], [], [], WAIT_S)
    assert readable, "nothing was told"
    return json.loads(os.read(pipe, 4096))[-2:]
