"""How a child is born and goes, with a real process on the other end of the pipe."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from wayfinder.daemon.child import Order

# What a healthy process of ours may have loaded: structlog (13 MB) only once it has written a
# line, and nothing of a model ever.
HEAVY = ("structlog", "asyncio", "litellm", "openai", "pydantic", "rich", "psutil")


def test_a_child_answers_pings_and_stops_when_told(child: Callable[[str], Any]) -> None:
    """Ready, pong with its counts, and exit code 0 after a stop order."""
    started = child("wayfinder.daemon.reconciler").ready()
    started.tell(Order(ping=7))
    report = started.report()
    assert report.pong == 7 and report.stats["sessions"] == 0
    assert started.stop() == 0


def test_a_child_without_its_parent_ends_at_once(child: Callable[[str], Any]) -> None:
    """End of file on its standard input is the end of the process."""
    started = child("wayfinder.daemon.reconciler").ready()
    started.popen.stdin.close()
    assert started.popen.wait(20) == 0


def test_a_module_started_by_hand_explains_itself() -> None:
    """Without a first line from a supervisor it says who starts it, and does nothing."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "wayfinder.daemon.reconciler"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 64
    assert "started by `wayfinderd`" in done.stderr


def test_a_healthy_child_loads_nothing_heavy() -> None:
    """Importing a process's modules brings none of the big ones along."""
    code = "import sys, wayfinder.daemon.reconciler.process; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": ""},
    )  # fmt: skip
    assert not set(HEAVY) & set(done.stdout.split())
