"""Claude Code transcripts, 1.0 to 2.1.3xx: `<projects>/<cwd>/<session id>.jsonl`.

    user        a prompt, or results of calls (`tool_result` blocks), or the program's own words
    assistant   one content block of a reply; a reply is several lines with one `message.id`
    system      compact_boundary, stop_hook_summary, turn_duration …
    progress    repeats what stands elsewhere: never counted

A sub-agent's lines stand inline with `isSidechain` (1.0) or in a file of their own (2.x): both are
evidence inside the parent's `Task`/`Agent` call (`inner_calls`). A sub-agent's file read by itself
is a session with a parent.

The end of a turn is `stop_reason: end_turn` where it is written; before that, a reply without a
call followed by a hook summary, a duration or the next prompt. At the end of a file nothing is
concluded, since it may go on.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

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
from ..files import found
from ..jsonl import Records, Skips
from ..normalise.args import allowed
from ..normalise.calls import Place, called, opaque
from ..normalise.loose import texts
from ..normalise.plans import PlanLedger
from ..normalise.ports import Refs
from ..normalise.text import first_line
from ..reader import Format, Losses, Source, compact, iso_ms, project_of, session_id
from . import results, rules
from .records import BOOKKEEPING, Block, Line, Message
from .results import Call

AGENT: Final = "claude"
OPEN_MAX: Final = 20_000
RECENT_MAX: Final = 4096


class ClaudeSession:
    """One transcript."""

    def __init__(self, source: Source, refs: Refs) -> None:
        self.skips = Skips()
        self.info = SessionInfo(session_id(AGENT, source.session, source.path), AGENT)
        self.sidechain_calls = 0
        self.sidechain_errors = 0
        self._records = Records(source.path, Line, self.skips)
        self._losses = Losses(self.skips)
        self._refs = refs
        self._place = Place("", refs)
        self._plan = PlanLedger()
        self._calls: OrderedDict[str, Call] = OrderedDict()
        self._recent: OrderedDict[str, None] = OrderedDict()  # answered already
        self._prompt_parents: set[str] = set()
        self._pending: Prompted | None = None  # a slash command that may be a local one
        self._opened = self._subagent = self._speaking = False
        self._settled_id: str | None = None
        self._at = 0

    @property
    def unanswered(self) -> int:
        return len(self._calls)

    @property
    def offset(self) -> int:
        return self._records.offset

    def drafts(self, *, final: bool = True) -> Iterator[AnyObservation]:
        for line in self._records.read(final=final):
            yield from self._line(line)
        yield from self._losses.gap(self._at)

    def _line(self, line: Line) -> Iterator[AnyObservation]:
        if not self._opened:
            if line.session_id is None or line.type not in ("user", "assistant", "system",
                                                            "attachment", "progress"):  # fmt: skip
                self._count(line)
                return
            yield self._open(line)
        yield from self._losses.gap(self._at)
        if line.is_sidechain and not self._subagent:
            self._sidechain(line)
            return
        self._at = iso_ms(line.timestamp) or self._at
        if line.type == "user" and line.message is not None:
            yield from self._user(line, line.message)
        elif line.type == "assistant" and line.message is not None:
            yield from self._assistant(line, line.message)
        elif line.type == "system":
            yield from self._system(line)
        elif line.attachment is not None and line.attachment.type == "queued_command":
            yield from self._queued(line.attachment.prompt, line.attachment.commandMode)
        else:
            self._count(line)

    def _count(self, line: Line) -> None:
        if line.type not in BOOKKEEPING:
            self.skips.unknown[line.type[:64] or "no type"] += 1

    def _open(self, line: Line) -> Opened:
        self._opened = True
        self._subagent = bool(line.is_sidechain and line.agent_id)
        cwd = line.cwd or ""
        self._place = Place(cwd, self._refs)
        parent = session_id(AGENT, line.session_id, Path("_")) if self._subagent else None
        own = f"agent-{line.agent_id}" if self._subagent else line.session_id
        self._at = iso_ms(line.timestamp)
        self.info = SessionInfo(
            session_id=session_id(AGENT, own, Path("_")),
            agent=AGENT,
            agent_version=line.version[:200] if line.version else None,
            project=project_of(cwd),
            project_ref=self._refs.ref("project", cwd) if cwd else None,
            parent_session_id=parent,
            relation="subagent" if self._subagent else None,
            started_at=self._at,
        )
        return Opened(0, self._at, info=self.info)

    # --- user lines ---------------------------------------------------------------------------

    def _user(self, line: Line, message: Message) -> Iterator[AnyObservation]:
        content = message.content
        said: list[str] = []
        if isinstance(content, str):
            said.append(content)
        else:
            for block in content or ():
                if block.type == "tool_result":
                    yield from self._result(block, line)
                elif block.type == "text" and block.text:
                    said.append(block.text)
                elif block.type in ("image", "document"):
                    said.append(f"[{block.type}]")
        if line.is_compact_summary:
            return
        if line.is_meta:
            yield from self._release()
            return
        if any(text.startswith(rules.INTERRUPTED) for text in said):
            self._speaking, self._pending = False, None
            yield Settled(0, self._at, reason=SettleReason.ABORTED)
        elif said:
            yield from self._prompt(line, "\n".join(said))

    def _prompt(self, line: Line, text: str) -> Iterator[AnyObservation]:
        if rules.is_own(text):
            self._pending = None  # the answer of a local command
            return
        command = rules.command_line(text)
        origin = line.origin.kind if line.origin else None
        machine = self._subagent or rules.is_machine(
            text, line.turn_origin, line.prompt_source, origin
        )
        said = rules.machine_line(text) if machine else command or text
        prompt = Prompted(
            0,
            self._at,
            line=first_line(said) or "[no text]",
            machine=machine,
            entry_id=opaque(line.uuid) if line.uuid else None,
        )
        yield from self._release()
        yield from self._settle(SettleReason.STOP)
        if line.parent_uuid is not None:
            if line.parent_uuid in self._prompt_parents:
                yield Noted(0, self._at, code=NoteCode.BRANCH)
            self._prompt_parents.add(line.parent_uuid)
        if command is not None and rules.is_local(text):
            self._pending = prompt
        else:
            yield prompt

    def _queued(self, prompt: Any, mode: str | None) -> Iterator[AnyObservation]:
        """Typed while the agent worked, delivered inside its turn."""
        text = next((each for each in texts(prompt) if each.strip()), None)
        if text is None or rules.is_own(text):
            return
        machine = mode not in (None, "prompt") or rules.is_machine(text)
        said = rules.machine_line(text) if machine else rules.command_line(text) or text
        yield Prompted(0, self._at, line=first_line(said) or "[no text]", machine=machine)

    def _release(self) -> Iterator[AnyObservation]:
        """A slash command that went to the model after all."""
        if self._pending is not None:
            yield self._pending
            self._pending = None

    # --- replies ------------------------------------------------------------------------------

    def _assistant(self, line: Line, message: Message) -> Iterator[AnyObservation]:
        synthetic = message.model == "<synthetic>"
        blocks = message.content if isinstance(message.content, list) else []
        text = next((b.text for b in blocks if b.type == "text" and b.text), "") or ""
        if line.is_api_error_message or (synthetic and text.startswith("API Error")):
            kind = line.error if isinstance(line.error, str) else None
            self._speaking = False
            yield from self._release()
            yield Settled(0, self._at, reason=rules.api_trouble(kind, line.api_error_status, text))
            return
        if synthetic:
            return
        yield from self._release()
        asked = False
        for block in blocks:
            if block.type == "tool_use" and block.id and block.name:
                asked = True
                self._remember(block, message.id or line.uuid)
        self._speaking = not asked and (self._speaking or bool(text))
        if message.stop_reason in ("end_turn", "max_tokens", "refusal") and not asked and text:
            if message.id is None or message.id != self._settled_id:
                self._speaking = True
                long = message.stop_reason == "max_tokens"
                yield from self._settle(SettleReason.LENGTH if long else SettleReason.STOP)
            self._settled_id = message.id
            self._speaking = False

    def _remember(self, block: Block, reply: str | None) -> None:
        assert block.id is not None and block.name is not None
        if block.id in self._calls or block.id in self._recent:
            return
        self._calls[block.id] = Call(block.name, allowed(block.input), reply)
        if len(self._calls) > OPEN_MAX:
            self._calls.popitem(last=False)

    def _settle(self, reason: SettleReason) -> Iterator[AnyObservation]:
        if self._speaking:
            self._speaking = False
            yield Settled(0, self._at, reason=reason)

    def _system(self, line: Line) -> Iterator[AnyObservation]:
        if line.subtype == "compact_boundary":
            yield Noted(0, self._at, code=NoteCode.COMPACTION)
        elif line.subtype in ("stop_hook_summary", "turn_duration"):
            yield from self._settle(SettleReason.STOP)

    # --- results ------------------------------------------------------------------------------

    def _result(self, block: Block, line: Line) -> Iterator[AnyObservation]:
        call_id = block.tool_use_id or ""
        known = self._calls.pop(call_id, None)
        if known is None:
            if call_id not in self._recent:
                self.skips.lost["result_without_call"] += 1
            return
        self._recent[call_id] = None
        if len(self._recent) > RECENT_MAX:
            self._recent.popitem(last=False)
        raw = results.raw_call(known, block, line, self._at)
        yield called(raw, self._place)
        items = results.planned(known, raw, line, self._plan)
        if items is not None:
            yield Planned(0, self._at, call_id=opaque(call_id), items=items)

    def _sidechain(self, line: Line) -> None:
        """Inline work of a sub-agent: counted for people, part of the parent's call."""
        content = line.message.content if line.message else None
        for block in content if isinstance(content, list) else ():
            self.sidechain_calls += block.type == "tool_use"
            self.sidechain_errors += block.type == "tool_result" and block.is_error is True


def recognises(head: bytes) -> bool:
    head = compact(head)
    return b'"sessionId":' in head and (
        (b'"isSidechain":' in head and b'"uuid":' in head)
        or b'"type":"queue-operation"' in head
        or b'"type":"file-history-snapshot"' in head
    )


def discover() -> Iterator[Source]:
    """Transcripts of this machine; those of sub-agents belong to their parents."""
    home = os.environ.get("CLAUDE_CONFIG_DIR") or str(Path.home() / ".claude")
    for source in found(AGENT, Path(home) / "projects", "*/*.jsonl", lambda path: path.stem):
        if not source.path.stem.startswith("agent-"):
            yield source


def open_session(source: Source, refs: Refs) -> ClaudeSession:
    return ClaudeSession(source, refs)


FORMAT: Final = Format(AGENT, recognises, discover, open_session)
