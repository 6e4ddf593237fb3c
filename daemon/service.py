"""`wayfinderd install-service`: run as this user's own service, and leave nothing when removed.

    Linux   a systemd user unit          ~/.config/systemd/user/wayfinderd.service
    macOS   a launchd agent              ~/Library/LaunchAgents/wayfinderd.plist   (untried)

The templates stand in `deploy/`; only the interpreter's path is filled in. Without a running
service manager (a container, a plain SSH session) the file is still written and the text says
which command will start it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

from msgspec import Struct

UNIT: Final = "wayfinderd.service"
COMMAND_TIMEOUT_S: Final = 30


class Manager(Struct, frozen=True):
    """One service manager: where its file goes, and what starts and stops it."""

    template: str
    target: Path
    keep: Path  # this folder and those above it were there before us
    start: tuple[tuple[str, ...], ...]
    stop: tuple[tuple[str, ...], ...]
    forget: tuple[tuple[str, ...], ...] = ()


def manager(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Manager:
    home = Path(environ.get("HOME") or Path.home())
    if platform == "darwin":
        target = home / "Library" / "LaunchAgents" / "wayfinderd.plist"
        domain = f"gui/{os.getuid()}"
        return Manager(
            "launchd/wayfinderd.plist",
            target,
            home,
            start=(("launchctl", "bootstrap", domain, str(target)),),
            stop=(("launchctl", "bootout", f"{domain}/wayfinderd"),),
        )
    chosen = environ.get("XDG_CONFIG_HOME")
    config = Path(chosen or home / ".config")
    systemctl = ("systemctl", "--user")
    return Manager(
        "systemd/wayfinderd.service",
        config / "systemd" / "user" / UNIT,
        config if chosen else home,
        start=((*systemctl, "daemon-reload"), (*systemctl, "enable", "--now", UNIT)),
        stop=((*systemctl, "disable", "--now", UNIT),),
        forget=((*systemctl, "daemon-reload"),),
    )


def rendered(template: str, python: str = sys.executable) -> str:
    """The template with the interpreter filled in, quoted as its format wants."""
    text = files("wayfinder").joinpath("deploy", template).read_text("utf-8")
    quoted = escape(python) if template.endswith(".plist") else _systemd_quoted(python)
    return text.replace("@PYTHON@", quoted)


def _systemd_quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if escaped != path or " " in path else path


def install(chosen: Manager) -> str:
    """Writes the file and starts the service. Returns what happened, for people."""
    chosen.target.parent.mkdir(parents=True, exist_ok=True)
    chosen.target.write_text(rendered(chosen.template), "utf-8")
    failed = _run(chosen.start)
    if failed is None:
        return f"wayfinderd runs as your service now ({chosen.target})"
    later = " && ".join(" ".join(command) for command in chosen.start)
    return f"{chosen.target} is written, but not started: {failed}. To start it: {later}"


def remove(chosen: Manager) -> str:
    """Stops the service and takes its file out. Folders that are empty then go too."""
    if not chosen.target.exists():
        return f"nothing to remove: there is no {chosen.target}"
    _run(chosen.stop)
    chosen.target.unlink()
    _run(chosen.forget)
    _remove_empty(chosen.target.parent, chosen.keep)
    return f"removed {chosen.target}; your sessions stay in the state folder (wayfinder purge)"


def _remove_empty(folder: Path, keep: Path) -> None:
    while folder.is_relative_to(keep) and folder != keep and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _run(commands: tuple[tuple[str, ...], ...]) -> str | None:
    """Runs them in order; None if all went well, else why the first bad one did not."""
    for command in commands:
        if shutil.which(command[0]) is None:
            return f"there is no {command[0]} here"
        run = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=COMMAND_TIMEOUT_S
        )
        if run.returncode != 0:
            said = run.stderr.strip().splitlines()
            return said[-1] if said else f"{command[0]} ended with {run.returncode}"
    return None
