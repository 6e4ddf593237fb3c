"""What Gemini CLI's texts and statuses mean."""

from __future__ import annotations

import re
from typing import Any, Final

from ...reducer.vocabulary.terms import Outcome
from ..normalise.loose import as_dict, as_text
from ..normalise.outcomes import said
from ..normalise.tools import is_shell

_EXIT: Final = re.compile(r"^Exit Code: (-?\d+)$", re.MULTILINE)
_SIGNAL: Final = re.compile(r"^Signal: (?!\(none\))\S", re.MULTILINE)
_WRAPPED: Final = re.compile(r"\A\s*(?:<untrusted_context>\s*)?(?:Output: )?")
_CANCELLED: Final = re.compile(r"cancell?ed tool execution|aborted by user|was cancelled", re.I)
# User texts the program wrote.
_INJECTED: Final = ("<session_context>", "<hook_context>", "<system", "This is the Gemini CLI",
                    "<background", "<editor_context")  # fmt: skip
_MACHINE: Final = "System: "  # asks the program makes by itself
SNAPSHOT: Final = "<state_snapshot>"


def is_injected(text: str) -> bool:
    return text.lstrip().startswith(_INJECTED)


def is_machine(text: str) -> bool:
    return text.lstrip().startswith(_MACHINE)


def is_snapshot(text: str) -> bool:
    return SNAPSHOT in text[:400]


def result_text(response: Any) -> tuple[str, bool]:
    """(text, whether it is an error) of a functionResponse's `response`."""
    answer = as_dict(response)
    error = answer.get("error")
    if isinstance(error, str):
        return error, True
    return _WRAPPED.sub("", as_text(answer.get("output")), count=1), False


def outcome(tool: str, status: str | None, text: str, is_error: bool) -> Outcome:
    """A failed shell command has the status success; its exit code stands in the text."""
    if is_error or status in ("error", "cancelled"):
        if status == "cancelled" and _CANCELLED.search(text[:400]):
            return Outcome.ABORTED
        known = said(text)
        if known is not None:
            return known
        return Outcome.ABORTED if status == "cancelled" else Outcome.TOOL_ERROR
    if is_shell(tool):
        tail = text[-2000:]
        exited = _EXIT.search(tail)
        if exited is not None and exited[1] != "0":
            return Outcome.FAILED
        if exited is None and _SIGNAL.search(tail):
            return Outcome.FAILED
    return Outcome.OK
