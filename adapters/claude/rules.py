"""What Claude Code's signals mean: prompts and what only looks like one, and how calls end."""

from __future__ import annotations

import re
from typing import Final

from ...reducer.vocabulary.observation import SettleReason
from ...reducer.vocabulary.terms import Outcome
from ..normalise.outcomes import said, settled_by
from ..normalise.tools import is_shell

INTERRUPTED: Final = "[Request interrupted by user"
# User lines that are the program's own, by how their text begins.
_NOT_TYPED: Final = (
    "<local-command-", "<bash-input>", "<bash-stdout>", "<bash-stderr>", "<system-reminder>",
    "<user-memory-input>", "Caveat: The messages below", "<user-prompt-submit-hook>",
)  # fmt: skip
_MACHINE: Final = ("<task-notification>", "<teammate-message", "<scheduled-task", "<channel ",
                   "<cross-session-message", "<agent-notification")  # fmt: skip
_MACHINE_SOURCES: Final = frozenset({
    "system", "loop_wakeup", "schedule_wakeup", "poll_event", "task_notification", "hook",
})  # fmt: skip
_COMMAND: Final = re.compile(r"<command-name>\s*(/?[^<]{1,200}?)\s*</command-name>")
_COMMAND_ARGS: Final = re.compile(r"<command-args>\s*([^<]{0,1000}?)\s*</command-args>")
_SUMMARY: Final = re.compile(r"<summary>\s*(.{1,400}?)\s*</summary>", re.DOTALL)
_EXIT: Final = re.compile(r"\s*Exit code (\d+)")
_TOOL_ERROR: Final = re.compile(r"\s*<tool_use_error>")


def is_own(text: str) -> bool:
    """Written by the program, not an ask."""
    return text.lstrip()[:40].startswith(_NOT_TYPED)


def is_machine(text: str, *origins: str | None) -> bool:
    """An ask that no person typed."""
    return text.lstrip()[:40].startswith(_MACHINE) or any(
        origin is not None and origin.replace("-", "_") in _MACHINE_SOURCES for origin in origins
    )


def command_line(text: str) -> str | None:
    """`/name args` of a slash command; None if the text is none."""
    if not text.lstrip().startswith(("<command-name>", "<command-message>")):
        return None
    name, args = _COMMAND.search(text[:4000]), _COMMAND_ARGS.search(text[:4000])
    if name is None:
        return None
    return f"/{name[1].lstrip('/')} {args[1] if args else ''}".strip()


def is_local(text: str) -> bool:
    """A slash command that may be answered without the model: what follows decides."""
    return text.lstrip().startswith("<command-name>")


def machine_line(text: str) -> str:
    """What a notification says, without its wrapping."""
    found = _SUMMARY.search(text[:4000])
    return found[1] if found else text


def outcome(tool: str, text: str, *, is_error: bool, interrupted: bool) -> Outcome:
    """A result's flag and text. Only Bash has exit codes; the flag covers all else."""
    if not is_error:
        return Outcome.ABORTED if interrupted else Outcome.OK
    if text.startswith(INTERRUPTED):
        return Outcome.ABORTED
    shell = is_shell(tool)
    if shell and _EXIT.match(text):
        return Outcome.FAILED
    known = said(text)
    if known is not None:
        return known
    if _TOOL_ERROR.match(text) or not shell:
        return Outcome.TOOL_ERROR
    return Outcome.FAILED


def unwrapped(text: str) -> str:
    """An error without the tag around it."""
    if not _TOOL_ERROR.match(text):
        return text
    return text.strip().removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")


def api_trouble(kind: str | None, status: int | None, text: str) -> SettleReason:
    """A reply the program wrote in place of the model's."""
    return settled_by(f"{kind or ''} {status or ''} {text}")
