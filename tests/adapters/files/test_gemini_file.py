"""Gemini CLI sessions: JSONL with replay rules, single documents, raw histories."""

from __future__ import annotations

import json
from typing import Any

from wayfinder.reducer.vocabulary.observation import (
    Called,
    NoteCode,
    Noted,
    Planned,
    Prompted,
    Settled,
    SettleReason,
)
from wayfinder.reducer.vocabulary.terms import EpisodeKind, Outcome

HEADER = {"sessionId": "7ca5a6f5-0000-4000-8000-000000000001", "projectHash": "ab",
          "startTime": "2026-01-01T00:00:00.000Z", "kind": "main"}  # fmt: skip


def user(own: str, text: str) -> dict[str, Any]:
    return {"id": own, "timestamp": "2026-01-01T00:00:01.000Z", "type": "user",
            "content": [{"text": text}]}  # fmt: skip


def shell(call: str, command: str, output: str) -> dict[str, Any]:
    response = {"functionResponse": {"response": {"output": output}}}
    return {"id": call, "name": "run_shell_command", "args": {"command": command},
            "status": "success", "result": [response],
            "timestamp": "2026-01-01T00:00:03.000Z"}  # fmt: skip


def gemini(own: str, text: str, *calls: dict[str, Any]) -> dict[str, Any]:
    record = {"id": own, "timestamp": "2026-01-01T00:00:02.000Z", "type": "gemini",
              "content": text, "thoughts": [{"description": "hidden"}]}  # fmt: skip
    return {**record, "toolCalls": list(calls)} if calls else record


def test_the_last_record_of_an_id_counts_and_each_call_once(read: Any) -> None:
    """A reply is appended again when its calls are known; a failed command says so in its text."""
    call = shell("c1", "npm test", "<untrusted_context>\nOutput: 1 failing\nExit Code: 1\n")
    lines = [
        HEADER,
        {"$set": {"messages": [user("u0", "<session_context>\nhello")]}},
        user("u1", "check"),
        gemini("g1", "I look"),
        gemini("g1", "I look", {**call, "status": "executing", "result": []}),
        gemini("g1", "I look", call),
        gemini("g1", "I look", call),
        {"$set": {"lastUpdated": "x"}},
        gemini("g2", "Done."),
        user("u2", "thanks"),
    ]
    found = read("gemini", lines)
    assert [p.line for p in found.of(Prompted)] == ["check", "thanks"]
    (called,) = found.of(Called)
    assert (called.kind, called.outcome) == (EpisodeKind.TEST, Outcome.FAILED)
    assert [s.reason for s in found.of(Settled)] == [SettleReason.STOP]
    assert not found.skips.lost and not found.skips.unknown


def test_rewinds_errors_and_cancels(read: Any) -> None:
    """What the program says to the person ends the turn."""
    lines = [
        HEADER,
        user("u1", "go"),
        {"$rewindTo": "u1"},
        {"id": "e", "type": "error", "content": "[API Error: 429 RESOURCE_EXHAUSTED]"},
        {"id": "i", "type": "info", "content": "Request cancelled."},
    ]
    found = read("gemini", lines)
    assert [n.code for n in found.of(Noted)] == [NoteCode.BRANCH]
    assert [s.reason for s in found.of(Settled)] == [
        SettleReason.RATE_LIMIT,
        SettleReason.ABORTED,
    ]


def test_a_single_document_reads_like_its_lines(read: Any) -> None:
    """Before 0.39 a session was one pretty-printed object."""
    todos = {"id": "t", "name": "write_todos", "status": "success", "result": [],
             "args": {"todos": [{"description": "look", "status": "in_progress"}]}}  # fmt: skip
    document = {**HEADER, "messages": [user("u1", "go"), gemini("g1", "", todos)]}
    found = read("gemini", [json.dumps(document, indent=2)], name="s.json")
    assert len(found.of(Prompted)) == 1
    assert [i.text for i in found.of(Planned)[0].items] == ["look"]


def test_a_raw_history_has_neither_ids_nor_times(read: Any) -> None:
    """Calls and responses are joined by id or by name; a snapshot notes a compaction."""
    denied = {"error": "[Operation Cancelled] Reason: User denied execution."}
    turns = [
        {"role": "user", "parts": [{"text": "<state_snapshot>…</state_snapshot>"}]},
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [
            {"text": "hidden", "thought": True},
            {"functionCall": {"name": "run_shell_command", "args": {"command": "rm x"}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "run_shell_command", "response": denied}}]},
    ]  # fmt: skip
    found = read("gemini", [json.dumps(turns)], name="history.json")
    assert [n.code for n in found.of(Noted)] == [NoteCode.COMPACTION]
    assert [c.outcome for c in found.of(Called)] == [Outcome.REFUSED_BY_USER]
    assert found.of(Called)[0].at == 0
