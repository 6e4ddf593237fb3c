"""Pi's session files: v1 (linear, no ids), v2/v3 (a tree), and its forks.

    {"type":"session","version":3,"id","timestamp","cwd","parentSession"?}
    {"type":"message","id","parentId","timestamp","message":{role, content, …}}
    {"type":"compaction"|"branch_summary"|"model_change"|"custom"|"custom_message"|…}

Everything a message means is decided in `normal`, which the live channel shares. What the file
alone knows is used for nothing but gaps. A record whose parent is not the record before it starts
another branch. Unknown types are counted and skipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from ...daemon.redact.sieve import sieve
from ...reducer.vocabulary.observation import AnyObservation, NoteCode, Opened, SessionInfo
from ..files import found
from ..jsonl import Records, Skips
from ..normalise.calls import Place
from ..normalise.loose import as_dict, as_list
from ..normalise.plans import PlanLedger
from ..normalise.ports import Refs
from ..reader import Format, Losses, Source, compact, iso_ms, project_of, session_id
from . import normal

AGENT: Final = "pi"
CALLS_MAX: Final = 20_000  # open calls remembered; older ones lose their arguments
_KNOWN: Final = frozenset({
    "model_change", "thinking_level_change", "custom", "custom_message", "label", "session_info",
    "usage", "context_edit", "branch_summary", "compaction", "message", "session", "leaf",
})  # fmt: skip


class Block(Struct):
    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: Any = None


class Message(Struct, rename="camel"):
    role: str = ""
    content: str | list[Block] | None = None
    stop_reason: str | None = None
    error_message: str | None = None
    timestamp: int | float | str | None = None
    tool_call_id: str | None = None
    tool_name: str | None = None
    details: Raw = Raw(b"null")
    structured_content: Raw = Raw(b"null")
    is_error: bool | None = None


class Line(Struct, rename="camel"):
    type: str = ""
    id: str | None = None
    parent_id: str | None = None
    timestamp: str | int | float | None = None
    message: Message | None = None
    cwd: str | None = None
    parent_session: str | None = None
    branched_from: str | None = None


class PiSession:
    """One session file."""

    def __init__(self, source: Source, refs: Refs) -> None:
        self.skips = Skips()
        self.info = SessionInfo(
            session_id(AGENT, source.session or _id_in(source.path), source.path), AGENT
        )
        self.unanswered = 0  # calls asked for that never got a result (aborted replies, live tail)
        self._records = Records(source.path, Line, self.skips)
        self._losses = Losses(self.skips)
        self._refs = refs
        self._place = Place("", refs)
        self._plan = PlanLedger()
        self._calls: dict[str, tuple[dict[str, Any], str | None]] = {}
        self._opened = False
        self._stamp: str | int | float | None = None
        self._last: tuple[str | None, int] = (None, 0)  # id of the record before, losses then

    @property
    def offset(self) -> int:
        return self._records.offset

    def drafts(self, *, final: bool = True) -> Iterator[AnyObservation]:
        for line in self._records.read(final=final):
            yield from self._line(line)
        yield from self._losses.gap(self._at)

    @property
    def _at(self) -> int:
        """When the newest record with a time was written; most messages have their own time."""
        return iso_ms(self._stamp)

    def _line(self, line: Line) -> Iterator[AnyObservation]:
        if not self._opened:
            at = iso_ms(line.timestamp)
            self._open(line, at)
            yield Opened(position=0, at=at, info=self.info)
        if line.type == "session":
            return
        if self._records.losses:
            yield from self._losses.gap(self._at)
        self._stamp = line.timestamp or self._stamp
        yield from self._branch(line)
        if line.type == "message" and line.message is not None:
            yield from self._message(line, line.message)
        elif line.type == "compaction":
            yield normal.noted(NoteCode.COMPACTION, self._at)
        elif line.type not in _KNOWN:
            self.skips.unknown[line.type[:64] or "no type"] += 1

    def _open(self, line: Line, at: int) -> None:
        self._opened = True
        own = line.id if line.type == "session" else None
        cwd = line.cwd or ""
        parent = _id_in(Path(line.parent_session or line.branched_from or ""))
        self._place = Place(cwd, self._refs)
        self.info = SessionInfo(
            session_id=session_id(AGENT, own, Path("_")) if own else self.info.session_id,
            agent=AGENT,
            project=project_of(cwd),
            project_ref=self._refs.ref("project", cwd) if cwd else None,
            parent_session_id=session_id(AGENT, parent, Path("_")) if parent else None,
            relation="fork" if parent else None,
            started_at=at,
        )

    def _branch(self, line: Line) -> Iterator[AnyObservation]:
        known, losses = self._last
        whole = losses == self._records.losses
        if line.id is not None:
            self._last = line.id, self._records.losses
            if known is not None and line.parent_id not in (known, None) and whole:
                yield normal.noted(NoteCode.BRANCH, self._at)

    def _message(self, line: Line, message: Message) -> Iterator[AnyObservation]:
        at = iso_ms(message.timestamp) or self._at
        if message.role == "user":
            yield normal.prompted(normal.clip(_text(message.content)), at)
        elif message.role == "assistant":
            yield from self._reply(line, message, at)
        elif message.role == "toolResult":
            yield from self._result(message, at)
        elif message.role not in ("bashExecution", "system", "custom", "branchSummary",
                                  "compactionSummary"):  # fmt: skip
            self.skips.unknown[f"role {message.role[:32]}"] += 1

    def _reply(self, line: Line, message: Message, at: int) -> Iterator[AnyObservation]:
        calls = [b for b in _blocks(message.content) if b.type == "toolCall" and b.id and b.name]
        patches: list[str] = []
        for block in calls:
            assert block.id is not None and block.name is not None
            if len(self._calls) >= CALLS_MAX:
                del self._calls[next(iter(self._calls))]
            args = normal.pick_args(block.name, as_dict(block.arguments))
            self._calls[block.id] = args, line.id
            if block.name == normal.PATCH_TOOL:
                patches.append(block.id)
        self.unanswered += len(calls)
        yield from normal.replied(
            message.stop_reason or "stop",
            at,
            calls=len(calls),
            patches=patches,
            error=message.error_message or "",
        )

    def _result(self, message: Message, at: int) -> Iterator[AnyObservation]:
        call_id = message.tool_call_id or ""
        args, entry_id = self._calls.pop(call_id, ({}, None))
        self.unanswered = max(0, self.unanswered - 1)
        details, exit_code = _details(message)
        yield from normal.ended(
            normal.Ended(
                call_id=call_id or "unnamed",
                tool=message.tool_name or "unnamed",
                at=at,
                is_error=message.is_error is True,
                args=args,
                text=normal.clip(_text(message.content)),
                details=details,
                exit_code=exit_code,
                entry_id=entry_id,
            ),
            self._place,
            self._plan,
        )


def _details(message: Message) -> tuple[dict[str, Any] | None, int | None]:
    """What the extension picks: the number of inner calls, and an exit code."""
    exit_code: int | None = None
    inner = 0
    for raw, key in ((message.details, "exitCode"), (message.structured_content, "exit_code")):
        data = bytes(raw)
        if key.encode() in data and exit_code is None:
            value = _decoded(data).get(key)
            exit_code = value if isinstance(value, int) and not isinstance(value, bool) else None
    if b'"toolCall"' in bytes(message.details):
        inner = _inner_calls(_decoded(bytes(message.details)))
    return ({"innerCalls": inner} if inner else None), exit_code


def _decoded(data: bytes) -> dict[str, Any]:
    try:
        value = sieve(msgspec.json.decode(data)).value
    except (msgspec.DecodeError, RecursionError):
        return {}
    return as_dict(value)


def _inner_calls(details: dict[str, Any]) -> int:
    messages = [
        as_dict(message)
        for result in as_list(details.get("results"))
        for message in as_list(as_dict(result).get("messages"))
    ]
    blocks = [
        as_dict(block)
        for message in messages
        if message.get("role") == "assistant"
        for block in as_list(message.get("content"))
    ]
    return sum(block.get("type") == "toolCall" for block in blocks)


def _text(content: str | list[Block] | None) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.text or "" for block in content or () if block.type == "text")


def _blocks(content: str | list[Block] | None) -> list[Block]:
    return content if isinstance(content, list) else []


def _id_in(path: Path) -> str | None:
    """`<time>_<session id>.jsonl`."""
    found = re.search(r"_([0-9A-Za-z-]{8,64})\Z", path.stem)
    return found[1] if found else None


def recognises(head: bytes) -> bool:
    head = compact(head)
    first = head.lstrip().split(b"\n", 1)[0]
    if b'"type":"session"' in first[:200] and b'"cwd"' in first:
        return True
    return b'"role":"toolResult"' in head or (
        b'"type":"message"' in head and b'"parentId":' in head and b'"stopReason":' in head
    )


def discover() -> Iterator[Source]:
    """Session files below Pi's folder, newest first."""
    home = os.environ.get("PI_CODING_AGENT_DIR") or str(Path.home() / ".pi" / "agent")
    folder = os.environ.get("PI_CODING_AGENT_SESSION_DIR") or str(Path(home) / "sessions")
    yield from found(AGENT, Path(folder), "**/*.jsonl", _id_in)


def open_session(source: Source, refs: Refs) -> PiSession:
    return PiSession(source, refs)


FORMAT: Final = Format(AGENT, recognises, discover, open_session)
