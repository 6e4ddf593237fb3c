"""Codex rollouts of three generations, and the stream of `exec --json`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wayfinder.adapters.codex import rules
from wayfinder.reducer.vocabulary.observation import (
    Called,
    NoteCode,
    Noted,
    Planned,
    PlanState,
    Prompted,
    Settled,
    SettleReason,
)
from wayfinder.reducer.vocabulary.terms import EpisodeKind, FactKind, Outcome

THREAD = "019da9bd-7cbb-7d22-b21c-80faf72e7f8a"


class Codex:
    def __init__(self, **meta: Any) -> None:
        self.lines: list[dict[str, Any]] = []
        self.add("session_meta", id=THREAD, cwd="/home/dev/shop", cli_version="0.121.0",
                 base_instructions={"text": "hidden"}, **meta)  # fmt: skip

    def add(self, type_: str, **payload: Any) -> None:
        stamp = f"2026-04-20T07:00:{len(self.lines):02d}.000Z"
        self.lines.append({"timestamp": stamp, "type": type_, "payload": payload})

    def event(self, kind: str, **payload: Any) -> None:
        self.add("event_msg", type=kind, **payload)

    def item(self, kind: str, **item: Any) -> None:
        self.event("item_completed", turn_id="t", item={"type": kind, **item})

    def call(self, call: str, name: str, args: dict[str, Any]) -> None:
        self.add("response_item", type="function_call", name=name, call_id=call,
                 arguments=json.dumps(args))  # fmt: skip

    def output(self, call: str, output: Any) -> None:
        self.add("response_item", type="function_call_output", call_id=call, output=output)

    def ended(self, call: str, command: str, code: int, output: str = "") -> None:
        self.event("exec_command_end", call_id=call, command=["/bin/zsh", "-lc", command],
                   exit_code=code, status="failed" if code else "completed",
                   aggregated_output=output)  # fmt: skip


@pytest.fixture
def codex() -> Codex:
    return Codex()


def test_an_action_is_told_once_by_whichever_end_comes_first(codex: Codex, read: Any) -> None:
    """End before output, output before end, item, or output alone: one call each."""
    codex.event("user_message", message="go")
    codex.call("a", "exec_command", {"cmd": "make"})
    codex.ended("a", "make", 2, "make: *** boom")
    codex.output("a", "Process exited with code 2\nOutput:\nmake: *** boom")
    codex.call("b", "exec_command", {"cmd": "ls"})
    codex.output("b", "Wall time: 0\nProcess exited with code 0\nOutput:\na")
    codex.ended("b", "ls", 0)
    codex.call("c", "exec_command", {"cmd": "cat x"})
    codex.item("CommandExecution", id="c", command=["/bin/bash", "-lc", "cat x"], exit_code=1,
               status="failed", aggregated_output="cat: x: No such file or directory")  # fmt: skip
    codex.output("c", "Process exited with code 1\nOutput:\n")
    codex.call("d", "view_image", {"path": "a.png"})
    codex.output("d", "attached")
    calls = read("codex", codex.lines).of(Called)
    assert [(c.call_id, c.outcome) for c in calls] == [
        ("a", Outcome.FAILED), ("b", Outcome.OK), ("c", Outcome.FAILED), ("d", Outcome.OK),
    ]  # fmt: skip


def test_polling_is_silent_and_a_background_command_ends_once(codex: Codex, read: Any) -> None:
    """`write_stdin` has no consequences; the command it waited for has."""
    codex.event("user_message", message="go")
    codex.call("a", "exec_command", {"cmd": "go test ./..."})
    codex.output("a", "Process running with session ID 7\nOutput:\n")
    for number in range(3):
        codex.call(f"w{number}", "write_stdin", {"session_id": 7, "chars": ""})
        codex.output(f"w{number}", "Process running with session ID 7\nOutput:\n")
    codex.call("w9", "write_stdin", {"session_id": 7, "chars": ""})
    codex.output("w9", "Process exited with code 1\nOutput:\n--- FAIL: TestA (0.1s)")
    codex.ended("a", "go test ./...", 1, "--- FAIL: TestA (0.1s)")
    calls = read("codex", codex.lines).of(Called)
    polls = [call for call in calls if call.tool == "write_stdin"]
    assert len(polls) == 4 and all(p.outcome is Outcome.OK and p.signature is None for p in polls)
    (command,) = [call for call in calls if call.call_id == "a"]
    assert (command.kind, command.outcome) == (EpisodeKind.TEST, Outcome.FAILED)


def test_injected_context_is_no_prompt(codex: Codex, read: Any) -> None:
    """`role: user` messages hold context; prompts come as events or items, each once."""
    codex.add("response_item", type="message", role="user",
              content=[{"type": "input_text", "text": "<environment_context>"}])  # fmt: skip
    codex.event("user_message", message="go", turn_id="t")
    codex.item("UserMessage", id="u", content=[{"type": "text", "text": "go"}])
    assert [p.line for p in read("codex", codex.lines).of(Prompted)] == ["go"]


def test_turns_end_as_the_events_say(codex: Codex, read: Any) -> None:
    """Complete, aborted, or stopped by an error of the provider."""
    codex.event("task_complete", last_agent_message="ok")
    codex.event("turn_aborted", reason="interrupted")
    codex.event("error", message="usage limit reached")
    codex.event("task_complete", last_agent_message=None)
    reasons = [s.reason for s in read("codex", codex.lines).of(Settled)]
    assert reasons == [SettleReason.STOP, SettleReason.ABORTED, SettleReason.RATE_LIMIT]


def test_a_compaction_never_recounts_its_history(codex: Codex, read: Any) -> None:
    """`replacement_history` replays old items and is not decoded."""
    old = {"type": "function_call", "name": "exec_command", "call_id": "old", "arguments": "{}"}
    codex.add("compacted", message="summary", replacement_history=[old])
    codex.item("ContextCompaction", id="x")
    found = read("codex", codex.lines)
    assert [note.code for note in found.of(Noted)] == [NoteCode.COMPACTION]
    assert not found.of(Called)


def test_patches_name_their_files_and_say_when_they_fail(codex: Codex, read: Any) -> None:
    """Paths come from the patch's headers; its lines are not looked at."""
    patch = "*** Begin Patch\n*** Update File: src/a.go\n@@\n-old\n+new\n*** End Patch"
    for call in ("p1", "p2"):
        codex.add(
            "response_item", type="custom_tool_call", name="apply_patch", call_id=call, input=patch
        )
    codex.event(
        "patch_apply_end", call_id="p1", success=True, changes={"/home/dev/shop/src/a.go": {}}
    )
    codex.add("response_item", type="custom_tool_call_output", call_id="p2",
              output="apply_patch verification failed: Failed to find expected lines")  # fmt: skip
    good, bad = read("codex", codex.lines).of(Called)
    assert (good.outcome, len(good.files_changed)) == (Outcome.OK, 1)
    assert (bad.outcome, len(bad.files_changed)) == (Outcome.TOOL_ERROR, 0)
    assert [f.name for f in good.facts if f.kind is FactKind.FILE] == ["src/a.go"]


def test_update_plan_is_the_plan(codex: Codex, read: Any) -> None:
    plan = [{"step": "look", "status": "completed"}, {"step": "mend", "status": "in_progress"}]
    codex.call("a", "update_plan", {"plan": plan})
    codex.output("a", "Plan updated")
    (planned,) = read("codex", codex.lines).of(Planned)
    assert [(i.text, i.state) for i in planned.items] == [
        ("look", PlanState.DONE), ("mend", PlanState.ACTIVE),
    ]  # fmt: skip


def test_a_child_thread_is_a_session_with_a_parent(read: Any) -> None:
    child = Codex(parent_thread_id="01a22f0e-68d8-7e10-aca8-c373b427f117")
    child.item("UserMessage", id="u", content=[{"type": "text", "text": "count"}])
    found = read("codex", child.lines)
    assert found.info.relation == "subagent" and found.of(Prompted)[0].machine


def test_files_of_early_2025_have_no_envelope(read: Any) -> None:
    """Unwrapped items, prompts from messages, exit codes in JSON inside the output."""
    out = json.dumps({"output": "boom", "metadata": {"exit_code": 1, "duration_seconds": 0.1}})
    lines = [
        {"id": THREAD, "timestamp": "2025-06-01T00:00:00.000Z", "instructions": None},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "function_call", "name": "shell", "call_id": "a",
         "arguments": json.dumps({"command": ["bash", "-lc", "make"]})},
        {"type": "function_call_output", "call_id": "a", "output": out},
    ]  # fmt: skip
    found = read("codex", lines)
    assert [p.line for p in found.of(Prompted)] == ["go"]
    (call,) = found.of(Called)
    assert (call.kind, call.outcome) == (EpisodeKind.BUILD, Outcome.FAILED)


def test_the_exec_stream_has_no_times_and_reads_too(read: Any) -> None:
    item = {"id": "i1", "type": "command_execution", "command": "/bin/bash -lc 'make'",
            "aggregated_output": "boom", "exit_code": 2, "status": "failed"}  # fmt: skip
    lines = [
        {"type": "thread.started", "thread_id": THREAD},
        {"type": "item.started", "item": item},
        {"type": "item.completed", "item": item},
        {"type": "turn.completed", "usage": {}},
    ]
    found = read("codex", lines)
    (call,) = found.of(Called)
    assert (call.kind, call.outcome) == (EpisodeKind.BUILD, Outcome.FAILED)
    assert found.info.session_id == f"codex-{THREAD}"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Process exited with code 0\nOutput:\nerror: none", Outcome.OK),
        ("unsupported call: nope", Outcome.TOOL_ERROR),
        ("exec command rejected by user", Outcome.REFUSED_BY_USER),
        ("aborted by user after 3.1s", Outcome.ABORTED),
        ("plain text of a tool", Outcome.OK),
    ],
)
def test_how_an_output_without_an_end_event_ended(text: str, outcome: Outcome) -> None:
    assert rules.outcome_of_output(rules.output(text)) is outcome
