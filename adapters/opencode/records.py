"""OpenCode's messages and parts, as far as they are decoded. Allow-lists only."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

NULL = Raw(b"null")


class Time(Struct):
    created: float | None = None
    completed: float | None = None
    start: float | None = None
    end: float | None = None


class Error(Struct):
    name: str = ""
    data: Any = None


class Info(Struct, rename={"parent_id": "parentID"}):
    """Of a session or of a message."""

    id: str = ""
    parent_id: str | None = None
    directory: str | None = None
    version: str | None = None
    role: str | None = None
    finish: str | None = None
    error: Error | None = None
    summary: Any = None
    time: Time | None = None


class Metadata(Struct, rename="camel"):
    """Of a tool's state. `summary`: calls of a sub-agent, in versions that list them."""

    exit: Any = None
    summary: Any = None
    redacted: Any = None


class State(Struct):
    status: str = ""
    input: Raw = NULL
    output: str | None = None
    error: Any = None
    metadata: Raw = NULL
    time: Time | None = None


class Part(Struct, rename={"call_id": "callID", "message_id": "messageID"}):
    """Of a reasoning part nothing but its type is looked at."""

    type: str = ""
    id: str | None = None
    message_id: str | None = None
    tool: str | None = None
    call_id: str | None = None
    state: State | None = None
    text: str | None = None
    synthetic: bool | None = None
    ignored: bool | None = None


class Message(Struct):
    info: Info
    parts: list[Part] = []


class Export(Struct):
    info: Info
    messages: list[Message] = []
