"""Start a module of a neighbouring leaf as a child process: leaves never import one another."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence


def run_module(module: str, arguments: Sequence[str]) -> int:
    """Runs `python -m wayfinder.<module>` on this terminal; returns its exit code.

    `-P` keeps the current folder off the import path, so that nothing lying there can shadow us.
    """
    command = [sys.executable, "-P", "-m", f"wayfinder.{module}", *arguments]
    try:
        return subprocess.run(command, check=False).returncode
    except KeyboardInterrupt:
        return 130
