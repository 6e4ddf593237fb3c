"""An import: the command, the adapter's host and its worker, into the spool."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wayfinder.adapters.codex.file import open_session
from wayfinder.adapters.importer.frames import (
    AnyFromWorker,
    Closed,
    End,
    Import,
    Progress,
    Told,
    from_worker,
    line,
)
from wayfinder.adapters.importer.host import ImportHost, Refused
from wayfinder.adapters.importer.result import Result
from wayfinder.adapters.importer.say import line as said
from wayfinder.adapters.importer.say import report
from wayfinder.adapters.normalise.clean import Cleaner
from wayfinder.adapters.privacy import KEY_FILE, RULES_CACHE
from wayfinder.adapters.reader import Source, Stream
from wayfinder.adapters.spool import Spool
from wayfinder.daemon.logs import Log
from wayfinder.daemon.loop import Loop
from wayfinder.daemon.paths import Paths, make_private
from wayfinder.daemon.redact.client import RedactorClient, TextOnly
from wayfinder.daemon.redact.hmacs import References, load_key
from wayfinder.reducer.vocabulary.observation import AnyObservation

WAIT_S = 120


def write_session(path: Path, turns: int) -> Path:
    """A Codex rollout: `turns` prompts, each with one failing and one passing command."""
    lines: list[dict[str, Any]] = [
        {"timestamp": "2026-01-01T00:00:00.000Z", "type": "session_meta",
         "payload": {"id": f"session-{path.stem}", "cwd": "/home/dev/shop"}}
    ]  # fmt: skip

    def event(**payload: Any) -> None:
        stamp = f"2026-01-01T{len(lines) // 3600 % 24:02d}:{len(lines) // 60 % 60:02d}:00.000Z"
        lines.append({"timestamp": stamp, "type": "event_msg", "payload": payload})

    for turn in range(turns):
        event(type="user_message", message=f"step {turn} of the work")
        for code in (1, 0):
            event(type="exec_command_end", call_id=f"c{turn}-{code}", exit_code=code,
                  command=["bash", "-lc", "make"], status="failed" if code else "completed",
                  aggregated_output="make: *** [all] Error 1" if code else "done")  # fmt: skip
        event(type="task_complete", last_agent_message="ok")
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return path


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    """One state folder for all, so that the redactor's rules are compiled once."""
    base = tmp_path_factory.mktemp("wf")
    for name in ("run", "state", "config"):
        make_private(base / name)
    return Paths(base / "run", base / "state", base / "config")


class Desk:
    """The adapter's part of an import: a loop, a spool, and who is live."""

    def __init__(self, paths: Paths, spool: Path) -> None:
        self.loop = Loop()
        self.spool = Spool(spool)
        self.live: set[str] = set()
        self.pushed: list[str] = []
        self.heard: list[AnyFromWorker] = []
        log = Log(paths.logs, "test", level="info", days=1)
        self.host = ImportHost(
            self.loop, self.spool, paths, log,
            live=lambda session_id: session_id in self.live, push=self.pushed.append,
        )  # fmt: skip

    def ask(self, request: Import) -> None:
        self.heard.clear()
        self.host.ask(line(request)[:-1], self._say)

    def _say(self, data: bytes) -> bool:
        self.heard.append(from_worker.decode(data))
        return True

    def run(self, until: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WAIT_S
        while not until():
            assert time.monotonic() < deadline, self.heard
            self.loop.turn(wait_ms_max=200)

    def ended(self) -> bool:
        return any(isinstance(frame, End) for frame in self.heard) and not self.host.busy

    def results(self) -> list[Result]:
        return [frame.result for frame in self.heard if isinstance(frame, Told)]

    def stored(self, session_id: str) -> list[AnyObservation]:
        found: list[AnyObservation] = []
        while pulled := self.spool.pull(session_id, len(found) + 1):
            if not pulled.observations:
                break
            found += pulled.observations
        return found


@pytest.fixture
def desk(paths: Paths, tmp_path: Path) -> Iterator[Desk]:
    made = Desk(paths, tmp_path / "spool.db")
    yield made
    made.host.close()
    made.spool.close()


@pytest.fixture(scope="module")
def undisturbed(paths: Paths) -> Iterator[Callable[[Path], list[AnyObservation]]]:
    """The same file read here, through the same key and the same rules."""
    key = load_key(paths.state / KEY_FILE)
    with RedactorClient(cache_dir=paths.state / RULES_CACHE, key=key) as client:
        cleaner = Cleaner(TextOnly(client))

        def read(path: Path) -> list[AnyObservation]:
            stream = Stream(open_session(Source("codex", path), References(key)), cleaner)
            return [each for batch in stream.read() for each in batch]

        yield read


def test_an_import_ends_in_the_spool_and_a_second_one_adds_nothing(
    desk: Desk, undisturbed: Any, tmp_path: Path
) -> None:
    """Same observations, same positions as a plain reading; the session is not live and closed."""
    path = write_session(tmp_path / "one.jsonl", turns=5)
    desk.ask(Import(files=(str(path),)))
    desk.run(desk.ended)
    (result,) = desk.results()
    assert result.totals is not None
    assert (result.totals.turns, result.totals.calls, result.totals.outcomes["failed"]) == (
        5,
        10,
        5,
    )
    assert desk.stored("codex-session-one") == undisturbed(path)
    known = desk.spool.known("codex-session-one")
    assert known is not None and not known.live and not known.open
    assert set(desk.pushed) == {"codex-session-one"}
    assert any(isinstance(frame, Progress) for frame in desk.heard)
    desk.ask(Import(files=(str(path),)))
    desk.run(desk.ended)
    assert (desk.results()[0].fresh, desk.results()[0].totals) == (0, None)
    assert desk.spool.last_position("codex-session-one") == known.last_position


def test_a_worker_killed_in_the_middle_loses_nothing(
    desk: Desk, undisturbed: Any, tmp_path: Path
) -> None:
    """The same import again goes on where the spool stands, byte for byte."""
    path = write_session(tmp_path / "long.jsonl", turns=480)
    desk.ask(Import(files=(str(path),)))
    desk.run(lambda: desk.spool.last_position("codex-session-long") > 200)
    os.kill(_worker_pid(), signal.SIGKILL)
    desk.run(desk.ended)
    assert "run the same import again" in desk.heard[-1].why  # type: ignore[union-attr]
    half = desk.spool.last_position("codex-session-long")
    assert 200 < half < 1921
    desk.ask(Import(files=(str(path),)))
    desk.run(desk.ended)
    assert desk.stored("codex-session-long") == undisturbed(path)


def _worker_pid() -> int:
    """Our own child; the redactor's worker below it is not ours to kill."""
    import psutil

    (child,) = [
        each for each in psutil.Process().children()
        if "wayfinder.adapters.importer.worker" in each.cmdline()
    ]  # fmt: skip
    return child.pid


def test_a_file_that_grows_is_followed(desk: Desk, tmp_path: Path) -> None:
    """What is appended arrives, until nobody listens any more."""
    path = write_session(tmp_path / "grow.jsonl", turns=2)
    whole = path.read_bytes()
    half = whole[: len(whole) // 2]
    path.write_bytes(half)
    desk.ask(Import(files=(str(path),), follow=True))
    desk.run(lambda: any(isinstance(frame, Told) for frame in desk.heard))
    early = desk.spool.last_position("codex-session-grow")
    with path.open("ab") as file:
        file.write(whole[len(half) :])
    desk.run(lambda: desk.spool.last_position("codex-session-grow") == 9)
    assert early < 9
    assert not any(isinstance(frame, Closed | End) for frame in desk.heard)
    known = desk.spool.known("codex-session-grow")
    assert known is not None and known.live and known.open


def test_a_session_that_is_live_is_not_imported(desk: Desk, tmp_path: Path) -> None:
    """Two sources must not write one stream."""
    path = write_session(tmp_path / "busy.jsonl", turns=1)
    desk.live.add("codex-session-busy")
    desk.ask(Import(files=(str(path),)))
    desk.run(desk.ended)
    assert "watched live" in (desk.results()[0].error or "")
    assert desk.spool.last_position("codex-session-busy") == 0


@pytest.mark.parametrize(
    "frame",
    [
        b'{"t":"import","v":2}',
        b'{"t":"import","v":1,"files":["relative.jsonl"]}',
        b'{"t":"import","v":1,"files":"x"}',
        b'{"t":"import","v":1,"more":1}',
    ],
)
def test_a_request_out_of_shape_is_refused(desk: Desk, frame: bytes) -> None:
    """It says what is expected, and nothing is started."""
    with pytest.raises(Refused):
        desk.host.ask(frame, lambda _: True)
    assert not desk.host.busy


def command(paths: Paths, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "WAYFINDER_RUN_DIR": str(paths.run),
               "WAYFINDER_STATE_DIR": str(paths.state)}  # fmt: skip
    return subprocess.run(
        [sys.executable, "-P", "-m", "wayfinder.adapters.importer", *arguments],
        capture_output=True, text=True, env=environ, check=False, timeout=WAIT_S,
    )  # fmt: skip


def test_a_dry_run_says_what_would_be_and_stores_nothing(paths: Paths, tmp_path: Path) -> None:
    """One line per file for people, one JSON object per file for programs; exit 1 if one failed."""
    path, other = write_session(tmp_path / "dry.jsonl", turns=3), tmp_path / "other.txt"
    other.write_text("a shopping list\n")
    shown = command(paths, "--dry-run", str(path), str(other))
    assert shown.returncode == 1, shown.stderr
    assert "3 turns, 6 calls, 3 failed" in shown.stdout
    assert "not a session file of pi, claude, codex, opencode, gemini" in shown.stdout
    for_programs = command(paths, "--dry-run", "--json", str(path))
    assert for_programs.returncode == 0
    assert json.loads(for_programs.stdout)["totals"]["episodes"] > 0
    assert not (paths.state / "spool.db").exists()


def test_without_a_daemon_the_command_says_so(paths: Paths, tmp_path: Path) -> None:
    path = write_session(tmp_path / "none.jsonl", turns=1)
    shown = command(paths, str(path))
    assert (shown.returncode, "--dry-run" in shown.stderr) == (3, True)
    assert command(paths).returncode == 2


def test_what_a_session_says_cannot_steer_a_terminal() -> None:
    """Control characters of names and reasons are shown, not obeyed."""
    result = Result(file="/x/\x1b]0;evil\x07.jsonl", error="no\x1b[2J\u202e")
    shown = "\n".join([said(result), *report(result)])
    assert "\x1b" not in shown and "\x07" not in shown and "\u202e" not in shown
