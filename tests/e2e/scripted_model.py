"""A model that says what a script says: an OpenAI-compatible server on loopback, stdlib only.

A script is a list of turns; each request of the agent consumes one. A turn is a dict, or a
function of the request's messages that returns one:

    {"text": "…", "calls": [{"name": "bash", "args": {…}, "id": "call_07"}],
     "delay_ms": 0, "status": 503, "expect": ["…"], "forbid": ["…"], "again": False}

`again` keeps the turn for the next request too, so that a script can wait for something without
a clock. `expect` and `forbid` are looked for in the request's text; what fails is kept in
`failures`, never raised into the agent. Every request is kept in `requests`, and in the log.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

Turn = dict[str, Any] | Callable[[list[dict[str, Any]]], dict[str, Any]]

MODEL = "scripted-1"
CHUNK_CHARS = 400


class ScriptedModel:
    """`with ScriptedModel(turns) as model: … model.base_url`; serves in a thread of its own."""

    def __init__(self, turns: list[Turn], log: Path | None = None) -> None:
        self.turns = list(turns)
        self.requests: list[dict[str, Any]] = []
        self.failures: list[str] = []
        self.port = 0
        self._at = 0
        self._log = log
        self._ready = threading.Event()
        self._stop: Callable[[], None] = lambda: None
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> ScriptedModel:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        over = asyncio.Event()
        loop = asyncio.get_running_loop()
        server = await asyncio.start_server(self._answer, "127.0.0.1", 0, limit=64 << 20)
        self.port = server.sockets[0].getsockname()[1]
        self._stop = lambda: loop.call_soon_threadsafe(over.set)
        self._ready.set()
        await over.wait()
        server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = next(
                (int(line.split(":")[1]) for line in head.lower().split("\r\n")
                 if line.startswith("content-length:")), 0)  # fmt: skip
            body = json.loads(await reader.readexactly(length) or b"{}")
            turn = self._next(body)
            await asyncio.sleep(turn.get("delay_ms", 0) / 1000)
            if turn.get("status"):
                _plain_error(writer, turn["status"])
            else:
                _stream(writer, turn)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the agent was aborted or killed: part of some tests
        finally:
            writer.close()

    def _next(self, body: dict[str, Any]) -> dict[str, Any]:
        number = len(self.requests)
        self.requests.append(body)
        if self._at >= len(self.turns):
            turn: dict[str, Any] = {"text": "(the script is over)"}
            self.failures.append(f"request {number}: beyond the script's end")
        else:
            wanted = self.turns[self._at]
            turn = wanted(body["messages"]) if callable(wanted) else wanted
            self._at += 0 if turn.get("again") else 1
        text = json.dumps(body, ensure_ascii=False)
        for part in turn.get("expect", ()):
            if part not in text:
                self.failures.append(f"request {number}: {part!r} not found")
        for part in turn.get("forbid", ()):
            if part in text:
                self.failures.append(f"request {number}: {part!r} found")
        if self._log is not None:
            with self._log.open("a", encoding="utf-8") as log:
                log.write(json.dumps({"request": number, "body": body}) + "\n")
        return turn


def text_of(messages: list[dict[str, Any]], role: str | None = None) -> list[str]:
    """The texts of a request's messages, in order."""
    texts: list[str] = []
    for message in messages:
        if role is not None and message["role"] != role:
            continue
        content = message.get("content") or ""
        parts = [content] if isinstance(content, str) else [p.get("text", "") for p in content]
        texts.append("\n".join(parts))
    return texts


class Patient:
    """Turns that go on only when every declaration was answered, however slow the machine.

    Where the tool said `queued`, a call that does nothing is made until the late answer stands in
    a request. `waits` counts those calls.
    """

    def __init__(self, turns: list[Turn]) -> None:
        self.waits = 0
        self._told: set[str] = set()
        self.turns: list[Turn] = [self._patiently(turn) for turn in turns]

    def _patiently(self, turn: Turn) -> Turn:
        def act(messages: list[dict[str, Any]]) -> dict[str, Any]:
            self._told |= set(re.findall(r"Your queued \w+ call ([\w.-]+):", _all_text(messages)))
            queued = {
                message["tool_call_id"]
                for message in messages
                if message["role"] == "tool" and _all_text([message]).startswith("queued;")
            }
            if queued - self._told:
                self.waits += 1
                idle = {"name": "bash", "args": {"command": "sleep 0.1"}}
                return {"again": True, "calls": [{**idle, "id": f"wait_{len(messages)}"}]}
            return turn(messages) if callable(turn) else turn

        return act


def _all_text(messages: list[dict[str, Any]]) -> str:
    return "\n".join(text_of(messages))


def _plain_error(writer: asyncio.StreamWriter, status: int) -> None:
    body = json.dumps({"error": {"message": f"scripted {status}", "type": "server_error"}}).encode()
    writer.write(
        f"HTTP/1.1 {status} Scripted\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
        + body
    )


def _stream(writer: asyncio.StreamWriter, turn: dict[str, Any]) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    for delta, finish in _deltas(turn):
        _event(writer, {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    _event(writer, {"choices": [], "usage": usage})
    writer.write(b"data: [DONE]\n\n")


def _deltas(turn: dict[str, Any]) -> list[tuple[dict[str, Any], str | None]]:
    """The shape providers really stream: role, text pieces, each call's head, its fragments."""
    deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": ""}, None)]
    text: str = turn.get("text", "")
    deltas += [({"content": piece}, None) for piece in _pieces(text)]
    calls: list[dict[str, Any]] = turn.get("calls", [])
    for index, call in enumerate(calls):
        function = {"name": call["name"], "arguments": ""}
        head = {"index": index, "id": call["id"], "type": "function", "function": function}
        deltas.append(({"tool_calls": [head]}, None))
        for piece in _pieces(json.dumps(call["args"], ensure_ascii=False)):
            deltas.append(
                ({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}, None)
            )
    deltas.append(({}, "tool_calls" if calls else "stop"))
    return deltas


def _pieces(text: str) -> list[str]:
    return [text[i : i + CHUNK_CHARS] for i in range(0, len(text), CHUNK_CHARS)]


def _event(writer: asyncio.StreamWriter, body: dict[str, Any]) -> None:
    whole = {"id": "scripted", "object": "chat.completion.chunk", "model": MODEL, **body}
    writer.write(b"data: " + json.dumps(whole).encode() + b"\n\n")
