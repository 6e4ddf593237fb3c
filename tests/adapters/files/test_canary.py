"""What must never leave: a marker planted everywhere hidden things sit is found in no observation.

Reasoning at any depth, tool output, environment dumps, exception texts: in every agent's own shape.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wayfinder.adapters.normalise.clean import Cleaner
from wayfinder.daemon.redact.client import RedactorClient, TextOnly
from wayfinder.reducer.vocabulary.codec import encode
from wayfinder.reducer.vocabulary.observation import Called

AGENTS = ("pi", "claude", "codex", "gemini", "opencode")
REASONING = ("thinking", "reasoning", "thought", "thinkingSignature", "encrypted_content",
             "reasoning_content", "thoughts", "signature")  # fmt: skip


def marker() -> str:
    """Looks like nothing and like a secret: letters and digits, made for this run."""
    return "canary" + secrets.token_hex(12)


def nested(mark: str, depth: int) -> Any:
    """Every reasoning field and block, `depth` levels down."""
    core: Any = {"type": "thinking", "thinking": mark, "text": mark}
    for key in REASONING:
        core = {"inner": core, key: mark}
    for _ in range(depth):
        core = {"results": [{"messages": [{"role": "assistant", "content": [core]}]}]}
    return core


def pi(mark: str, depth: int) -> list[Any]:
    hidden = nested(mark, depth)
    thinking = {"type": "thinking", "thinking": mark, "thinkingSignature": mark}
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "run it"},
            "thoughtSignature": mark, **hidden}  # fmt: skip
    return [
        {"type": "session", "id": "01a22f00-aaaa-7000-8000-000000000001", "cwd": "/x", **hidden},
        {"type": "custom", "customType": "x", "data": hidden},
        {"type": "message", "id": "1", "parentId": None, "message": {
            "role": "assistant", "content": [thinking, call], "stopReason": "toolUse", **hidden}},
        {"type": "message", "id": "2", "parentId": "1", "message": {
            "role": "toolResult", "toolCallId": "c1", "toolName": "bash", "isError": True,
            "details": hidden, "content": [thinking, {"type": "text", "text": output(mark)}]}},
    ]  # fmt: skip


def claude(mark: str, depth: int) -> list[Any]:
    hidden = nested(mark, depth)
    base = {"sessionId": "9d0c0000-0000-4000-8000-000000000001", "isSidechain": False, "cwd": "/x",
            "uuid": "u", "timestamp": "2026-01-01T00:00:00Z"}  # fmt: skip
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "run it", **hidden}}
    blocks = [{"type": "thinking", "thinking": mark, "signature": mark},
              {"type": "redacted_thinking", "data": mark}, use]  # fmt: skip
    result = {"type": "tool_result", "tool_use_id": "t1", "is_error": True,
              "content": "Exit code 1\n" + output(mark)}  # fmt: skip
    return [
        {**base, "type": "attachment", "attachment": {"type": "prompt_snapshot", "x": mark}},
        {**base, "type": "progress", "data": {"message": hidden, "output": mark}},
        {**base, "type": "assistant", "message": {"id": "m", "content": blocks, **hidden}},
        {**base, "type": "user", "message": {"content": [result]}, "toolUseResult": hidden},
    ]


def codex(mark: str, depth: int) -> list[Any]:
    hidden = nested(mark, depth)
    return [
        {"type": "session_meta", "payload": {"id": "x1", "base_instructions": {"text": mark}}},
        {"type": "response_item", "payload": {"type": "reasoning", "summary": [{"text": mark}],
                                              "encrypted_content": mark, **hidden}},
        {"type": "event_msg", "payload": {"type": "agent_reasoning", "text": mark}},
        {"type": "event_msg", "payload": {"type": "item_completed", "item": {
            "type": "Reasoning", "id": "r", "content": [{"text": mark}], **hidden}}},
        {"type": "compacted", "payload": {"message": mark, "replacement_history": [hidden]}},
        {"type": "response_item", "payload": {"type": "function_call", "name": "exec_command",
            "call_id": "c", "arguments": json.dumps({"cmd": "run it", **hidden})}},
        {"type": "event_msg", "payload": {"type": "exec_command_end", "call_id": "c",
            "command": ["bash", "-lc", "run it"], "exit_code": 1, "status": "failed",
            "aggregated_output": output(mark), **hidden}},
    ]  # fmt: skip


def gemini(mark: str, depth: int) -> list[Any]:
    hidden = nested(mark, depth)
    call = {"id": "c", "name": "run_shell_command", "args": {"command": "run it", **hidden},
            "status": "success", "resultDisplay": mark, "result": [{"functionResponse": {
                "response": {"output": output(mark) + "\nExit Code: 1\n", **hidden}}}]}  # fmt: skip
    return [
        {"sessionId": "s1", "projectHash": "x", "startTime": "2026-01-01T00:00:00Z"},
        {"id": "g", "type": "gemini", "content": [{"text": mark, "thought": True}],
         "thoughts": [{"description": mark}], "toolCalls": [call], **hidden},
    ]  # fmt: skip


def opencode(mark: str, depth: int) -> list[Any]:
    hidden = nested(mark, depth)
    bash = {"type": "tool", "tool": "bash", "callID": "c", "id": "p", "state": {
        "status": "completed", "input": {"command": "run it", **hidden}, "output": output(mark),
        "metadata": {"exit": 1, "output": output(mark), **hidden}, "title": mark}}  # fmt: skip
    parts = [{"type": "reasoning", "text": mark, **hidden}, bash]
    message = {"info": {"id": "m", "role": "assistant", **hidden}, "parts": parts}
    return [json.dumps({"info": {"id": "ses_1", "title": mark}, "messages": [message]})]


def output(mark: str) -> str:
    """Ordinary lines, an environment dump, an exception, and an error with the marker in it."""
    name = "SERVICE_" + "TOKEN"
    return "\n".join([
        f"reading {mark}",
        f"{name}={mark}",
        f"export {name}={mark}",
        "Traceback (most recent call last):",
        f"ValueError: could not use {mark}",
        f"  config = {{'password': '{mark}'}}",
    ])  # fmt: skip


BUILDERS = {"pi": pi, "claude": claude, "codex": codex, "gemini": gemini, "opencode": opencode}


@pytest.fixture(scope="module")
def real_cleaner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cleaner]:
    """The redactor as it runs, worker and all; without its second opinion, slow to load."""
    with RedactorClient(cache_dir=tmp_path_factory.mktemp("c"), second_opinion=False) as client:
        yield Cleaner(TextOnly(client))


@pytest.mark.parametrize("depth", range(1, 7))
@pytest.mark.parametrize("agent", AGENTS)
def test_nothing_hidden_is_in_any_observation(
    agent: str, depth: int, tmp_path: Path, open_path: Any, real_cleaner: Cleaner
) -> None:
    """Whatever was hidden, printed or raised: the marker is in none of the bytes that leave."""
    mark = marker()
    path = tmp_path / "session.jsonl"
    lines = [x if isinstance(x, str) else json.dumps(x) for x in BUILDERS[agent](mark, depth)]
    path.write_text("\n".join(lines) + "\n")
    seen = list(open_path(agent, path, real_cleaner))
    assert any(isinstance(each, Called) for each in seen), "the call itself must be seen"
    stored = b"\n".join(map(encode, seen))
    assert mark.encode() not in stored
    assert mark[:12].encode() not in stored
