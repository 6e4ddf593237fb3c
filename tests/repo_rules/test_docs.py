"""The manual says what the code does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_protocol_page_is_the_structs() -> None:
    """docs/protocol.md is exactly what docs/generate.py writes from the structs."""
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_links_between_pages_hold() -> None:
    """Every relative link and picture in the manual points at a file that is there."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} points at {target}"
