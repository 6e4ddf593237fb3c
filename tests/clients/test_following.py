"""The public ways to follow a session: the library, `wayfinder watch --json`, and a cold brief."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_world import PageWorld

from wayfinder.clients.follow import NoView, follow

CLI = [sys.executable, "-P", "-c", "from wayfinder.clients.cli import main; main()"]
VIEWING = ("wayfinder.daemon.reconciler", "wayfinder.daemon.viewer")
# What a cold brief must never load: each costs more than the whole brief may.
HEAVY = {"rich", "starlette", "uvicorn", "litellm", "zmq", "psutil", "asyncio", "structlog"}


@pytest.fixture(scope="module")
def world() -> Iterator[PageWorld]:
    made = PageWorld(VIEWING)
    made.open("restore the login")
    yield made
    made.close()


def environ(world: PageWorld) -> dict[str, str]:
    folders = {kind: str(getattr(world.paths, kind)) for kind in ("run", "state", "config")}
    return {**os.environ, **{f"WAYFINDER_{k.upper()}_DIR": v for k, v in folders.items()}}


def cli(world: PageWorld, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CLI, *arguments], env=environ(world), capture_output=True, text=True, timeout=60
    )


def until(frames: Iterator[dict[str, Any]], seq: int) -> dict[str, Any]:
    return next(frame for frame in frames if frame["seq"] >= seq)


def test_the_library_follows_every_change(world: PageWorld) -> None:
    """`follow` yields whole frames, the newest always, across a viewer that is killed."""
    frames = follow(world.session_id, paths=world.paths, timeout_s=20)
    first = next(frames)
    assert first["view"]["northStar"]["text"] == "restore the login"
    for n in range(5):
        world.prompt(f"line {n}")
    frame = until(frames, first["seq"] + 10)
    world.processes["wayfinder.daemon.viewer"].kill()
    world.start("wayfinder.daemon.viewer")
    world.prompt("after the fall")
    assert until(frames, frame["seq"] + 2)["view"]["latestAsk"]["text"] == "after the fall"
    frames.close()


def test_the_list_of_sessions_is_followed(world: PageWorld) -> None:
    """Without a session the frame is the list: a new session appears in it."""
    frames = follow(paths=world.paths, timeout_s=20)
    assert set(next(frames)) == {"pi-1"}
    world.open("another one", session="2")
    assert "pi-2" in next(frame for frame in frames if "pi-2" in frame)
    frames.close()


def test_nobody_and_nothing_are_told_apart(world: PageWorld, tmp_path: Path) -> None:
    """An unknown session and an absent daemon each end with a sentence that says so."""
    with pytest.raises(NoView, match="no session pi-9"):
        next(follow("pi-9", paths=world.paths, timeout_s=20))
    from wayfinder.daemon.paths import Paths

    away = Paths(tmp_path / "r", tmp_path / "s", tmp_path / "c")
    with pytest.raises(NoView, match="is wayfinderd running"):
        next(follow("pi-1", paths=away, timeout_s=0.2))


def test_watch_prints_one_frame_a_line(world: PageWorld) -> None:
    """`wayfinder watch --json` writes a whole frame per line, as things change."""
    command = [*CLI, "watch", "pi-1", "--json", "--no-start"]
    with subprocess.Popen(
        command, env=environ(world), stdout=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        first = json.loads(watching.stdout.readline())
        assert first["session"]["sessionId"] == "pi-1"
        assert first["view"]["now"]["source"] in ("observed", "unknown")
        watching.terminate()


def test_the_brief_answers_offline_with_the_eight_answers(world: PageWorld) -> None:
    """`brief --json` reads the log itself: eight answers, each with source and evidence ids."""
    done = cli(world, "brief", "pi-1", "--json")
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)["answers"]
    assert [one["number"] for one in answers] == list(range(1, 9))
    assert all({"text", "source", "evidenceIds"} <= set(one["line"]) for one in answers)
    assert answers[2]["line"]["source"] == "unknown"


def test_a_cold_brief_loads_little(world: PageWorld) -> None:
    """No web, no terminal library, no bus, no model on the way to the first line."""
    script = (
        "import sys; from wayfinder.clients.cli import main\n"
        "try: main(['brief', 'pi-1'])\n"
        "except SystemExit: pass\n"
        "print('LOADED', *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        env=environ(world), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert "LOADED" in loaded
    assert not loaded & HEAVY
    lines = done.stdout.splitlines()
    assert 8 <= len(lines) <= 24
    assert all(len(line) <= 80 for line in lines)


def test_sessions_and_search_read_the_log(world: PageWorld) -> None:
    """The list names goal and source; a text is found in the session that holds it."""
    listed = cli(world, "sessions")
    assert "restore the login (inferred)" in listed.stdout
    assert "pi-1" in cli(world, "search", "RESTORE").stdout
    assert "No session mentions" in cli(world, "search", "unheard of").stdout


def test_a_page_cannot_be_opened_without_the_daemon(tmp_path: Path) -> None:
    """`wayfinder open --no-start` with nobody there says what to type."""
    folders = {f"WAYFINDER_{k}_DIR": str(tmp_path / k) for k in ("RUN", "STATE", "CONFIG")}
    done = subprocess.run(
        [*CLI, "open", "--no-start", "--print"],
        env={**os.environ, **folders}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "wayfinderd" in done.stderr
