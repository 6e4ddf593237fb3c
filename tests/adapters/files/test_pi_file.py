"""Pi's session files, v1 and v3, as Pi writes them."""

from __future__ import annotations

from typing import Any

import pytest

from wayfinder.adapters.pi import normal
from wayfinder.reducer.vocabulary.observation import (
    Called,
    NoteCode,
    Noted,
    Opened,
    Patched,
    Planned,
    PlanState,
    Prompted,
    Settled,
    SettleReason,
)
from wayfinder.reducer.vocabulary.terms import EpisodeKind, FactKind, FactResult, Outcome

T0 = 1_764_547_200_000


class Pi:
    """Builds a v3 file: ids, parents and times as Pi gives them."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = [
            {"type": "session", "version": 3, "id": "01a22f00-aaaa-7000-8000-000000000001",
             "timestamp": "2025-12-01T00:00:00.000Z", "cwd": "/home/dev/shop"}
        ]  # fmt: skip
        self.parent: str | None = None
        self.at = T0

    def add(self, type_: str, **fields: Any) -> str:
        self.at += 1000
        own = f"{len(self.lines):08x}"
        stamp = f"2025-12-01T00:00:{(self.at - T0) // 1000 % 60:02d}.000Z"
        self.lines.append(
            {"type": type_, "id": own, "parentId": self.parent, "timestamp": stamp, **fields}
        )
        self.parent = own
        return own

    def user(self, text: str) -> str:
        content = [{"type": "text", "text": text}]
        return self.add(
            "message", message={"role": "user", "content": content, "timestamp": self.at}
        )

    def reply(self, *calls: tuple[str, str, dict[str, Any]], stop: str | None = None) -> str:
        content: list[dict[str, Any]] = [
            {"type": "thinking", "thinking": "hidden", "thinkingSignature": "x"}
        ]
        content += [{"type": "toolCall", "id": i, "name": n, "arguments": a} for i, n, a in calls]
        if not calls:
            content.append({"type": "text", "text": "done"})
        message = {"role": "assistant", "content": content, "timestamp": self.at,
                   "stopReason": stop or ("toolUse" if calls else "stop")}  # fmt: skip
        return self.add("message", message=message)

    def result(self, call: str, tool: str, text: str, *, error: bool = False, **more: Any) -> str:
        content = [{"type": "text", "text": text}]
        message = {"role": "toolResult", "toolCallId": call, "toolName": tool, "content": content,
                   "isError": error, "timestamp": self.at, **more}  # fmt: skip
        return self.add("message", message=message)


@pytest.fixture
def pi() -> Pi:
    return Pi()


def test_a_turn_is_a_prompt_its_calls_and_where_it_stopped(pi: Pi, read: Any) -> None:
    """Prompt, calls with entry id, outcome and facts, and the reply without calls settles it."""
    pi.user("Fix the login\nplease")
    made = pi.reply(("c1", "bash", {"command": "npm run check"}))
    pi.result(
        "c1", "bash", "src/a.ts(3,4): error TS2322: no\n\nCommand exited with code 2", error=True
    )
    pi.reply(("c2", "edit", {"path": "/home/dev/shop/src/a.ts", "edits": [{"oldText": "SECRET"}]}))
    pi.result("c2", "edit", "Successfully replaced text")
    pi.reply()
    found = read("pi", pi.lines)
    opened, prompt, check, edit, settled = found.observations
    assert isinstance(opened, Opened) and opened.info.project == "shop"
    assert isinstance(prompt, Prompted) and prompt.line == "Fix the login"
    assert (check.kind, check.outcome, check.entry_id) == (EpisodeKind.BUILD, Outcome.FAILED, made)
    assert check.signature.sample == "<path>(#): error TS2322: no"
    assert (FactKind.ASSERTION, "TS2322", FactResult.FAIL) in [
        (f.kind, f.name, f.result) for f in check.facts
    ]
    assert (edit.kind, len(edit.files_changed)) == (EpisodeKind.EDIT, 1)
    assert [(f.kind, f.name) for f in edit.facts] == [(FactKind.FILE, "src/a.ts")]
    assert isinstance(settled, Settled) and settled.reason is SettleReason.STOP
    assert found.unanswered == 0


def test_a_path_patch_stands_before_the_results_of_its_reply(pi: Pi, read: Any) -> None:
    """`update_action_path` marks its place at the reply; its own result is no call."""
    pi.user("go")
    pi.reply(("c1", "read", {"path": "a"}), ("p1", normal.PATCH_TOOL, {"ops": []}))
    pi.result("c1", "read", "text")
    pi.result("p1", normal.PATCH_TOOL, "applied")
    found = read("pi", pi.lines)
    kinds = [type(seen).__name__ for seen in found.observations[2:]]
    assert kinds == ["Patched", "Called"]
    assert found.of(Patched)[0].call_id == "p1"


@pytest.mark.parametrize(
    ("tool", "text", "outcome"),
    [
        ("bash", "(no output)\n\nCommand exited with code 1", Outcome.FAILED),
        ("bash", "half\n\nCommand timed out after 30 seconds", Outcome.FAILED),
        ("bash", "half\n\nCommand aborted", Outcome.ABORTED),
        (
            "bash",
            "Review mode: shell commands wait until the review is over",
            Outcome.BLOCKED_BY_POLICY,
        ),
        ("edit", "Could not find the exact text in src/a.ts", Outcome.TOOL_ERROR),
        ("write", "Blocked by the guard extension", Outcome.BLOCKED_BY_POLICY),
        ("nope", "Tool nope not found", Outcome.TOOL_ERROR),
        ("edit", 'Validation failed for tool "edit":\n  - path: required', Outcome.TOOL_ERROR),
        ("deploy", "The user declined this tool call", Outcome.REFUSED_BY_USER),
    ],
)
def test_how_a_failed_call_ended(tool: str, text: str, outcome: Outcome) -> None:
    """Exit codes fail, aborts abort, and a bash error without an end never ran: it was refused."""
    assert normal.outcome(normal.Ended("c", tool, 0, is_error=True, text=text)) is outcome


@pytest.mark.parametrize(
    ("stop", "error", "reason"),
    [
        ("aborted", "Request was aborted", SettleReason.ABORTED),
        ("error", "503 service unavailable", SettleReason.OUTAGE),
        ("error", "429 rate limit exceeded", SettleReason.RATE_LIMIT),
        ("error", "400 invalid request", SettleReason.ERROR),
        ("length", "", SettleReason.LENGTH),
    ],
)
def test_how_a_turn_stopped(stop: str, error: str, reason: SettleReason) -> None:
    """Provider outage, rate limit, abort and other errors are different reasons."""
    (settled,) = normal.replied(stop, T0, calls=0, error=error)
    assert isinstance(settled, Settled) and settled.reason is reason


def test_calls_of_an_aborted_reply_never_ran(pi: Pi, read: Any) -> None:
    """They are counted as unanswered and are no observation; nor is a patch among them."""
    pi.user("go")
    pi.reply(("c1", "bash", {"command": "make"}), ("p1", normal.PATCH_TOOL, {}), stop="aborted")
    found = read("pi", pi.lines)
    assert not found.of(Called) and not found.of(Patched)
    assert found.of(Settled)[0].reason is SettleReason.ABORTED
    assert found.unanswered == 2


def test_a_sibling_in_the_tree_is_another_branch(pi: Pi, read: Any) -> None:
    """A record whose parent is not the one before it notes a branch, a compaction a compaction."""
    first = pi.user("one way")
    pi.reply()
    pi.parent = first
    pi.user("another way")
    pi.add("compaction", summary="…", firstKeptEntryId=first)
    codes = [note.code for note in read("pi", pi.lines).of(Noted)]
    assert codes == [NoteCode.BRANCH, NoteCode.COMPACTION]


def test_phases_become_a_plan_and_todos_too(pi: Pi, read: Any) -> None:
    """A phase tool ends the phase before; a todo list is taken as it stands."""
    pi.user("go")
    for number, phase in enumerate(("explore", "build")):
        pi.reply((f"c{number}", "set_phase", {"phase": phase}))
        pi.result(f"c{number}", "set_phase", f"Phase changed to: {phase}", details={"phase": phase})
    plan = read("pi", pi.lines).of(Planned)[-1]
    assert [(i.text, i.state) for i in plan.items] == [
        ("explore", PlanState.DONE),
        ("build", PlanState.ACTIVE),
    ]


def test_a_sub_agents_calls_are_evidence_inside_its_call(pi: Pi, read: Any) -> None:
    """Nested messages in a result's details are counted, their reasoning never decoded."""
    thought = {"type": "thinking", "thinking": "hidden"}
    inner = [
        {"role": "assistant", "content": [thought, {"type": "toolCall", "id": "x", "name": "read"}]}
    ]
    pi.user("go")
    pi.reply(("c1", "subagent", {"agent": "scout", "task": "look"}))
    pi.result(
        "c1", "subagent", "ok", details={"results": [{"messages": inner}, {"messages": inner}]}
    )
    (call,) = read("pi", pi.lines).of(Called)
    assert (call.kind, call.inner_calls) == (EpisodeKind.DELEGATE, 2)


def test_a_v1_file_has_no_ids_and_reads_the_same(pi: Pi, read: Any) -> None:
    """Linear files of version 1: no entry ids, no branches, everything else alike."""
    pi.user("go")
    pi.reply(("c1", "read", {"path": "a"}))
    pi.result("c1", "read", "text")
    v1 = [
        {k: v for k, v in line.items() if k not in ("id", "parentId", "version")}
        for line in pi.lines
    ]
    v1[0]["id"] = "ffae836b-0000-0000-0000-000000000000"
    found = read("pi", v1)
    assert [type(s).__name__ for s in found.observations] == ["Opened", "Prompted", "Called"]
    assert found.of(Called)[0].entry_id is None


def test_without_a_header_the_file_name_is_the_session(pi: Pi, read: Any) -> None:
    """A cut file still has a name, and its first fact is still Opened."""
    pi.user("go")
    found = read("pi", pi.lines[1:], name="my cut session.jsonl")
    assert found.info.session_id == "pi-my-cut-session"
    assert isinstance(found.observations[0], Opened)


def test_long_texts_are_cut_as_the_extension_cuts_them() -> None:
    """Head and tail in UTF-16 units, the number left out between them, half pairs replaced."""
    assert normal.clip("ab" * 10, 40) == "ab" * 10
    assert normal.clip("a" * 50, 10) == "aaaaa\n[… 40 characters left out …]\naaaaa"
    assert normal.clip("😀" * 30, 10).startswith("😀😀\ufffd\n[… 50 ")
