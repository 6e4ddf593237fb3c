"""Claude Code transcripts as the program writes them."""

from __future__ import annotations

from typing import Any

import pytest

from wayfinder.adapters.claude import rules
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
from wayfinder.reducer.vocabulary.terms import EpisodeKind, Outcome


class Claude:
    """Builds a transcript line by line."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.parent: str | None = None

    def add(self, type_: str, **fields: Any) -> dict[str, Any]:
        number = len(self.lines)
        line = {"parentUuid": self.parent, "isSidechain": False, "cwd": "/home/dev/shop",
                "sessionId": "9d0c0000-0000-4000-8000-000000000001", "version": "2.1.12",
                "type": type_, "uuid": f"u{number}",
                "timestamp": f"2026-01-01T00:00:{number % 60:02d}.000Z", **fields}  # fmt: skip
        self.parent = line["uuid"]
        self.lines.append(line)
        return line

    def user(self, content: Any, **more: Any) -> dict[str, Any]:
        return self.add("user", message={"role": "user", "content": content}, **more)

    def call(
        self, call: str, name: str, args: dict[str, Any], reply: str = "msg_1", **more: Any
    ) -> None:
        block = {"type": "tool_use", "id": call, "name": name, "input": args}
        message = {
            "id": reply,
            "model": "m",
            "role": "assistant",
            "content": [block],
            "stop_reason": None,
        }
        self.add("assistant", message=message, **more)

    def text(self, text: str, stop: str | None = None, reply: str = "msg_9", **more: Any) -> None:
        block = {"type": "text", "text": text}
        message = {
            "id": reply,
            "model": "m",
            "role": "assistant",
            "content": [block],
            "stop_reason": stop,
        }
        message |= more.pop("message", {})
        self.add("assistant", message=message, **more)

    def result(self, call: str, text: Any, *, error: bool = False, **more: Any) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": error}
        self.user([block], **more)


@pytest.fixture
def claude() -> Claude:
    return Claude()


def test_a_reply_over_several_lines_is_one_reply(claude: Claude, read: Any) -> None:
    """Blocks of one message id share the entry id; results carry outcome and facts."""
    claude.user("fix it")
    claude.call("t1", "Bash", {"command": "go test ./..."})
    claude.call("t2", "Read", {"file_path": "/home/dev/shop/a.go"})
    claude.result("t1", "Exit code 1\n--- FAIL: TestX (0.00s)\nFAIL", error=True)
    claude.result("t2", "package a")
    claude.text("done", stop="end_turn")
    claude.text("more", stop="end_turn")
    found = read("claude", claude.lines)
    test, look = found.of(Called)
    assert (test.kind, test.outcome) == (EpisodeKind.TEST, Outcome.FAILED)
    assert test.entry_id == look.entry_id == "msg_1"
    assert test.signature.sample == "--- FAIL: TestX (#.#)"
    assert [s.reason for s in found.of(Settled)] == [SettleReason.STOP]


@pytest.mark.parametrize(
    ("tool", "text", "outcome"),
    [
        ("Bash", "Exit code 2\nboom", Outcome.FAILED),
        ("Bash", "ls: cannot access 'x': No such file or directory", Outcome.FAILED),
        ("Edit", "<tool_use_error>File has not been read yet.</tool_use_error>",
         Outcome.TOOL_ERROR),
        ("Edit", "<tool_use_error>Sibling tool call errored</tool_use_error>",
         Outcome.SIBLING_FAILED),
        ("Edit", "The user doesn't want to proceed with this tool use.", Outcome.REFUSED_BY_USER),
        ("Write", "Claude requested permissions to write to /x, but you haven't granted it yet.",
         Outcome.BLOCKED_BY_POLICY),
        ("Task", "[Request interrupted by user for tool use]", Outcome.ABORTED),
        ("Bash", "PreToolUse:Bash hook blocked this call", Outcome.BLOCKED_BY_POLICY),
    ],
)  # fmt: skip
def test_how_a_flagged_result_ended(tool: str, text: str, outcome: Outcome) -> None:
    """Each of the program's sentences is an outcome of its own."""
    assert rules.outcome(tool, text, is_error=True, interrupted=False) is outcome


def test_what_only_looks_like_a_prompt_is_none(claude: Claude, read: Any) -> None:
    """Meta lines, summaries, local commands, their output and bash lines ask for nothing."""
    claude.user("real")
    claude.user("meta", isMeta=True)
    claude.user("This session is being continued", isCompactSummary=True)
    claude.user("<command-name>/exit</command-name>\n<command-message>exit</command-message>")
    claude.user("<local-command-stdout>Bye</local-command-stdout>")
    claude.user("<bash-input>ls</bash-input>")
    claude.user("<command-message>review</command-message>\n<command-name>/review</command-name>\n"
                "<command-args>src</command-args>")  # fmt: skip
    found = read("claude", claude.lines)
    assert [prompt.line for prompt in found.of(Prompted)] == ["real", "/review src"]


def test_a_local_looking_command_that_reaches_the_model_is_a_prompt(
    claude: Claude, read: Any
) -> None:
    """What follows decides: an expansion or a reply."""
    claude.user("<command-name>/plan</command-name>\n<command-message>plan</command-message>")
    claude.text("planning")
    assert [p.line for p in read("claude", claude.lines).of(Prompted)] == ["/plan"]


def test_notifications_are_asked_by_nobody(claude: Claude, read: Any) -> None:
    """A finished background task opens a turn that no person typed."""
    note = '<task-notification>\n<summary>Agent "count" finished</summary>\n</task-notification>'
    claude.user(note, turnOrigin="task_notification")
    (prompt,) = read("claude", claude.lines).of(Prompted)
    assert prompt.machine and prompt.line == 'Agent "count" finished'


def test_an_interrupt_settles_the_turn(claude: Claude, read: Any) -> None:
    """The line that says so is no prompt."""
    claude.user("go")
    claude.user([{"type": "text", "text": "[Request interrupted by user]"}])
    found = read("claude", claude.lines)
    assert len(found.of(Prompted)) == 1
    assert found.of(Settled)[0].reason is SettleReason.ABORTED


def test_a_reply_the_program_wrote_says_why_the_turn_ended(claude: Claude, read: Any) -> None:
    """Rate limits and outages are not the agent's work."""
    claude.user("go")
    claude.text("You've hit your limit", isApiErrorMessage=True, error="rate_limit",
                apiErrorStatus=429, message={"model": "<synthetic>"})  # fmt: skip
    claude.text("API Error: 529 overloaded", message={"model": "<synthetic>"})
    reasons = [s.reason for s in read("claude", claude.lines).of(Settled)]
    assert reasons == [SettleReason.RATE_LIMIT, SettleReason.OUTAGE]


def test_inline_sidechains_and_progress_are_never_counted(claude: Claude, read: Any) -> None:
    """A sub-agent's lines are inside its call; progress repeats what stands elsewhere."""
    claude.user("go")
    claude.call("t1", "Task", {"prompt": "look", "subagent_type": "Explore"})
    claude.user("look", isSidechain=True)
    claude.call("s1", "Read", {"file_path": "x"}, isSidechain=True)
    claude.result("s1", "text", isSidechain=True)
    claude.add("progress", data={"type": "agent_progress", "message": {"content": "…"}})
    claude.result("t1", "found", toolUseResult={"totalToolUseCount": 1})
    (call,) = read("claude", claude.lines).of(Called)
    assert (call.kind, call.inner_calls) == (EpisodeKind.DELEGATE, 1)


def test_a_sub_agents_own_file_is_a_session_with_a_parent(claude: Claude, read: Any) -> None:
    """Read by itself its lines are its work, and its prompt is a machine's."""
    claude.user("count", isSidechain=True, agentId="a1b2")
    claude.call("s1", "Read", {"file_path": "x"}, isSidechain=True, agentId="a1b2")
    claude.result("s1", "text", isSidechain=True, agentId="a1b2")
    found = read("claude", claude.lines)
    assert found.info.relation == "subagent"
    assert found.info.parent_session_id == "claude-9d0c0000-0000-4000-8000-000000000001"
    assert found.of(Prompted)[0].machine and len(found.of(Called)) == 1


def test_todos_and_tasks_become_the_plan(claude: Claude, read: Any) -> None:
    """TodoWrite says the whole list, TaskCreate and TaskUpdate one step of it."""
    claude.user("go")
    todos = [
        {"content": "look", "status": "completed"},
        {"content": "mend", "status": "in_progress"},
    ]
    claude.call("t1", "TodoWrite", {"todos": todos})
    claude.result("t1", "ok")
    claude.call("t2", "TaskCreate", {"subject": "ship"})
    claude.result("t2", "Task #1 created", toolUseResult={"task": {"id": "1", "subject": "ship"}})
    claude.call("t3", "TaskUpdate", {"taskId": "1", "status": "in_progress"})
    claude.result("t3", "ok")
    plan = read("claude", claude.lines).of(Planned)[-1]
    assert [(i.item_id, i.text, i.state) for i in plan.items] == [
        ("s1", "look", PlanState.DONE),
        ("s2", "mend", PlanState.ACTIVE),
        ("s3", "ship", PlanState.ACTIVE),
    ]


def test_going_back_and_compacting_are_noted(claude: Claude, read: Any) -> None:
    """Only a second prompt under one parent is a rewind; parallel results are not."""
    claude.text("hello")
    claude.parent = "u0"
    claude.user("one")
    claude.parent = "u0"
    claude.user("two")
    claude.add("system", subtype="compact_boundary")
    codes = [note.code for note in read("claude", claude.lines).of(Noted)]
    assert codes == [NoteCode.BRANCH, NoteCode.COMPACTION]


def test_a_call_in_flight_is_no_fact_yet(claude: Claude, read: Any) -> None:
    """The end of a growing file concludes nothing."""
    claude.user("go")
    claude.call("t1", "Bash", {"command": "make"})
    found = read("claude", claude.lines)
    assert not found.of(Called) and found.unanswered == 1


def test_a_result_told_twice_counts_once(claude: Claude, read: Any) -> None:
    """Resumed files repeat lines; a result without its call is a loss, not a guess."""
    claude.user("go")
    claude.call("t1", "Read", {"file_path": "x"})
    claude.result("t1", "text")
    claude.result("t1", "text")
    claude.result("t0", "text")
    found = read("claude", claude.lines)
    assert len(found.of(Called)) == 1
    assert dict(found.skips.lost) == {"result_without_call": 1}
