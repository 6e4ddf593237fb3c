"""Codex rollouts: `sessions/YYYY/MM/DD/rollout-<time>-<thread id>.jsonl`, every generation.

Every action stands in a rollout twice or more: as `response_item` call and output, and as an event
(`exec_command_end` and its kin until about 0.146, `item_completed` since). An action is told once,
by whichever of its ends comes first; a command that goes on in the background is told when its end
event, or a poll that saw it end, comes. Polling (`write_stdin`) is a call without consequences.

    turns          `task_started` … `task_complete` | `turn_aborted`
    prompts        `user_message` events or `UserMessage` items; `role: user` messages hold
                   injected context and are used only where no event existed yet
    compaction     `compacted`; its `replacement_history` is never decoded
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

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
from ..jsonl import Records, Skips
from ..normalise.calls import Place, RawCall, called, opaque
from ..normalise.loose import as_dict, texts
from ..normalise.outcomes import settled_by
from ..normalise.plans import PlanLedger
from ..normalise.ports import Refs
from ..normalise.steps import steps_of
from ..normalise.text import excerpt, first_line
from ..normalise.tools import is_polling, is_shell
from ..reader import Format, Losses, Source, iso_ms, project_of, session_id
from . import ends, rules
from .ends import Call
from .finding import AGENT, discover, id_in, recognises
from .records import QUIET, Item, Line, Payload

OPEN_MAX: Final = 20_000
TOLD_MAX: Final = 8192
_CALLS: Final = frozenset({"function_call", "custom_tool_call", "local_shell_call"})
_OUTPUTS: Final = frozenset({"function_call_output", "custom_tool_call_output",
                             "local_shell_call_output"})  # fmt: skip
_ENDS: Final = frozenset({"exec_command_end", "patch_apply_end", "mcp_tool_call_end"})


class CodexSession:
    """One rollout."""

    def __init__(self, source: Source, refs: Refs) -> None:
        self.skips = Skips()
        own = source.session or id_in(source.path)
        self.info = SessionInfo(session_id(AGENT, own, source.path), AGENT)
        self._records = Records(source.path, Line, self.skips)
        self._losses = Losses(self.skips)
        self._refs = refs
        self._place = Place("", refs)
        self._plan = PlanLedger()
        self._calls: OrderedDict[str, Call] = OrderedDict()
        self._told: OrderedDict[str, None] = OrderedDict()
        self._background: dict[str, str] = {}  # process session → call id
        self._searches = 0  # told by their end events, to be passed over as response items
        self._last_prompt: tuple[str | None, str] | None = None
        self._error: SettleReason | None = None
        self._events = self._opened = self._subagent = False
        self._at = 0
        self._never_ran = 0

    @property
    def unanswered(self) -> int:
        return len(self._calls) + self._never_ran

    @property
    def offset(self) -> int:
        return self._records.offset

    def drafts(self, *, final: bool = True) -> Iterator[AnyObservation]:
        for line in self._records.read(final=final):
            yield from self._line(line)
        yield from self._losses.gap(self._at)

    def _line(self, line: Line) -> Iterator[AnyObservation]:
        if not self._opened:
            yield self._open(line)
        yield from self._losses.gap(self._at)
        self._at = iso_ms(line.timestamp) or self._at
        payload = line.payload if line.payload is not None else line
        self._events = self._events or line.type == "event_msg"
        if line.type == "compacted":
            yield Noted(0, self._at, code=NoteCode.COMPACTION)
        elif line.type in ("session_meta", "turn_context", "world_state", "token_usage_record", ""):
            return
        elif line.type in ("item.completed", "turn.completed", "turn.failed", "error"):
            yield from self._stream(line)
        else:
            yield from self._payload(payload)

    def _open(self, line: Line) -> Opened:
        self._opened = True
        meta = line.payload if line.type == "session_meta" and line.payload else line
        own = meta.id or line.thread_id
        cwd = meta.cwd or ""
        self._place = Place(cwd, self._refs)
        self._at = iso_ms(line.timestamp)
        parent = meta.parent_thread_id or meta.forked_from_id
        self._subagent = meta.parent_thread_id is not None
        self.info = SessionInfo(
            session_id=session_id(AGENT, own, Path("_")) if own else self.info.session_id,
            agent=AGENT,
            agent_version=meta.cli_version[:200] if meta.cli_version else None,
            project=project_of(cwd),
            project_ref=self._refs.ref("project", cwd) if cwd else None,
            parent_session_id=session_id(AGENT, parent, Path("_")) if parent else None,
            relation=("subagent" if self._subagent else "fork") if parent else None,
            started_at=self._at,
        )
        return Opened(0, self._at, info=self.info)

    def _payload(self, payload: Payload) -> Iterator[AnyObservation]:
        kind = payload.type
        if kind in _CALLS:
            self._asked(payload)
        elif kind in _OUTPUTS:
            yield from self._output(payload)
        elif kind in _ENDS:
            yield from self._end(payload)
        elif kind == "item_completed" and payload.item is not None:
            yield from self._item(payload.item, payload.turn_id)
        elif kind == "user_message" and isinstance(payload.message, str):
            yield from self._prompt(payload.message, payload.turn_id)
        elif kind == "message" and payload.role == "user" and not self._events:
            yield from self._old_prompt(payload)
        elif kind in ("web_search_end", "web_search_call"):
            yield from self._search(payload)
        elif kind in ("task_complete", "turn_complete", "turn_aborted", "error"):
            yield from self._turn(payload)
        elif kind not in QUIET:
            self.skips.unknown[kind[:64] or "no type"] += 1

    # --- prompts and turns --------------------------------------------------------------------

    def _prompt(self, text: str, turn: str | None) -> Iterator[AnyObservation]:
        """Told once where an event and an item say the same."""
        if not text.strip() or rules.is_injected(text) or self._last_prompt == (turn, text[:400]):
            return
        self._last_prompt = turn, text[:400]
        self._error = None
        yield Prompted(0, self._at, line=first_line(text) or "[no text]", machine=self._subagent)

    def _old_prompt(self, payload: Payload) -> Iterator[AnyObservation]:
        said = texts(payload.content)
        if said and not rules.is_injected(said[0]):
            yield from self._prompt("\n".join(said), None)

    def _turn(self, payload: Payload) -> Iterator[AnyObservation]:
        if payload.type == "error":
            message = payload.message if isinstance(payload.message, str) else ""
            self._error = settled_by(message)
            return
        self._forget()
        if payload.type == "turn_aborted":
            yield Settled(0, self._at, reason=SettleReason.ABORTED)
        else:
            failed = self._error if not payload.last_agent_message else None
            yield Settled(0, self._at, reason=failed or SettleReason.STOP)
        self._error = None

    def _forget(self) -> None:
        """Background commands outlive the turn; what was asked and never ran does not."""
        waiting = set(self._background.values())
        for call_id in [c for c in self._calls if c not in waiting]:
            del self._calls[call_id]
            self._never_ran += 1

    # --- calls --------------------------------------------------------------------------------

    def _asked(self, payload: Payload) -> None:
        call_id = payload.call_id or payload.id
        if call_id is None or call_id in self._told:
            return
        self._calls[call_id] = ends.asked(payload)
        if len(self._calls) > OPEN_MAX:
            self._calls.popitem(last=False)

    def _output(self, payload: Payload) -> Iterator[AnyObservation]:
        call_id = payload.call_id or ""
        known = self._calls.get(call_id)
        if known is None:
            if call_id not in self._told:
                self.skips.lost["result_without_call"] += 1
            return
        out = rules.output(payload.output)
        if out.running is not None and is_shell(known.tool):
            self._background[out.running] = call_id
            return
        if is_polling(known.tool):
            yield from self._polled(call_id, known, payload, out)
            return
        yield from self._tell(call_id, known, out.text, rules.outcome_of_output(out))
        if known.tool == "update_plan":
            steps = steps_of(known.args.get("plan"))
            if steps:
                yield Planned(0, self._at, call_id=opaque(call_id), items=self._plan.whole(steps))

    def _polled(
        self, call_id: str, poll: Call, payload: Payload, out: rules.Output
    ) -> Iterator[AnyObservation]:
        """A poll is told as such; if it saw the command end, that is told first."""
        session = str(poll.args.get("session_id") or "")
        waited = self._background.get(session)
        if waited is not None and out.exit_code is not None:
            known = self._calls.get(waited)
            if known is not None:
                yield from self._tell(waited, known, out.text, rules.outcome_of_output(out))
        yield from self._tell(call_id, poll, "", Outcome.OK)

    def _end(self, payload: Payload) -> Iterator[AnyObservation]:
        call_id = payload.call_id or ""
        if call_id not in self._told:
            ended = ends.of_event(payload, self._calls.get(call_id))
            yield from self._tell(call_id, ended.call, ended.text, ended.outcome)

    def _item(self, item: Item, turn: str | None) -> Iterator[AnyObservation]:
        name = item.type.replace("_", "").lower()
        call_id = item.id or ""
        if name == "usermessage":
            yield from self._prompt("\n".join(texts(item.content)), turn)
        elif call_id in self._told:
            return
        elif (ended := ends.of_item(name, item, self._calls.get(call_id))) is not None:
            yield from self._tell(call_id, ended.call, ended.text, ended.outcome)
            self._searches += name == "websearch"
        elif name in ("todolist", "plan"):
            steps = steps_of(item.items)
            if steps:
                yield Planned(0, self._at, call_id=opaque(call_id or "plan"),
                              items=self._plan.whole(steps))  # fmt: skip
        elif name not in ends.QUIET_ITEMS:
            self.skips.unknown[f"item {item.type[:48]}"] += 1

    def _search(self, payload: Payload) -> Iterator[AnyObservation]:
        if payload.type == "web_search_call" and self._searches > 0:
            self._searches -= 1
            return
        query = payload.query or as_dict(payload.action).get("query")
        self._searches += payload.type == "web_search_end"
        call_id = payload.call_id or payload.id or f"ws_{len(self._told) + 1}"
        yield from self._tell(call_id, Call("web_search", {"query": query}), "", Outcome.OK)

    def _stream(self, line: Line) -> Iterator[AnyObservation]:
        """`codex exec --json`: items without times, and without the prompt."""
        if line.type == "item.completed" and line.item is not None:
            yield from self._item(line.item, None)
        elif line.type == "turn.completed":
            yield Settled(0, self._at, reason=SettleReason.STOP)
        elif line.type == "turn.failed":
            yield Settled(0, self._at, reason=SettleReason.ERROR)

    def _tell(self, call_id: str, call: Call, text: str, end: Outcome) -> Iterator[AnyObservation]:
        if call_id in self._told:
            return
        self._calls.pop(call_id, None)
        self._told[call_id] = None
        if len(self._told) > TOLD_MAX:
            self._told.popitem(last=False)
        for session in [s for s, waited in self._background.items() if waited == call_id]:
            del self._background[session]
        raw = RawCall(
            call_id=call_id or "unnamed",
            tool=call.tool,
            args=call.args,
            text=excerpt(text),
            at=self._at,
            outcome=end,
            command=call.command,
            paths=call.paths,
        )
        yield called(raw, self._place)


def open_session(source: Source, refs: Refs) -> CodexSession:
    return CodexSession(source, refs)


FORMAT: Final = Format(AGENT, recognises, discover, open_session)
