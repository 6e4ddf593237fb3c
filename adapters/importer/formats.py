"""The agents' folders in one table, and which of them a file belongs to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ..claude.file import FORMAT as CLAUDE
from ..codex.file import FORMAT as CODEX
from ..gemini.file import FORMAT as GEMINI
from ..opencode.file import FORMAT as OPENCODE
from ..pi.file import FORMAT as PI
from ..reader import HEAD_BYTES, Format, Source

# In this order each is asked whether a file is its own.
FORMATS: Final[tuple[Format, ...]] = (PI, CLAUDE, CODEX, OPENCODE, GEMINI)
BY_AGENT: Final = {format_.agent: format_ for format_ in FORMATS}


class NotASession(ValueError):
    """The text says what was expected and what exists."""


def recognise(path: Path, agent: str | None = None) -> Format:
    """By content; `agent` overrules it. Raises NotASession, OSError."""
    if agent is not None:
        if agent not in BY_AGENT:
            raise NotASession(f"agent {agent!r} is not known; known: {', '.join(BY_AGENT)}")
        return BY_AGENT[agent]
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    if not head.strip():
        raise NotASession("the file is empty")
    found = next((format_ for format_ in FORMATS if format_.recognises(head)), None)
    if found is None:
        raise NotASession(f"not a session file of {', '.join(BY_AGENT)} (or name it: --agent)")
    return found


def sources(path: Path, agent: str | None = None) -> list[Source]:
    """The sessions in a file, recognised. Raises NotASession, OSError."""
    if not path.is_file():
        raise NotASession("not a plain file")
    format_ = recognise(path, agent)
    if format_.sources is None:
        status = path.stat()
        return [Source(format_.agent, path, None, status.st_mtime, status.st_size)]
    found = list(format_.sources(path))
    if not found:
        raise NotASession(f"no sessions of {format_.agent} in it")
    return found


def discovered(agent: str | None = None) -> Iterator[Source]:
    """The sessions of this machine, agent by agent, newest first."""
    for format_ in FORMATS:
        if agent in (None, format_.agent):
            yield from format_.discover()
