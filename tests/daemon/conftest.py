"""Folders short enough for sockets, events to write, and daemons that never outlive their test."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from wayfinder.daemon.eventlog.writer import Writer
from wayfinder.daemon.paths import Paths, prepare


@pytest.fixture
def short() -> Iterator[Path]:
    """pytest's own tmp_path may be longer than a socket's path can be."""
    folder = Path(tempfile.mkdtemp(prefix="wf-"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def paths(short: Path) -> Paths:
    made = Paths(short / "run", short / "state", short / "config")
    prepare(made)
    return made


@pytest.fixture
def writer(paths: Paths) -> Iterator[Writer]:
    opened = Writer(paths.database)
    yield opened
    opened.close()
