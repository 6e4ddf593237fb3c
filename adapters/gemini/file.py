"""Gemini CLI sessions: JSONL (since 0.39), one document (before), raw histories (`/chat share`).

Replay: a record is appended again under its id when it changes (the last one wins), `$set` may
hold messages, `$rewindTo` drops what came after. So a call is told once, when it has its last
status; a reply may still get calls later, so the end of a turn is known only at the next prompt.
Raw histories have neither ids nor times: their event time is 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Raw

from ...reducer.vocabulary.observation import (
    AnyObservation,
    NoteCode,
    Noted,
    Opened,
    Planned,
    Prompted,
    SessionInfo,
    Settled,
    SettleReason,
)
from ...reducer.vocabulary.terms import Outcome
from ..document import Document
from ..files import found
from ..jsonl import Records, Skips
from ..normalise.args import allowed, command_of
from ..normalise.calls import Place, RawCall, called, opaque
from ..normalise.loose import as_dict, as_list, texts
from ..normalise.outcomes import settled_by
from ..normalise.plans import PlanLedger
from ..normalise.ports import Refs
from ..normalise.steps import steps_of
from ..normalise.text import excerpt, first_line
from ..normalise.tools import is_shell
from ..reader import Format, Losses, Source, compact, iso_ms, session_id
from . import rules
from .records import Line, Message, Record, ToolCall, Turn

AGENT: Final = "gemini"
_DONE: Final = frozenset({"success", "error", "cancelled"})


class GeminiSession:
    """One session file in any of the three forms."""

    def __init__(self, source: Source, refs: Refs) -> None:
        self.skips = Skips()
        self.info = SessionInfo(session_id(AGENT, source.session, source.path), AGENT)
        self._losses = Losses(self.skips)
        self._source = source
        self._refs = refs
        self._place = Place("", refs)
        self._plan = PlanLedger()
        self._told: set[str] = set()
        self._open: dict[str, str | None] = {}
        self._asked: set[str] = set()
        self._waiting: dict[str, tuple[str, Raw]] = {}  # raw history: call id → name, arguments
        self._opened = self._speaking = False
        self._at = 0
        self._read = _reading(source.path)
        self._records = Records(source.path, Line, self.skips)
        self._document = Document(source.path, Record, self.skips)
        self._history = Document(source.path, list[Turn], self.skips)
        self._turns = 0

    @property
    def unanswered(self) -> int:
        return len(self._open) + len(self._waiting)

    def drafts(self, *, final: bool = True) -> Iterator[AnyObservation]:
        if self._read == "history":
            for turns in self._history.changed():
                yield from self._turns_of(turns)
        elif self._read == "document":
            for document in self._document.changed():
                yield from self._header(document)
                yield from self._messages(document.messages or ())
        else:
            for line in self._records.read(final=final):
                yield from self._line(line)
            yield from self._losses.gap(self._at)

    # --- records ------------------------------------------------------------------------------

    def _header(self, record: Record) -> Iterator[AnyObservation]:
        if self._opened:
            return
        self._opened = True
        self._at = iso_ms(record.start_time or record.timestamp)
        own = session_id(AGENT, record.session_id, self._source.path)
        self.info = SessionInfo(
            session_id=own,
            agent=AGENT,
            relation="subagent" if record.kind == "subagent" else None,
            started_at=self._at,
        )
        yield Opened(0, self._at, info=self.info)

    def _line(self, line: Line) -> Iterator[AnyObservation]:
        yield from self._header(line)
        yield from self._losses.gap(self._at)
        if line.set_ is not None:
            yield from self._messages(line.set_.messages or ())
        elif line.rewind_to is not None:
            self._speaking = False
            yield Noted(0, self._at, code=NoteCode.BRANCH)
        elif line.messages is not None:
            yield from self._messages(line.messages)
        elif line.type is not None:
            yield from self._message(line)

    def _messages(self, messages: Iterable[Message]) -> Iterator[AnyObservation]:
        for message in messages:
            yield from self._message(message)

    def _message(self, message: Message | Record) -> Iterator[AnyObservation]:
        self._at = iso_ms(message.timestamp) or self._at
        if message.type == "user":
            if message.id is None or message.id not in self._asked:
                self._asked.add(message.id or f"#{len(self._asked)}")
                yield from self._user("\n".join(texts(message.content)), message.id)
        elif message.type in ("gemini", "model"):
            calls = message.tool_calls or ()
            self._speaking = not calls and bool("\n".join(texts(message.content)).strip())
            for call in calls:
                yield from self._call(call, message.id)
        elif message.type in ("info", "warning", "error"):
            yield from self._remark(message)
        elif message.type is not None:
            self.skips.unknown[message.type[:64]] += 1

    def _user(self, text: str, entry: str | None) -> Iterator[AnyObservation]:
        if rules.is_snapshot(text):
            yield Noted(0, self._at, code=NoteCode.COMPACTION)
            return
        if not text.strip() or rules.is_injected(text):
            return
        if self._speaking:
            self._speaking = False
            yield Settled(0, self._at, reason=SettleReason.STOP)
        yield Prompted(
            0,
            self._at,
            line=first_line(text) or "[no text]",
            machine=self.info.relation == "subagent" or rules.is_machine(text),
            entry_id=opaque(entry) if entry else None,
        )

    def _remark(self, message: Message | Record) -> Iterator[AnyObservation]:
        """What the program said to the person: an error or a cancel ends the turn."""
        text = "\n".join(texts(message.content))
        if message.id is not None:
            if message.id in self._asked:
                return
            self._asked.add(message.id)
        if message.type == "error":
            self._speaking = False
            yield Settled(0, self._at, reason=settled_by(text))
        elif re.match(r"Request cancell?ed", text):
            self._speaking = False
            yield Settled(0, self._at, reason=SettleReason.ABORTED)

    def _call(self, call: ToolCall, entry: str | None) -> Iterator[AnyObservation]:
        call_id = call.id or f"call_{len(self._told)}"
        if call_id in self._told:
            return
        if call.status not in _DONE:
            self._open[call_id] = call.name
            return
        self._open.pop(call_id, None)
        self._told.add(call_id)
        text, is_error = "", False
        for part in as_list(call.result):
            answer = as_dict(as_dict(part).get("functionResponse"))
            if answer:
                text, is_error = rules.result_text(answer.get("response"))
                break
        at = iso_ms(call.timestamp) or self._at
        yield from self._told_call(
            call_id,
            call.name or "unnamed",
            allowed(call.args),
            text,
            is_error,
            call.status,
            at,
            entry,
        )

    def _told_call(
        self,
        call_id: str,
        tool: str,
        args: dict[str, Any],
        text: str,
        is_error: bool,
        status: str | None,
        at: int,
        entry: str | None,
    ) -> Iterator[AnyObservation]:
        end = rules.outcome(tool, status, text, is_error)
        raw = RawCall(
            call_id=call_id,
            tool=tool,
            args=args,
            text=excerpt(text),
            at=at,
            outcome=end,
            entry_id=entry,
            command=command_of(args) if is_shell(tool) else None,
        )
        yield called(raw, self._place)
        if tool == "write_todos" and end is Outcome.OK:
            steps = steps_of(args.get("todos"))
            if steps:
                yield Planned(0, at, call_id=opaque(call_id), items=self._plan.whole(steps))

    # --- raw histories ------------------------------------------------------------------------

    def _turns_of(self, turns: list[Turn]) -> Iterator[AnyObservation]:
        if not self._opened:
            yield from self._header(Record())
        for index, turn in enumerate(turns[self._turns :], start=self._turns):
            for number, part in enumerate(turn.parts):
                if part.function_call is not None and part.function_call.name:
                    asked = part.function_call
                    self._speaking = False
                    key = asked.id or f"{asked.name}_{index}_{number}"
                    self._waiting[key] = asked.name or "", asked.args
                elif part.function_response is not None:
                    answer = part.function_response
                    key = self._answered(answer.id, answer.name)
                    tool, args = self._waiting.pop(key, (answer.name or "unnamed", Raw(b"null")))
                    text, is_error = rules.result_text(answer.response)
                    yield from self._told_call(
                        key, tool, allowed(args), text, is_error, None, 0, None
                    )
                elif part.text and part.thought is not True:
                    if turn.role == "user":
                        yield from self._user(part.text, None)
                    else:
                        self._speaking = bool(part.text.strip())
        self._turns = len(turns)

    def _answered(self, call_id: str | None, name: str | None) -> str:
        """By id, else the oldest waiting call of that name."""
        if call_id is not None and call_id in self._waiting:
            return call_id
        named = next((k for k, (tool, _) in self._waiting.items() if tool == name), None)
        return named or call_id or "unnamed"


def _reading(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(4096)
    start = head.lstrip()
    if start.startswith(b"["):
        return "history"
    first = start.split(b"\n", 1)[0].strip()
    return "lines" if first.endswith(b"}") and len(first) > 1 else "document"


def recognises(head: bytes) -> bool:
    head = compact(head)
    start = head.lstrip()[:2000]
    if start.startswith(b"["):
        return b'"parts"' in start and b'"role"' in start
    return b'"projectHash"' in start and b'"sessionId"' in start


def _id_in(_: Path) -> str | None:
    return None


def discover() -> Iterator[Source]:
    folder = Path.home() / ".gemini" / "tmp"
    for pattern in ("*/chats/*.jsonl", "*/chats/*.json"):
        yield from found(AGENT, folder, pattern, _id_in)


def open_session(source: Source, refs: Refs) -> GeminiSession:
    return GeminiSession(source, refs)


FORMAT: Final = Format(AGENT, recognises, discover, open_session)
