"""What each process carries: heavy libraries stay where they are needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

MODEL = {"litellm", "openai", "pydantic", "httpx"}
PAGE = {"starlette", "uvicorn", "anyio"}
DRAWING = {"rich"}
ENTRIES = {
    "wayfinder.daemon.__main__": MODEL | PAGE | DRAWING,
    "wayfinder.daemon.reconciler.__main__": MODEL | PAGE | DRAWING | {"psutil"},
    "wayfinder.daemon.viewer.__main__": MODEL | PAGE | DRAWING | {"psutil"},
    "wayfinder.adapters.__main__": MODEL | PAGE | DRAWING | {"kingfisher_sdk"},
    "wayfinder.adapters.segmenter.__main__": MODEL | PAGE | DRAWING | {"kingfisher_sdk"},
    "wayfinder.observer.__main__": MODEL | PAGE | DRAWING | {"kingfisher_sdk"},
    "wayfinder.clients.web.__main__": MODEL | DRAWING | {"kingfisher_sdk"},
    "wayfinder.clients.cli.brief": MODEL | PAGE | DRAWING | {"zmq", "psutil", "structlog"},
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_process_loads_only_what_it_needs(entry: str) -> None:
    """Importing a process's entry brings in none of the libraries that belong elsewhere."""
    code = f"import sys, {entry}; print(*{{name.split('.')[0] for name in sys.modules}})"
    run = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    assert set(run.stdout.split()) & ENTRIES[entry] == set()
