"""`python -P -m wayfinder.daemon.viewer`, by the supervisor."""

from __future__ import annotations

from ..child import run_child
from .process import main

if __name__ == "__main__":
    run_child(main)
