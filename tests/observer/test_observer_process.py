"""The observer in a real daemon: remarks arrive by their bands, and nothing else changes."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
from live_world import RULES_CACHE
from stub_model import GOOD, Stub

from wayfinder.clients.demo.feed import Feed
from wayfinder.clients.demo.own_daemon import OwnDaemon
from wayfinder.clients.demo.recording import load
from wayfinder.daemon.control import ask_status
from wayfinder.daemon.eventlog.reader import Reader
from wayfinder.daemon.paths import Paths
from wayfinder.reducer.net.digest import net_digest
from wayfinder.reducer.session.fold import replay
from wayfinder.reducer.session.state import Session, episodes_digest

PATIENCE_S = 90
RECORDING = load()


@contextmanager
def watched(rules: Path, url: str | None) -> Iterator[OwnDaemon]:
    """A daemon of its own, with a model at `url` or none, after the recorded session."""
    # Socket paths are short; the folders pytest makes are not.
    folder = Path(tempfile.mkdtemp(prefix="wf-"))
    config = folder / "config"
    config.mkdir()
    (folder / "state").mkdir(mode=0o700)
    shutil.copytree(rules, folder / "state" / RULES_CACHE)
    # Equal keys and times make equal bytes: only what a model said may differ between runs.
    key = folder / "state" / "reference.key"
    key.write_bytes(b"k" * 32)
    key.chmod(0o600)
    if url is not None:
        lines = ["[observer]", 'model = "openai/stub"', f"api_base = {json.dumps(url)}"]
        (config / "wayfinder.toml").write_text("\n".join(lines))
    with OwnDaemon(folder) as daemon:
        Feed(daemon.sock, RECORDING, base_ms=1_780_000_000_000, speed=200.0, patience_s=90).play()
        until(lambda: settled(daemon.paths))
        yield daemon


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it did not come to pass in time"
        time.sleep(0.1)


def session_of(paths: Paths) -> Session:
    reader = Reader.open(paths.database)
    try:
        events = reader.events(RECORDING.session_id)
        return replay(events, RECORDING.session_id, verify=True)
    finally:
        reader.close()


def waiting_proposals(paths: Paths) -> list[str]:
    reader = Reader.open(paths.database)
    try:
        found = reader.proposals(RECORDING.session_id)
        return [p.proposal_id for p in found if p.decision is None]
    finally:
        reader.close()


def settled(paths: Paths) -> bool:
    return session_of(paths).settled is not None if paths.database.exists() else False


def counts(paths: Paths) -> dict[str, int]:
    return next(p.stats for p in ask_status(paths).processes if p.name == "observer")


def asked_all(paths: Paths) -> bool:
    said = counts(paths)
    return said.get("asked", 0) > 0 and said["asked"] == said["done"]


def reduced(session: Session) -> dict[str, Any]:
    """All that a verdict or a view of the net rests on, without what an observer said."""
    return {
        "net": net_digest(session.net),
        "episodes": episodes_digest(session),
        "stamps": {k: r.transition_id for k, r in session.episodes.items()},
        "evidence": sorted(
            e for e, v in session.net.evidence.items() if v.type.value != "observer_inference"
        ),
    }


@pytest.fixture(scope="module")
def model_off(rules: Path) -> dict[str, Any]:
    with watched(rules, None) as daemon:
        names = [p.name for p in ask_status(daemon.paths).processes if p.pid]
        assert "observer" not in names, "off by default: not even started"
        return reduced(session_of(daemon.paths))


@pytest.mark.parametrize(
    ("confidence", "annotations", "proposals"), [(0.9, True, 0), (0.7, False, 1), (0.3, False, 0)]
)
def test_remarks_arrive_by_their_bands(
    rules: Path,
    model_off: dict[str, Any],
    confidence: float,
    annotations: bool,
    proposals: int,
) -> None:
    """High confidence annotates, middling waits for a person, low changes nothing at all."""
    with (
        Stub("valid", {**GOOD, "confidence": confidence}) as stub,
        watched(rules, stub.url) as daemon,
    ):
        until(lambda: asked_all(daemon.paths))
        if annotations:
            until(lambda: bool(session_of(daemon.paths).annotations))
        session = session_of(daemon.paths)
        assert bool(session.annotations) == annotations
        assert bool(waiting_proposals(daemon.paths)) == bool(proposals)
        assert reduced(session) == model_off
        for body in stub.bodies:
            assert "tools" not in body


@pytest.mark.parametrize("behaviour", ["wrong_enum", "401"])
def test_a_bad_model_changes_nothing(
    rules: Path, model_off: dict[str, Any], behaviour: str
) -> None:
    """Whatever a model answers, the reduced state is that of a day without a model."""
    with Stub(behaviour) as stub, watched(rules, stub.url) as daemon:
        until(lambda: asked_all(daemon.paths))
        session = session_of(daemon.paths)
        assert session.annotations == {}
        assert reduced(session) == model_off


def test_only_the_child_carries_the_library(rules: Path) -> None:
    """litellm is loaded in the model child alone; the observer itself stays small."""
    with Stub("valid") as stub, watched(rules, stub.url) as daemon:
        until(lambda: asked_all(daemon.paths))
        status = ask_status(daemon.paths)
        (observer,) = [p for p in status.processes if p.name == "observer"]
        assert observer.rss_bytes is not None
        assert observer.rss_bytes < 60 << 20, "a gross limit; the figure is in benchmarks/"
        workers = [
            child
            for child in psutil.Process(observer.pid).children()
            if "wayfinder.observer.worker" in child.cmdline()
        ]
        assert len(workers) == 1
        maps = Path(f"/proc/{observer.pid}/maps")
        if maps.exists():
            assert "pydantic_core" not in maps.read_text()
            assert "pydantic_core" in Path(f"/proc/{workers[0].pid}/maps").read_text()


def test_no_secret_and_no_path_reaches_the_model(rules: Path) -> None:
    """No file name, no command line and no home folder stands in any request body."""
    with Stub("valid") as stub, watched(rules, stub.url) as daemon:
        until(lambda: asked_all(daemon.paths))
        bodies = msgspec.json.encode(stub.bodies).decode()
    assert stub.bodies
    for word in ("client.py", "session.py", "/home/", "unittest -v"):
        assert word not in bodies
