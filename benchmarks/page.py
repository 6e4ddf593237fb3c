"""Twenty pages on a net of two thousand nodes: from a committed patch to every page, and to the
screen of one; memory of the processes between. Each patch changes one step's contract.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Raw

from wayfinder.clients.web.door import ask_page
from wayfinder.daemon.messages import SubmitPatch
from wayfinder.daemon.paths import Paths
from wayfinder.reducer.vocabulary.codec import encode
from wayfinder.reducer.vocabulary.observation import SessionInfo

from .parts import KEY, Client, started
from .result import Result, median, percentile

NODES = 2_000
PAGES = 20
PATCHES = 60
STEPS_PER_PATCH = 10  # four ops each, 64 at most
SESSION = "pi-bench"
WAIT_S = 60.0
# Told by the page itself, so that drawing is in it: when the words it waits for have been painted.
ON_SCREEN = """wanted => new Promise((done) => {
  const look = () => document.querySelector('#brief').textContent.includes(wanted)
    ? requestAnimationFrame(() => done(Date.now())) : setTimeout(look, 1);
  look();
})"""


def growth() -> list[list[dict[str, Any]]]:
    """A path of NODES / 2 steps, ten to a patch; the first step becomes active."""
    patches: list[list[dict[str, Any]]] = []
    for first in range(0, NODES // 2, STEPS_PER_PATCH):
        ops: list[dict[str, Any]] = []
        for n in range(first, first + STEPS_PER_PATCH):
            start = "pl_start" if n == 0 else f"p{n - 1}"
            ops += [
                {"op": "create_place", "placeId": f"p{n}", "type": "Condition", "label": f"c {n}"},
                {"op": "create_transition", "transitionId": f"s{n}", "type": "Verify",
                 "intent": f"step {n}", "whyNow": "w", "expectedEvidence": ["e"],
                 "exitCondition": "x"},
                {"op": "connect", "fromId": start, "toId": f"s{n}", "arc": "flow"},
                {"op": "connect", "fromId": f"s{n}", "toId": f"p{n}", "arc": "success"},
            ]  # fmt: skip
        patches.append(ops)
    patches.append([{"op": "activate_transition", "transitionId": "s0"}])
    return patches


class Agent:
    """Sends ops one patch after the other and waits for each answer."""

    def __init__(self, paths: Paths) -> None:
        self._client = Client(paths)
        self._count = 0

    def patch(self, ops: list[dict[str, Any]]) -> None:
        number = str(self._count)
        body = {"patchId": f"patch_{number}", "baseRevision": self._count,
                "idempotencyKey": f"call_{number}", "ops": ops}  # fmt: skip
        self._count += 1
        info = SessionInfo(SESSION, agent="pi")
        sent = SubmitPatch(info, "main", self._count, Raw(encode(body)))
        self._client.send(number.encode(), encode(sent))
        self._client.until(lambda: number.encode() in self._client.answered)
        answer = self._client.answered.pop(number.encode())
        assert b'"applied"' in answer, answer

    def close(self) -> None:
        self._client.bus.close()


class Page(threading.Thread):
    """One open stream: notes when each change arrived."""

    def __init__(self, port: int, token: str) -> None:
        super().__init__(daemon=True)
        self.arrived: dict[str, float] = {}
        self.whole = threading.Event()
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.sendall(
            f"GET /api/stream?session={SESSION} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode()
        )

    def run(self) -> None:
        rest = b""
        while data := self._socket.recv(1 << 18):
            now = time.time()
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if b'"t":"view"' in line:
                    self.whole.set()
                start = line.find(b"mark ")
                if start >= 0:
                    self.arrived.setdefault(line[start : start + 8].decode(), now)


def sign_in(paths: Paths) -> tuple[int, str, str]:
    """(port, token, a second link that is still good)."""
    url = ask_page(paths, KEY).url
    port = urlsplit(url).port
    assert port is not None
    body = json.dumps({"code": url.partition("#c=")[2]}).encode()
    with socket.create_connection(("127.0.0.1", port)) as caller:
        caller.sendall(
            f"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Origin: http://127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
            + body
        )
        answer = b""
        while data := caller.recv(65_536):
            answer += data
    return port, json.loads(answer.partition(b"\r\n\r\n")[2])["token"], ask_page(paths, KEY).url


def mark(number: int) -> list[dict[str, Any]]:
    words = {"whyNow": f"mark {number:03d}"}
    return [{"op": "set_transition_contract", "transitionId": "s0", **words}]


def rss_mib(name: str) -> float:
    """Of our own child whose module ends like this."""
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes()
            mine = (folder / "stat").read_text().rpartition(")")[2].split()[1] == str(os.getpid())
        except (OSError, IndexError):
            continue
        if mine and command.rstrip(b"\0").endswith(name.encode()):
            return int((folder / "statm").read_text().split()[1]) * 4096 / (1 << 20)
    return 0.0


def screen(url: str) -> Any:
    """One page in Chromium, signed in and drawn; None where there is none."""
    if shutil.which("chromium") is None:
        return None
    from playwright.sync_api import sync_playwright

    playwright = sync_playwright().start()
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(url)
    page.locator("#path .node").first.wait_for(timeout=60_000)
    return playwright, browser, page


def run() -> list[Result]:
    with started("reconciler", "viewer", "web") as paths:
        agent = Agent(paths)
        for ops in growth():
            agent.patch(ops)
        port, token, url = sign_in(paths)
        pages = [Page(port, token) for _ in range(PAGES)]
        for page in pages:
            page.start()
            assert page.whole.wait(WAIT_S), "a page got no frame"
        seen = screen(url)
        sent: dict[str, float] = {}
        shown: list[float] = []
        for number in range(PATCHES):
            words = f"mark {number:03d}"
            sent[words] = time.time()
            agent.patch(mark(number))
            if seen is not None:
                at = seen[2].evaluate(ON_SCREEN, words)
                shown.append(at / 1_000 - sent[words])
            else:
                time.sleep(0.1)
        last = max(sent)
        until = time.monotonic() + WAIT_S
        while any(last not in page.arrived for page in pages) and time.monotonic() < until:
            time.sleep(0.01)
        late = [
            (page.arrived[words] - at) * 1_000
            for page in pages
            for words, at in sent.items()
            if words in page.arrived
        ]
        processes = {"viewer": "daemon.viewer", "page's server": "clients.web"}
        memory = [
            Result(f"{name}, {NODES:,} nodes, {PAGES} pages", "MiB", rss_mib(module))
            for name, module in processes.items()
        ]
        if seen is not None:
            seen[1].close()
            seen[0].stop()
        agent.close()
    return [*figures("patch to each of 20 pages", late), *memory,
            *figures("patch to the screen", [s * 1_000 for s in shown])]  # fmt: skip


def figures(name: str, ms: list[float]) -> list[Result]:
    if not ms:
        return []
    named = f"{name}, {NODES:,} nodes"
    return [
        Result(f"{named}, p50", "ms", median(ms)),
        Result(f"{named}, p99", "ms", percentile(ms, 99)),
    ]
