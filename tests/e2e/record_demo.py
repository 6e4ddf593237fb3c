"""Makes clients/demo/login-refresh.jsonl anew: a real Pi 1.6.0 works on a real failing test.

    python tests/e2e/record_demo.py [--pace-ms 900] [FILE]

The model is scripted; Pi, its tools, the repository, the failing test, the extension and the
daemon that answers are real. A tap between Pi and agent.sock writes down what Pi sends. Paths,
ids and times are made neutral before anything is stored.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pi_harness
import refresh_story
from scripted_model import ScriptedModel

from wayfinder.clients.demo.own_daemon import OwnDaemon
from wayfinder.clients.demo.recording import STORY, Head, Recording, Sent, dump

ROOT = Path(__file__).resolve().parents[2]
PLACE = "/demo/login-refresh"
SESSION = "login-refresh-demo"
Frame = dict[str, Any]


class Tap:
    """Stands between Pi and agent.sock, passes everything on, keeps what Pi sends."""

    def __init__(self, path: Path, behind: Path) -> None:
        import socket

        self.kept: list[tuple[int, Frame]] = []
        self._began: float | None = None
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(4)
        self._behind = behind
        self._socket = socket
        self._thread = threading.Thread(target=self._one, daemon=True)
        self._thread.start()

    def _one(self) -> None:
        front, _ = self._listener.accept()
        back = self._socket.socket(self._socket.AF_UNIX, self._socket.SOCK_STREAM)
        back.connect(str(self._behind))
        answers = threading.Thread(target=self._pump, args=(back, front), daemon=True)
        answers.start()
        with front.makefile("rb") as lines:
            for line in lines:
                now = time.monotonic()
                self._began = self._began or now
                self.kept.append((int((now - self._began) * 1000), json.loads(line)))
                back.sendall(line)
        back.shutdown(self._socket.SHUT_WR)
        answers.join()
        front.close()
        back.close()

    def _pump(self, source: Any, sink: Any) -> None:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(self._socket.SHUT_WR)

    def finish(self) -> list[tuple[int, Frame]]:
        self._thread.join()
        self._listener.close()
        return self.kept


def neutral(kept: list[tuple[int, Frame]], repo: Path) -> Recording:
    """Times from 0, paths under one made-up folder, ids that name nobody and no run."""
    (_, hello), *rest = kept
    text = json.dumps([frame for _, frame in rest], ensure_ascii=False)
    for real in {str(repo), str(repo.resolve())}:
        text = text.replace(real, PLACE)
    for number, leaf in enumerate(dict.fromkeys(re.findall(r'"leaf": "([0-9a-f]{8})"', text)), 1):
        text = text.replace(leaf, f"{number:08x}")
    for number, patch in enumerate(dict.fromkeys(re.findall(r"patch_[0-9a-f-]{36}", text)), 1):
        text = text.replace(patch, f"patch_{number:02d}")
    frames: list[Frame] = json.loads(text)
    first_at = min(frame["at"] for frame in frames)
    for frame in frames:
        frame["at"] -= first_at
    opened = {**hello, "session": SESSION, "file": None, "cwd": PLACE, "pid": 0, "instance": "demo"}
    sent = tuple(Sent(ms, frame) for (ms, _), frame in zip(rest, frames, strict=True))
    head = Head(1, "pi", hello["agentVersion"], sent[-1].ms, len(sent) + 1)
    return Recording(head, opened, sent)


def check(recording: Recording) -> None:
    """What the story promises, and that nothing of this machine is in it."""
    frames = [sent.frame for sent in recording.sent]
    ends = [f for f in frames if f.get("ev") == "call_end"]
    fails = [f for f in ends if "refresh-token: logged out after refresh" in f["text"]
             and f["isError"]]  # fmt: skip
    assert len(ends) == refresh_story.TOOL_CALLS >= 20, len(ends)
    assert len(fails) == 3, len(fails)
    assert sum(f["t"] == "patch" for f in frames) == refresh_story.PATCHES
    told = dump(recording).decode()
    for private in (str(Path.home()), os.uname().nodename, tempfile.gettempdir(), str(ROOT)):
        assert private in ("", "/") or private not in told, private


def record(pace_ms: int) -> Recording:
    pi = pi_harness.VERSIONS[1]
    with tempfile.TemporaryDirectory(prefix="wf-") as folder:
        at = Path(folder)
        repo = refresh_story.lay(at / "login-refresh")
        home = pi_harness.Home(at / "pi")
        home.connect()
        turns = refresh_story.turns(pace_ms)
        with OwnDaemon(at / "d") as daemon, ScriptedModel(turns) as model:
            pi_harness.await_adapter(daemon.sock)
            tap = Tap(at / "tap.sock", daemon.sock)
            home.speak_to(model.base_url)
            env = {"WAYFINDER_AGENT_SOCK": str(at / "tap.sock")}
            run = pi_harness.run(pi, home, repo, refresh_story.PROMPT, env=env)
            kept = tap.finish()
        assert run.code == 0, run.err
        assert model.failures == [], model.failures
        answers = [m for m in model.requests[-1]["messages"] if m["role"] == "tool"]
        said = json.dumps(answers)
        assert said.count("applied; path revision") == refresh_story.PATCHES, said
        return neutral(kept, repo)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", default=ROOT / "clients" / "demo" / STORY)
    parser.add_argument("--pace-ms", type=int, default=900, help="how long the model thinks")
    options = parser.parse_args()
    recording = record(options.pace_ms)
    check(recording)
    options.file.write_bytes(dump(recording))
    print(f"{options.file}: {recording.head.frames} frames, {recording.head.duration_ms} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
