"""The lines of a Claude Code transcript, as far as they are decoded. Allow-lists only."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

NULL = Raw(b"null")


class Block(Struct):
    """A content block; of a thinking block nothing but its type is decoded."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = NULL
    tool_use_id: str | None = None
    content: Any = None
    is_error: bool | None = None


class Message(Struct):
    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    stop_reason: str | None = None


class Origin(Struct):
    kind: str | None = None


class Attachment(Struct):
    type: str = ""
    prompt: Any = None
    commandMode: str | None = None


class Line(Struct, rename="camel"):
    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | int | None = None
    cwd: str | None = None
    version: str | None = None
    agent_id: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    api_error_status: int | None = None
    error: Any = None
    message: Message | None = None
    tool_use_result: Raw = NULL
    turn_origin: str | None = None
    prompt_source: str | None = None
    origin: Origin | None = None
    attachment: Attachment | None = None


class Result(Struct, rename="camel"):
    """`toolUseResult`, of the tools where it says more than the text."""

    total_tool_use_count: int | None = None
    interrupted: bool | None = None
    task: Any = None


# Lines that keep the program's own books. Known, and nothing to see.
BOOKKEEPING = frozenset({
    "summary", "file-history-snapshot", "queue-operation", "last-prompt", "ai-title", "progress",
    "custom-title", "mode", "pr-link", "api-request", "api-request-blob", "api-request-shape",
    "tools-used", "atis-latch", "cost-state", "attachment", "system", "agent-name", "tag",
    "permission-mode", "worktree-state", "context-collapse", "session-info", "agent-setting",
    "file-history-delta", "agent-color", "bridge-session", "result", "rate_limit_event",
})  # fmt: skip
