"""The real reconciler, viewer and page in one folder, with this process as their supervisor.

world.open("a goal")          commits a session; `world.patch(…)`, `world.prompt(…)` go on with it
world.page()                  a link that works once, as the supervisor's own key gets it
world.get(path), .post(path)  HTTP by hand, so that every header is ours
"""

from __future__ import annotations

import json
import shutil
import socket
import tempfile
import time
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from live_world import KEY, Process

from wayfinder.clients.web.door import Opened as Link
from wayfinder.clients.web.door import ask_page
from wayfinder.daemon.bus import Bus
from wayfinder.daemon.messages import SubmitPatch, SubmitSegment
from wayfinder.daemon.paths import Paths, prepare
from wayfinder.reducer.vocabulary.codec import encode
from wayfinder.reducer.vocabulary.episode import Episode, EpisodeItem, FactItem, Segment
from wayfinder.reducer.vocabulary.observation import Opened, Prompted, SessionInfo

WAIT_S = 20.0
LIGHT = ("wayfinder.daemon.reconciler", "wayfinder.daemon.viewer", "wayfinder.clients.web")
Op = dict[str, Any]


class PageWorld:
    def __init__(self, modules: tuple[str, ...] = LIGHT, folder: Path | None = None) -> None:
        # Socket paths are short; the folders pytest makes are not.
        self.folder = folder or Path(tempfile.mkdtemp(prefix="wf-"))
        self.paths = Paths(self.folder / "run", self.folder / "state", self.folder / "config")
        prepare(self.paths)
        self.processes: dict[str, Process] = {}
        self.start(*modules)
        self._bus = Bus(self.paths, name="adapter", key=KEY)
        self._callers = {file: self._bus.caller(file) for file in ("patch.ipc", "stream.ipc")}
        self._requests = 0
        self.position = 0
        self.session_id = ""
        self.token = ""

    def start(self, *modules: str) -> None:
        self.processes |= {name: Process(name, self.paths) for name in modules}

    def close(self) -> None:
        self._bus.close()
        for process in reversed(self.processes.values()):
            process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- what sessions say ------------------------------------------------------------------------

    def ask(self, file: str, request: msgspec.Struct) -> dict[str, Any]:
        caller, until = self._callers[file], time.monotonic() + WAIT_S
        self._requests += 1
        name = str(self._requests).encode()
        while not caller.send(name, encode(request)):
            assert time.monotonic() < until, f"nobody at {file}"
            caller.socket.poll(50)
        while True:
            got = caller.receive()
            if got is not None and got[0] == name:
                return msgspec.json.decode(got[1])
            assert time.monotonic() < until, f"no answer on {file}"
            caller.socket.poll(50)

    def open(self, prompt: str, session: str = "1", project: str = "story") -> None:
        self.session_id = f"pi-{session}"
        self.info = SessionInfo(self.session_id, "pi", project=project)
        self.position, self.revision = 2, 0
        items = (FactItem(Opened(1, 1, self.info)), FactItem(Prompted(2, 2, prompt)))
        self._segment(1, items)

    def prompt(self, line: str) -> None:
        self.position += 1
        self._segment(self.position, (FactItem(Prompted(self.position, self.position, line)),))

    def episode(self, kind: str = "inspect", outcome: str = "ok", **fields: Any) -> str:
        start = self.position + 1
        self.position += 1
        episode = msgspec.convert(
            {"episodeId": f"ep_{start}", "fromPosition": start, "toPosition": start, "kind": kind,
             "outcome": outcome, "boundary": "settled", "coverage": "full", "calls": 1,
             "endedAt": start * 1000, **fields},
            Episode,
        )  # fmt: skip
        self._segment(start, (EpisodeItem(episode),))
        return episode.episode_id

    def _segment(self, start: int, items: tuple[Any, ...]) -> None:
        reply = self.ask(
            "stream.ipc", SubmitSegment(Segment(self.info, start, self.position, items))
        )
        assert reply.get("toPosition") == self.position, reply

    def patch(self, *ops: Op, proposal: bool = False) -> dict[str, Any]:
        self._requests += 1
        body = {
            "patchId": f"patch_{self._requests}",
            "baseRevision": self.revision,
            "idempotencyKey": f"call_{self._requests}",
            "ops": list(ops),
        }
        raw = msgspec.Raw(msgspec.json.encode(body))
        answer = self.ask(
            "patch.ipc",
            SubmitPatch(self.info, "main", self.position, raw, proposal=proposal),
        )
        assert answer["status"] in ("applied", "proposed"), answer
        self.revision = answer["revision"]
        return answer

    # --- the page ---------------------------------------------------------------------------------

    def page(self) -> Link:
        return ask_page(self.paths, KEY)

    def sign_in(self) -> None:
        link = self.page()
        status, said = self.post("/api/session", {"code": link.url.partition("#c=")[2]})
        assert status == 200, said
        self.token = said["token"]

    @cached_property
    def port(self) -> int:
        port = urlsplit(self.page().url).port
        assert port is not None
        return port

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def get(self, path: str) -> tuple[int, Any]:
        status, _, body = raw(self.port, request("GET", path, self._headers()))
        return status, json.loads(body) if body else None

    def post(self, path: str, body: object) -> tuple[int, Any]:
        data = json.dumps(body).encode()
        headers = [
            *self._headers(),
            ("Origin", f"http://{self.host}"),
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(data))),
        ]
        status, _, answer = raw(self.port, request("POST", path, headers) + data)
        return status, json.loads(answer) if answer else None

    def _headers(self) -> list[tuple[str, str]]:
        headers = [("Host", self.host)]
        return [*headers, ("Authorization", f"Bearer {self.token}")] if self.token else headers


def request(method: str, path: str, headers: list[tuple[str, str]]) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1")


def raw(port: int, data: bytes, wait_s: float = WAIT_S) -> tuple[int, dict[str, str], bytes]:
    """One request as bytes; (status, headers in lower case, body). Status 0: closed in silence."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait_s) as caller:
        caller.sendall(data)
        answer = b""
        while chunk := caller.recv(65536):
            answer += chunk
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in rest)
    if headers.get("transfer-encoding") == "chunked":
        body = _unchunked(body)
    return int(first.split()[1]) if first else 0, headers, body


def _unchunked(body: bytes) -> bytes:
    whole = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        whole += body[: int(size, 16)]
        body = body[int(size, 16) + 2 :]
    return whole
