"""What Codex's signals mean: outputs of its tools, how calls end, what is a person's prompt."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from msgspec import Struct

from ...reducer.vocabulary.terms import Outcome
from ..normalise.loose import as_dict, as_list, texts
from ..normalise.outcomes import said

_EXITED: Final = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)", re.MULTILINE)
_RUNNING: Final = re.compile(r"^Process running with session ID (\d+)", re.MULTILINE)
_OUTPUT: Final = re.compile(r"^Output:\n", re.MULTILINE)
_HEAD_CHARS: Final = 600
_PATCH_FILE: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.{1,1000})$", re.MULTILINE)
_FAILED: Final = re.compile(
    r"apply_patch verification failed|unsupported call|execution error|failed to parse"
    r"|tool call error"
    r"|unknown (?:process|session|agent|tool)|collab .{0,40}(?:failed|error)|missing field"
    r"|err: |error: |failed for `|unable to |invalid "
)
_REJECTED: Final = re.compile(r"rejected by user(?! approval settings)|declined by user")
# Messages with role `user` that no person wrote.
_INJECTED: Final = (
    "<environment_context", "<user_instructions", "# AGENTS.md", "<permissions", "<turn_aborted",
    "<skill", "<INSTRUCTIONS", "<user_action", "<subagent_notification", "Another language model",
    "<collaboration", "<app", "<plugins", "Warning: ",
)  # fmt: skip


class Output(Struct, frozen=True):
    """What a call's output text says of its end."""

    text: str
    exit_code: int | None = None
    running: str | None = None  # the session of a process that goes on


def output(value: Any) -> Output:
    """A text, a text that is JSON with metadata (2025), or content blocks."""
    if isinstance(value, list):
        return Output("\n".join(texts(as_list(value))))
    if isinstance(value, dict):
        inner = as_dict(value).get("content")
        return output(inner) if isinstance(inner, str | list) else Output("")
    if not isinstance(value, str):
        return Output("")
    if value.startswith('{"output":'):
        try:
            return _with_metadata(msgspec.json.decode(value, type=_Old))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
    head = value[:_HEAD_CHARS]
    exited, running = _EXITED.search(head), _RUNNING.search(head)
    body = _OUTPUT.search(head)
    return Output(
        text=value[body.end() :] if body and (exited or running) else value,
        exit_code=int(exited[1][:6]) if exited else None,
        running=running[1] if running and not exited else None,
    )


class _Metadata(Struct):
    exit_code: int | None = None


class _Old(Struct):
    output: str = ""
    metadata: _Metadata | None = None


def _with_metadata(old: _Old) -> Output:
    return Output(old.output, old.metadata.exit_code if old.metadata else None)


def outcome_of_output(out: Output) -> Outcome:
    """Of a call that no end event tells of."""
    if out.exit_code is not None:
        return Outcome.FAILED if out.exit_code else Outcome.OK
    head = out.text[:_HEAD_CHARS]
    if _REJECTED.search(head):
        return Outcome.REFUSED_BY_USER
    if _FAILED.match(head) or (head.startswith(("exec", "aborted", "patch", "approval"))):
        return said(head) or Outcome.TOOL_ERROR
    return Outcome.OK


def outcome_of_end(status: Any, exit_code: int | None, text: str) -> Outcome:
    """Of a command's end: status completed, failed or declined, and an exit code."""
    if status == "declined":
        return (
            Outcome.BLOCKED_BY_POLICY if "policy" in text[:_HEAD_CHARS] else Outcome.REFUSED_BY_USER
        )
    if exit_code:
        aborted = exit_code == -1 and text.startswith("aborted")
        return Outcome.ABORTED if aborted else Outcome.FAILED
    if status in ("failed", "error"):
        return said(text) or (Outcome.FAILED if exit_code is None else Outcome.OK)
    if status in ("interrupted", "cancelled"):
        return Outcome.ABORTED
    return Outcome.OK


def patch_files(patch: str) -> tuple[str, ...]:
    """The files an `apply_patch` text names; nothing else of it is looked at."""
    return tuple(dict.fromkeys(_PATCH_FILE.findall(patch)))[:64]


def is_injected(text: str) -> bool:
    return text.lstrip().startswith(_INJECTED)
