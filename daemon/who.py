"""Who is calling on the human socket: a person, perhaps a person, or surely not (DESIGN 8).

    REFUSED       another user; a descendant of a connected agent
    UNCONFIRMED   carries an agent's environment marks (itself or a parent), descends from a
                  program that is an agent by name, has no terminal, or cannot be looked at.
                  Kept and shown, but stands only after a click in the page.
    CONFIRMED     a process of this user with a terminal and none of the above; our own page

The actor of a correction comes from here, never from the message.

**The same-uid limit.** An agent runs as the person. A program that wants to can start a fresh
process with an empty environment, its own pseudo-terminal and no agent among its parents, and it
will look like a person at a prompt. No check under one user id can rule that out. So these checks
stop mistakes and casual misuse; what protects the person is that every correction is shown to
them with where it came from, and can be undone.

A pid may be reused after its process died: `SO_PEERCRED` is read at accept, and a process younger
than the connection is not the one that connected.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Collection, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

import psutil
from msgspec import Struct

from .unixsock import Peer, peer_of

PARENTS_MAX: Final = 64

# Variables an agent sets for the commands it runs, seen in the agents' own sources and sessions.
AGENT_MARKS: Final = frozenset(
    {
        "AI_AGENT",
        "PI_CODING_AGENT",
        "PI_SESSION_ID",
        "PI_SESSION_FILE",
        "CLAUDECODE",
        "CLAUDE_CODE_ENTRYPOINT",
        "CLAUDE_CODE_SESSION_ID",
        "CODEX_SANDBOX",
        "CODEX_SANDBOX_NETWORK_DISABLED",
        "CODEX_THREAD_ID",
        "OPENCODE",
        "OPENCODE_SESSION_ID",
        "GEMINI_CLI",
        "CURSOR_AGENT",
    }
)
AGENT_NAMES: Final = frozenset({"pi", "claude", "codex", "opencode", "gemini"})


class Standing(StrEnum):
    CONFIRMED = "confirmed"
    UNCONFIRMED = "unconfirmed"
    REFUSED = "refused"


class Caller(Struct, frozen=True):
    """`reason` is a stable code for logs and the page; `detail` a pid or a variable's name."""

    pid: int
    uid: int
    standing: Standing
    reason: str
    detail: str = ""


class Kin(Struct, frozen=True):
    """One process of the caller's line, itself first. `marks` are names only, never values."""

    pid: int
    name: str
    marks: tuple[str, ...] = ()
    terminal: bool = False
    readable: bool = True


def who(
    connection: socket.socket,
    *,
    agents: Collection[int],
    page: Collection[int] = (),
    accepted_at_s: float | None = None,
) -> Caller:
    """Judges the other end of an accepted human connection.

    `agents`: pids of connected agents. `page`: pids of our own web client. `accepted_at_s`: Unix
    time of the accept, to notice a reused pid.
    """
    try:
        peer = peer_of(connection)
    except OSError as error:
        return Caller(0, -1, Standing.REFUSED, "no_peer_credentials", str(error))
    if peer.uid != os.geteuid():
        return Caller(peer.pid, peer.uid, Standing.REFUSED, "other_user")
    return judge(peer, line_of(peer.pid, accepted_at_s), agents=agents, page=page)


def judge(
    peer: Peer, line: Sequence[Kin], *, agents: Collection[int], page: Collection[int] = ()
) -> Caller:
    """Pure: the caller and its parents against what is known. First reason that fits decides."""

    def caller(standing: Standing, reason: str, detail: object = "") -> Caller:
        return Caller(peer.pid, peer.uid, standing, reason, str(detail))

    if (agent := next((kin for kin in line if kin.pid in agents), None)) is not None:
        return caller(Standing.REFUSED, "descends_from_agent", agent.pid)
    if peer.pid in page:
        return caller(Standing.CONFIRMED, "page")
    if not line or not line[0].readable:
        return caller(Standing.UNCONFIRMED, "not_readable")
    if (marked := next((kin for kin in line if kin.marks), None)) is not None:
        return caller(Standing.UNCONFIRMED, "agent_environment", marked.marks[0])
    if (named := next((kin for kin in line if kin.name in AGENT_NAMES), None)) is not None:
        return caller(Standing.UNCONFIRMED, "agent_program", named.pid)
    if not line[0].terminal:
        return caller(Standing.UNCONFIRMED, "no_terminal")
    return caller(Standing.CONFIRMED, "terminal")


def line_of(pid: int, accepted_at_s: float | None = None) -> tuple[Kin, ...]:
    """The process and its parents as they are now; empty if it is gone or was replaced."""
    try:
        process = psutil.Process(pid)
        if accepted_at_s is not None and process.create_time() > accepted_at_s + 1:
            return ()
        line = [process, *process.parents()[:PARENTS_MAX]]
    except (psutil.Error, OSError):
        return ()
    return tuple(_kin(each) for each in line)


def _kin(process: psutil.Process) -> Kin:
    """A parent of another user cannot be read; it is no agent of this user then."""
    try:
        name = process.name()
    except (psutil.Error, OSError):
        return Kin(process.pid, "", readable=False)
    try:
        marks = tuple(sorted(AGENT_MARKS.intersection(process.environ())))
        return Kin(process.pid, name, marks, _has_terminal(process))
    except (psutil.Error, OSError):
        return Kin(process.pid, name, readable=False)


def _has_terminal(process: psutil.Process) -> bool:
    """psutil remembers the terminals that existed at its first look, so Linux is asked itself:
    field 7 of /proc/PID/stat, after the name, which may hold anything up to the last `)`."""
    if sys.platform != "linux":
        return process.terminal() is not None
    stat = Path(f"/proc/{process.pid}/stat").read_bytes()
    return int(stat.rpartition(b")")[2].split()[4]) != 0
