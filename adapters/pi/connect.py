"""`wayfinder connect pi`: puts the extension where Pi finds it by itself, or takes it out again.

What lands in the Pi home is one folder of our own, `extensions/wayfinder/`; no setting of the
person's is touched, so taking it out leaves nothing behind. Files are copied, not linked: a moved
or upgraded Wayfinder must never stop Pi from starting (Pi exits when an extension is missing).

    python -m wayfinder.adapters.pi.connect [--remove] [--json]

`PI_CODING_AGENT_DIR` moves the Pi home, as it does for Pi. Run by the CLI as a child.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Final, Literal

import msgspec

SOURCE: Final = Path(__file__).parent / "extension"
FILES: Final = ("package.json", "patch.schema.json", "wayfinder.js")
NAME: Final = "wayfinder-pi"  # our mark in package.json

Action = Literal["installed", "updated", "unchanged", "removed", "absent"]


class Outcome(msgspec.Struct, frozen=True, rename="camel"):
    """What was done. `left` are files in our folder that are not ours and were left alone."""

    action: Action
    folder: str
    version: str
    left: tuple[str, ...] = ()
    hint: str = ""


class NotOurs(Exception):
    """Something else stands where our folder belongs."""


def pi_home() -> Path:
    named = os.environ.get("PI_CODING_AGENT_DIR")
    return Path(named).expanduser() if named else Path.home() / ".pi" / "agent"


def install(home: Path) -> Outcome:
    """Copies the extension; the same files again change nothing. Raises NotOurs, OSError."""
    folder = home / "extensions" / "wayfinder"
    known = _is_ours(folder)
    wanted = {name: (SOURCE / name).read_bytes() for name in FILES}
    if known and all(_content(folder / name) == data for name, data in wanted.items()):
        return Outcome("unchanged", str(folder), _version())
    folder.mkdir(parents=True, exist_ok=True)
    # package.json, which makes Pi look, comes last: a half-done copy is never loaded.
    for name in sorted(FILES, key=lambda n: n == "package.json"):
        _replace(folder / name, wanted[name])
    hint = "Start pi anew, or type /reload in a running one."
    return Outcome("updated" if known else "installed", str(folder), _version(), hint=hint)


def remove(home: Path) -> Outcome:
    """Takes our files and folder out; files of others in it stay and are named."""
    folder = home / "extensions" / "wayfinder"
    if not _is_ours(folder):
        return Outcome("absent", str(folder), _version())
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
    left = tuple(sorted(path.name for path in folder.iterdir()))
    if not left:
        folder.rmdir()
    return Outcome("removed", str(folder), _version(), left)


def _is_ours(folder: Path) -> bool:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise NotOurs(f"{folder} is not a folder; move it away first")
    if not folder.exists() or not any(folder.iterdir()):
        return False
    try:
        ours = json.loads((folder / "package.json").read_bytes()).get("name") == NAME
    except (OSError, ValueError, AttributeError):
        ours = False
    # A copy that broke off has no package.json yet, and nothing but our names.
    if not ours and {path.name for path in folder.iterdir()} - set(FILES):
        raise NotOurs(f"{folder} holds something else; move it away first")
    return True


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _replace(path: Path, data: bytes) -> None:
    fresh = path.with_name(path.name + ".new")
    fresh.write_bytes(data)
    fresh.replace(path)


def _version() -> str:
    return json.loads((SOURCE / "package.json").read_bytes())["version"]


WORDS: Final[dict[Action, str]] = {
    "installed": "Connected Pi: the extension is in {folder}.",
    "updated": "Brought the Pi extension in {folder} up to date.",
    "unchanged": "Pi is already connected; nothing to do.",
    "removed": "Took the extension out of {folder}.",
    "absent": "Pi was not connected; nothing to remove.",
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="wayfinder connect pi")
    parser.add_argument("--remove", action="store_true", help="take the extension out")
    parser.add_argument("--json", action="store_true", help="answer as one JSON object")
    options = parser.parse_args(arguments)
    try:
        outcome = (remove if options.remove else install)(pi_home())
    except (NotOurs, OSError) as error:
        print(f"wayfinder connect pi: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(msgspec.json.encode(outcome).decode())
        return 0
    print(WORDS[outcome.action].format(folder=outcome.folder))
    if outcome.left:
        print(f"Left alone there: {', '.join(outcome.left)}.")
    if outcome.hint:
        print(outcome.hint)
    return 0


if __name__ == "__main__":
    sys.exit(main())
