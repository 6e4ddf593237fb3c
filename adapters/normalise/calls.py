"""One raw call → `Called`, the same for every agent and both channels.

The agent's own rules say how the call ended (`outcome`); the tables of this room say what kind of
work it was, what it touched and what a selector may match. Pure: equal input, equal output.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from ...daemon.redact.sources import prints_secret
from ...reducer.vocabulary.ids import INT_MAX
from ...reducer.vocabulary.observation import Called, Fact, Signature
from ...reducer.vocabulary.terms import EpisodeKind, FactResult, Outcome
from . import facts, runners, shell, signatures
from .ports import Refs
from .text import masked, one_line
from .tools import is_polling, is_shell, kind_of

FILES_MAX: Final = 256
REFS_MAX: Final = 4096  # remembered at most
_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:|/=+-]{0,199}")
# What identifies a call among calls of its tool; the rest of its arguments is content.
_IDENTITY: Final = ("path", "file_path", "filePath", "absolute_path", "notebook_path", "pattern",
                    "glob", "query", "url", "agent", "name", "action", "dir_path")  # fmt: skip
_PATHS: Final = ("path", "file_path", "filePath", "absolute_path", "notebook_path", "dir_path")


class RawCall(Struct, frozen=True):
    """What an agent's log or socket says of one ended call. Nothing here is redacted."""

    call_id: str
    tool: str
    args: Mapping[str, Any]
    text: str  # the result as text
    at: int  # ms
    outcome: Outcome
    entry_id: str | None = None
    command: str | None = None  # the command line of a shell tool
    paths: tuple[str, ...] = ()  # beyond those in args
    inner_calls: int = 0
    kind: EpisodeKind | None = None  # where the agent itself knows better than the table


class Place(Struct, frozen=True):
    """Where the calls of one session happen, and how references are made."""

    cwd: str
    refs: Refs
    known: dict[tuple[str, str], str] = msgspec.field(default_factory=dict[tuple[str, str], str])

    def ref(self, domain: str, raw: str) -> str:
        """As `refs.ref`, remembered: a session touches the same files again and again."""
        key = domain, raw
        ref = self.known.get(key)
        if ref is None:
            if len(self.known) >= REFS_MAX:
                self.known.clear()
            ref = self.known[key] = self.refs.ref(domain, raw)
        return ref


def called(raw: RawCall, place: Place) -> Called:
    """A draft: strings raw, position 0; `clean.clean` finishes it."""
    command = shell.understand(raw.command) if raw.command else None
    kind = raw.kind or (command.kind if command else kind_of(raw.tool))
    silent = is_polling(raw.tool)
    report = runners.EMPTY if silent else _report(raw, kind)
    hidden = _hidden(raw, report)
    if hidden:
        report = runners.EMPTY
    outcome = _outcome(raw, command, report)
    paths = _paths(raw, command)
    refs = tuple(place.ref("path", facts.absolute(p, place.cwd)) for p in paths)[:FILES_MAX]
    changes = kind is EpisodeKind.EDIT or (command is not None and bool(command.writes))
    changed = refs if changes and outcome is Outcome.OK else ()
    refused = outcome is Outcome.BLOCKED_BY_POLICY
    return Called(
        position=0,
        at=at_ms(raw.at),
        call_id=opaque(raw.call_id),
        tool=one_line(raw.tool, 200) or "unnamed",
        kind=kind,
        outcome=outcome,
        entry_id=opaque(raw.entry_id) if raw.entry_id else None,
        facts=_facts(command, outcome, report, paths, place),
        files_read=() if changes else refs,
        files_changed=changed,
        signature=None if silent else _signature(raw, kind, outcome, place, hidden),
        refusal=signatures.refusal(raw.text, place.refs) if refused else None,
        command_ref=_identity(raw, command, place),
        inner_calls=min(raw.inner_calls, INT_MAX),
    )


def opaque(agent_id: str) -> str:
    """An id as it is where it fits, else a stable digest of it (the live channel does the same)."""
    if _ID.fullmatch(agent_id):
        return agent_id
    digest = hashlib.sha256(agent_id.encode("utf-8", "replace")).hexdigest()
    return f"id_{digest[:32]}"


def at_ms(value: float) -> int:
    return max(0, min(int(value), INT_MAX))


def _hidden(raw: RawCall, report: runners.Report) -> bool:
    """Whether a command prints secrets (R13). Asked only where its output would be looked at."""
    asked = raw.outcome in signatures.TROUBLES or report.names or report.verdict
    return bool(asked) and raw.command is not None and prints_secret(raw.command) is not None


def _report(raw: RawCall, kind: EpisodeKind) -> runners.Report:
    if not facts.kinds_with_reports(kind):
        return runners.EMPTY
    shellish = raw.command is not None or is_shell(raw.tool) or kind is EpisodeKind.TEST
    return runners.read(raw.text) if shellish else runners.EMPTY


def _outcome(raw: RawCall, command: shell.Command | None, report: runners.Report) -> Outcome:
    """A failing run whose exit status a pipe hides still failed: the runner itself says so."""
    if raw.outcome is not Outcome.OK or command is None or not command.masked:
        return raw.outcome
    ran = command.kind in (EpisodeKind.TEST, EpisodeKind.BUILD)
    return Outcome.FAILED if ran and report.verdict is FactResult.FAIL else raw.outcome


def _signature(
    raw: RawCall, kind: EpisodeKind, outcome: Outcome, place: Place, hidden: bool
) -> Signature | None:
    line = "failed; its output is not looked at" if hidden else None
    if kind is EpisodeKind.SEARCH and outcome is Outcome.FAILED and raw.command:
        line = line or signatures.telling_line(raw.text)
        if not line:
            return None  # a search that found nothing says so with its exit status
    return signatures.signature(raw.text, kind, outcome, place.refs, line=line)


def _facts(
    command: shell.Command | None,
    outcome: Outcome,
    report: runners.Report,
    paths: tuple[str, ...],
    place: Place,
) -> tuple[Fact, ...]:
    found: list[Fact] = []
    if command is not None:
        found.extend(facts.of_command(command, outcome, report))
    found.extend(facts.of_report(report))
    found.extend(facts.of_files(paths, place.cwd))
    return facts.bounded(found)


def _paths(raw: RawCall, command: shell.Command | None) -> tuple[str, ...]:
    named = [value for key in _PATHS if isinstance(value := raw.args.get(key), str) and value]
    written = command.writes if command is not None else ()
    return tuple(dict.fromkeys(p for p in (*named, *raw.paths, *written) if len(p) < 4096))


def _identity(raw: RawCall, command: shell.Command | None, place: Place) -> str | None:
    """Names the attempt itself: the same again is the same attempt, whatever came out."""
    if command is not None:
        return place.ref("command", masked(command.canonical)) if command.canonical else None
    said = [f"{key}={value}" for key in _IDENTITY if (value := raw.args.get(key)) is not None]
    named = [*said, *raw.paths]
    return place.ref("command", f"{raw.tool}|{'|'.join(map(str, named))}") if named else None
