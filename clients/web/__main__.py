"""`python -P -m wayfinder.clients.web`, by the supervisor."""

from __future__ import annotations

from ...daemon.child import run_child
from .serve import main

if __name__ == "__main__":
    run_child(main)
