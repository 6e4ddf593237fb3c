"""Gemini's records, as far as they are decoded. Allow-lists only: no thoughts, no signatures."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

NULL = Raw(b"null")


class ToolCall(Struct, rename="camel"):
    id: str | None = None
    name: str | None = None
    args: Raw = NULL
    status: str | None = None
    result: Any = None
    timestamp: str | int | None = None


class Record(Struct, rename="camel"):
    """A message, a header, or a change (`$set`, `$rewindTo`)."""

    id: str | None = None
    timestamp: str | int | None = None
    type: str | None = None
    content: Any = None
    tool_calls: list[ToolCall] | None = None
    # header
    session_id: str | None = None
    start_time: str | None = None
    kind: str | None = None
    messages: list[Message] | None = None


class Message(Struct, rename="camel"):
    id: str | None = None
    timestamp: str | int | None = None
    type: str | None = None
    content: Any = None
    tool_calls: list[ToolCall] | None = None


class Change(Struct):
    messages: list[Message] | None = None


class Line(Record, rename={"set_": "$set", "rewind_to": "$rewindTo", "tool_calls": "toolCalls",
                           "session_id": "sessionId", "start_time": "startTime"}):  # fmt: skip
    set_: Change | None = None
    rewind_to: str | None = None


class FunctionCall(Struct):
    id: str | None = None
    name: str | None = None
    args: Raw = NULL


class FunctionResponse(Struct):
    id: str | None = None
    name: str | None = None
    response: Any = None


class Part(Struct, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None


class Turn(Struct):
    """Of a raw history: no ids, no times."""

    role: str | None = None
    parts: list[Part] = []
