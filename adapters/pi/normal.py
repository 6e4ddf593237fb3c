"""Pi's own facts → drafts of observations; the session file and the live socket both call these.

Byte-identity of the two channels rests on three habits: both hand over the *same* allow-listed
pieces (`pick_args`, `clip`, `pick_details` say here what the extension says in JavaScript), both
take event time from the message's own `timestamp`, and everything else is decided here.

    user message                    `prompted`
    assistant message               `replied`: a `Patched` per update_action_path call, then
                                    `Settled` if it made no call (or was aborted, or failed)
    toolResult message              `ended`: `Called`, and `Planned` after a todo or phase tool
    bashExecution (`!cmd`)          nothing: the person's own act, and the live channel has no end
    compaction, branch_summary      `noted`

A call that an aborted reply asked for never ran, has no result and is no observation.
What must not be here: files, sockets, redaction. Drafts go through `normalise.clean`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from ...reducer.vocabulary.observation import (
    AnyObservation,
    NoteCode,
    Noted,
    Patched,
    Planned,
    PlanState,
    Prompted,
    Settled,
    SettleReason,
)
from ...reducer.vocabulary.terms import Outcome
from ..normalise.calls import Place, RawCall, at_ms, called, opaque
from ..normalise.outcomes import said, settled_by
from ..normalise.plans import PlanLedger, Step
from ..normalise.steps import steps_of
from ..normalise.text import first_line, plain
from ..normalise.tools import base_name, is_shell

PATCH_TOOL: Final = "update_action_path"
TEXT_CHARS_MAX: Final = 64 << 10
ARG_CHARS_MAX: Final = 8 << 10
ARG_KEYS: Final = (
    "command", "cmd", "path", "file_path", "filePath", "pattern", "glob", "query", "url",
    "agent", "name", "action", "status", "id", "offset", "limit", "timeout",
)  # fmt: skip
PLAN_KEYS: Final = (
    "todos",
    "plan",
    "items",
    "steps",
    "phases",
    "tasks",
    "text",
    "content",
    "title",
)
_ARG_KEYS: Final = frozenset(ARG_KEYS)
_PLAN_TOOL: Final = re.compile(r"todo|plan|task_list|phase", re.IGNORECASE)

_EXIT: Final = re.compile(r"Command exited with code (-?\d+)\s*\Z")
_TIMED_OUT: Final = re.compile(r"Command timed out after [\d.]+ seconds\s*\Z")
_ABORTED: Final = re.compile(r"Command aborted\s*\Z|^Operation aborted\b")
_TOOL_SAID: Final = re.compile(
    r"^(?:Validation failed for tool|Tool \S+ not found|Unknown tool|spawn \S+ E|E[A-Z]{3,}: "
    r"|Working directory does not exist|Failed to )"
)


class Ended(Struct, frozen=True):
    """A toolResult message. `args`, `text`, `details` as `pick_args`, `clip`, `pick_details`
    leave them; `entry_id` of the assistant entry that made the call; `at` its own timestamp."""

    call_id: str
    tool: str
    at: float
    is_error: bool = False
    args: Mapping[str, Any] = {}
    text: str = ""
    details: Mapping[str, Any] | None = None
    exit_code: int | None = None
    entry_id: str | None = None


def prompted(text: str, at: float) -> Prompted:
    """The source of a prompt is not in the file, so nothing here depends on it."""
    return Prompted(position=0, at=at_ms(at), line=first_line(text) or "[no text]")


def replied(
    stop_reason: str, at: float, *, calls: int, patches: Sequence[str] = (), error: str = ""
) -> Iterator[AnyObservation]:
    """`calls`: how many tool calls the reply holds; `patches`: ids of its path patches."""
    stopped = _settle_reason(stop_reason, calls, error)
    if stopped not in (SettleReason.ABORTED, SettleReason.ERROR):
        for call_id in patches:
            yield Patched(position=0, at=at_ms(at), call_id=opaque(call_id))
    if stopped is not None:
        yield Settled(position=0, at=at_ms(at), reason=stopped)


def ended(end: Ended, place: Place, plan: PlanLedger) -> Iterator[AnyObservation]:
    """What a toolResult message says; nothing for our own tool (its place is the reply)."""
    if end.tool == PATCH_TOOL:
        return
    command = _command(end)
    raw = RawCall(
        call_id=end.call_id,
        tool=end.tool,
        args=end.args,
        text=end.text,
        at=at_ms(end.at),
        outcome=outcome(end),
        entry_id=end.entry_id,
        command=command,
        inner_calls=_count((end.details or {}).get("innerCalls")),
    )
    yield called(raw, place)
    if not end.is_error:
        items = plan_steps(end, plan)
        if items is not None:
            yield Planned(0, at_ms(end.at), call_id=opaque(end.call_id), items=items)


def noted(code: NoteCode, at: float) -> Noted:
    return Noted(position=0, at=at_ms(at), code=code)


def outcome(end: Ended) -> Outcome:
    """Pi's signals: `isError`, and what bash writes at the end of its text.

    A bash error without such an end is a call that never ran: an extension or a mode refused it.
    """
    tail = plain(end.text[-400:])
    shell = is_shell(end.tool)
    code = end.exit_code
    if code is None and shell and (found := _EXIT.search(tail)):
        code = int(found[1])
    if not end.is_error:
        return Outcome.FAILED if code else Outcome.OK
    if _ABORTED.search(tail) or _ABORTED.search(end.text[:200]):
        return Outcome.ABORTED
    if code is not None or (shell and _TIMED_OUT.search(tail)):
        return Outcome.FAILED
    if _TOOL_SAID.match(end.text):
        return Outcome.TOOL_ERROR
    known = said(end.text)
    if known is not None:
        return known
    return Outcome.BLOCKED_BY_POLICY if shell and end.text.strip() else Outcome.TOOL_ERROR


def _settle_reason(stop_reason: str, calls: int, error: str) -> SettleReason | None:
    if stop_reason == "aborted":
        return SettleReason.ABORTED
    if stop_reason == "error":
        return settled_by(error)
    if calls:
        return None
    return SettleReason.LENGTH if stop_reason == "length" else SettleReason.STOP


def _command(end: Ended) -> str | None:
    for key in ("command", "cmd"):
        value = end.args.get(key)
        if isinstance(value, str) and value and is_shell(end.tool):
            return value
    return None


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


# --- plans ------------------------------------------------------------------------------------


def plan_steps(end: Ended, plan: PlanLedger) -> tuple[Any, ...] | None:
    """The plan after a todo, plan or phase tool; None if this call said none."""
    if not _PLAN_TOOL.search(end.tool):
        return None
    phase = _phase(end)
    if phase is not None:
        return plan.whole([*_phases_before(plan, phase), Step(phase, PlanState.ACTIVE, phase)])
    for key in PLAN_KEYS[:6]:
        steps = steps_of(end.args.get(key))
        if steps:
            return plan.whole(steps)
    return None


def _phase(end: Ended) -> str | None:
    if "phase" not in base_name(end.tool):
        return None
    for key in ("phase", "name", "title"):
        value = end.args.get(key)
        if isinstance(value, str) and value.strip():
            return value
    found = re.match(r"Phase changed to: (\S.{0,120})", end.text)
    return found[1].strip() if found else None


def _phases_before(plan: PlanLedger, phase: str) -> list[Step]:
    """Phases entered before stand as done; one that is entered again moves to the end."""
    return [
        Step(item.text, PlanState.DONE, item.text)
        for item in plan.items
        if item.state is not PlanState.DROPPED and item.text != phase
    ]


# --- what the extension lets through, said once more in Python --------------------------------


def clip(text: str, at_most: int = TEXT_CHARS_MAX) -> str:
    """JavaScript counts UTF-16 units; a text above the bound keeps its head and its tail."""
    if len(text) * 2 <= at_most:
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    length = len(units) // 2
    if length <= at_most:
        return text
    half = at_most >> 1
    head = units[: 2 * half].decode("utf-16-le", "replace")
    tail = units[-2 * half :].decode("utf-16-le", "replace")
    return f"{head}\n[… {length - 2 * half} characters left out …]\n{tail}"


def pick_args(tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
    picked: dict[str, Any] = {}
    for key, value in args.items():
        if key not in _ARG_KEYS:
            continue
        if isinstance(value, str):
            picked[key] = clip(value, ARG_CHARS_MAX)
        elif isinstance(value, bool | int | float):
            picked[key] = value
    if _PLAN_TOOL.search(tool):
        for key in PLAN_KEYS:
            if args.get(key) is not None:
                picked[key] = args[key]
    return picked
