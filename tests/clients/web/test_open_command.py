"""`wayfinder open` as it is typed, and what odd requests get."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from page_world import PageWorld, raw, request

from wayfinder.clients.demo.own_daemon import OwnDaemon
from wayfinder.clients.web.app import Site
from wayfinder.daemon.control import ask_status
from wayfinder.daemon.who import AGENT_MARKS

COMMAND = [sys.executable, "-P", "-c", "from wayfinder.clients.cli import main; main()", "open"]


@pytest.fixture(scope="module")
def world() -> Iterator[PageWorld]:
    made = PageWorld()
    made.open("restore the login")
    made.sign_in()
    yield made
    made.close()


def at_terminal(*options: str, environment: dict[str, str]) -> bytes:
    """What the command prints to a terminal of its own."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [*COMMAND, *options], environment)
    said = b""
    with suppress(OSError):  # the other end is closed
        while chunk := os.read(terminal, 65536):
            said += chunk
    os.waitpid(pid, 0)
    os.close(terminal)
    return said


def test_a_person_gets_a_page_that_may_correct() -> None:
    """The page's process is started when it is asked for; each link is new, and signs in."""
    with OwnDaemon() as daemon:
        # A person's own shell carries no marks of an agent.
        clean = {k: v for k, v in daemon.environment.items() if k not in AGENT_MARKS}
        assert state_of_page(daemon) == "waiting"
        first = msgspec.json.decode(at_terminal("--json", environment=clean))
        assert (first["mayCorrect"], first["because"]) == (True, "terminal")
        assert state_of_page(daemon) == "ready"
        printed = at_terminal("--no-browser", environment=clean).decode()
        assert printed.startswith("http://127.0.0.1:")
        assert printed.strip() != first["url"]
        # A script has no terminal: its page looks on.
        script = subprocess.run(
            [*COMMAND, "--json"], env=clean, capture_output=True, stdin=subprocess.DEVNULL,
            start_new_session=True, check=True,
        )  # fmt: skip
        assert msgspec.json.decode(script.stdout)["mayCorrect"] is False


def state_of_page(daemon: OwnDaemon) -> str:
    return next(p.state for p in ask_status(daemon.paths).processes if p.name == "web")


def test_without_a_daemon_it_says_so(tmp_path: Any) -> None:
    """--no-start: one plain sentence and exit code 1."""
    environment = dict(os.environ)
    for kind in ("run", "state", "config"):
        environment[f"WAYFINDER_{kind.upper()}_DIR"] = str(tmp_path / kind[0])
    done = subprocess.run(
        [*COMMAND, "--no-start"], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "wayfinderd" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "path",
    [
        "/api/view",
        "/api/view?session=pi-1",
        "/api/view?session=pi-1&at=-5",
        "/api/view?session=pi-1&at=1e9",
        "/api/view?session=" + quote("../../etc/passwd") + "&at=1",
        "/api/view?session=" + quote("pi-1\x00\n") + "&at=1",
        "/api/view?session=pi-2&at=1",
        "/api/moments?session=" + quote("' OR 1=1 --"),
        "/api/proposals?session=" + "x" * 5000,
        "/api/search?q=" + quote("\ud800", errors="surrogatepass"),
        "/api/search?q=%",
        "/api/nothing",
    ],
)
def test_odd_questions_get_a_plain_answer(world: PageWorld, path: str) -> None:
    """Whatever is asked, the answer is JSON: found nothing, or what was expected; never a 500."""
    headers = [("Host", world.host), ("Authorization", f"Bearer {world.token}")]
    status, _, body = raw(world.port, request("GET", path, headers))
    assert status in (200, 400, 404), (status, body)
    answer = msgspec.json.decode(body)
    assert status == 200 or set(answer) == {"code", "expected"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"session": "pi-1"},
        {"session": "pi-1", "text": ""},
        {"session": "pi-1", "type": "purge", "text": "x"},
        {"session": "pi-1", "type": "retire", "targetId": "<script>"},
        {"session": ["pi-1"], "text": "x"},
        {"session": "pi-1", "text": "x" * 5000},
        {"session": "pi-1", "text": {"a": 1}},
        {"session": "pi-1", "pinned": "x", "seenUpTo": -1},
        {"session": "nobody-1", "text": "stop"},
    ],
)
def test_odd_words_change_nothing(world: PageWorld, body: dict[str, object]) -> None:
    """A correction, a click or a look that makes no sense is refused in one sentence."""
    for path in ("/api/understand", "/api/correct", "/api/confirm", "/api/focus"):
        status, said = world.post(path, body)
        assert status in (200, 400, 404), (path, status, said)
        if status == 200 and path in ("/api/correct", "/api/confirm"):
            assert said["answer"].get("reply") != "taken", (path, said)


def test_idle_is_counted_from_the_last_word(world: PageWorld) -> None:
    """An open page keeps the process; without one, the time since the last request counts."""
    site = Site.__new__(Site)
    site.feeds = type("Feeds", (), {"pages": {object()}})()  # type: ignore[assignment]
    site.heard_s = -1e9
    assert site.idle_s() == 0.0
    site.feeds.pages.clear()
    assert site.idle_s() > 600
    site.hear()
    assert site.idle_s() < 60
