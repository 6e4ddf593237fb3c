"""OpenCode's messages and parts → drafts; documents and the database both call these.

    user message       `Prompted`; a `compaction` part is a note
    tool part          `Called` once its state is completed or error, `Planned` after a todo list
    assistant message  `Settled` when it finished without asking for tools, or ended in an error

A shell command that failed has the state *completed* and its exit code in the metadata.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec
from msgspec import Struct

from ...reducer.vocabulary.observation import (
    AnyObservation,
    NoteCode,
    Noted,
    Planned,
    Prompted,
    Settled,
    SettleReason,
)
from ...reducer.vocabulary.terms import Outcome
from ..normalise.args import allowed, command_of
from ..normalise.calls import Place, RawCall, at_ms, called, opaque
from ..normalise.loose import as_dict, as_list, as_text
from ..normalise.outcomes import said, settled_by
from ..normalise.plans import PlanLedger
from ..normalise.steps import steps_of
from ..normalise.text import excerpt, first_line
from ..normalise.tools import is_shell
from .records import Error, Info, Metadata, Part, State

_metadata: Final = msgspec.json.Decoder(Metadata)
_PATCH_FILE: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.{1,1000})$", re.MULTILINE)
_ABORTED: Final = re.compile(r"<(?:bash|shell)_metadata>[^<]{0,200}abort", re.IGNORECASE)


class _Patch(Struct, rename="camel"):
    patch_text: str | None = None


_patch: Final = msgspec.json.Decoder(_Patch)


def prompted(info: Info, parts: list[Part], at: float) -> Iterator[AnyObservation]:
    if any(part.type == "compaction" for part in parts):
        yield Noted(0, at_ms(at), code=NoteCode.COMPACTION)
        return
    texts = [part for part in parts if part.type == "text" and part.text and not part.ignored]
    typed = next((part.text for part in texts if not part.synthetic), None)
    text = typed or next((part.text for part in texts), None) or "[no text]"
    yield Prompted(
        0,
        at_ms(at),
        line=first_line(text) or "[no text]",
        machine=typed is None and bool(texts),
        entry_id=opaque(info.id) if info.id else None,
    )


def settled(info: Info, at: float, *, stopped: bool) -> Iterator[Settled]:
    """`stopped`: the message asked for no tool, or nothing can follow it."""
    if info.error is not None:
        yield Settled(0, at_ms(at), reason=_trouble(info.error))
    elif info.finish in ("stop", "end_turn") and stopped and info.summary is not True:
        yield Settled(0, at_ms(at), reason=SettleReason.STOP)
    elif info.finish in ("length", "max_tokens"):
        yield Settled(0, at_ms(at), reason=SettleReason.LENGTH)


def ended(part: Part, at: float, place: Place, plan: PlanLedger) -> Iterator[AnyObservation]:
    """A tool part in its last state."""
    state = part.state
    if state is None or state.status not in ("completed", "error"):
        return
    tool = part.tool or "unnamed"
    args = allowed(state.input)
    text = state.error if isinstance(state.error, str) else state.output or ""
    more = _more(state)
    end = _outcome(tool, state, more, text)
    when = at_ms((state.time.end if state.time else None) or at)
    call_id = part.call_id or part.id or "unnamed"
    raw = RawCall(
        call_id=call_id,
        tool=tool,
        args=args,
        text=excerpt(text),
        at=when,
        outcome=end,
        entry_id=part.message_id,
        command=command_of(args) if is_shell(tool) else None,
        paths=_patch_files(state) if tool == "apply_patch" else (),
        inner_calls=len(as_list(more.summary)),
    )
    yield called(raw, place)
    if tool == "todowrite" and end is Outcome.OK:
        steps = steps_of(args.get("todos"))
        if steps:
            yield Planned(0, when, call_id=opaque(call_id), items=plan.whole(steps))


def _outcome(tool: str, state: State, more: Metadata, text: str) -> Outcome:
    if state.status == "error":
        return said(text) or Outcome.TOOL_ERROR
    if not is_shell(tool):
        return Outcome.OK
    if isinstance(more.exit, int) and not isinstance(more.exit, bool):
        return Outcome.FAILED if more.exit else Outcome.OK
    if _ABORTED.search(text[-600:]):
        return Outcome.ABORTED
    return Outcome.UNKNOWN  # sanitised, or ended without a status


def _more(state: State) -> Metadata:
    try:
        return _metadata.decode(state.metadata)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Metadata()


def _patch_files(state: State) -> tuple[str, ...]:
    try:
        text = _patch.decode(state.input).patch_text or ""
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ()
    return tuple(dict.fromkeys(_PATCH_FILE.findall(text)))[:64]


def _trouble(error: Error) -> SettleReason:
    if error.name == "MessageAbortedError":
        return SettleReason.ABORTED
    if error.name == "MessageOutputLengthError":
        return SettleReason.LENGTH
    data = as_dict(error.data)
    return settled_by(f"{data.get('statusCode') or ''} {as_text(data.get('message'))}")


def running(parts: list[Part]) -> set[str]:
    """Ids of calls that have not ended."""
    return {
        part.id or part.call_id or ""
        for part in parts
        if part.type == "tool" and part.state and part.state.status not in ("completed", "error")
    }
