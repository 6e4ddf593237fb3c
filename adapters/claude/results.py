"""A `tool_result` block and what stands beside it → one raw call, and the plan it may say."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Struct

from ...reducer.vocabulary.observation import PlanItem, PlanState
from ...reducer.vocabulary.terms import Outcome
from ..normalise.args import command_of
from ..normalise.calls import RawCall
from ..normalise.loose import as_dict, as_text, texts
from ..normalise.plans import PlanLedger, Step
from ..normalise.steps import state_of, steps_of
from ..normalise.text import excerpt, one_line
from ..normalise.tools import is_shell
from . import rules
from .records import Block, Line, Result

_DELEGATES: Final = frozenset({"Task", "Agent"})
_PLANS: Final = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate"})
_results: Final = msgspec.json.Decoder(Result)


class Call(Struct, frozen=True):
    """A call that was asked for. `reply`: the message id all calls of one reply share."""

    tool: str
    args: dict[str, Any]
    reply: str | None


def raw_call(call: Call, block: Block, line: Line, at: int) -> RawCall:
    text = excerpt("\n".join(texts(block.content, "text")))
    more = _more(line, call.tool)
    return RawCall(
        call_id=block.tool_use_id or "",
        tool=call.tool,
        args=call.args,
        text=rules.unwrapped(text),
        at=at,
        outcome=rules.outcome(
            call.tool,
            text,
            is_error=block.is_error is True,
            interrupted=more.interrupted is True,
        ),
        entry_id=call.reply,
        command=command_of(call.args) if is_shell(call.tool) else None,
        inner_calls=max(0, more.total_tool_use_count or 0),
    )


def planned(call: Call, raw: RawCall, line: Line, plan: PlanLedger) -> tuple[PlanItem, ...] | None:
    """The plan after this call; None if it says none."""
    if call.tool not in _PLANS or raw.outcome is not Outcome.OK:
        return None
    args = call.args
    if call.tool == "TodoWrite":
        steps = steps_of(args.get("todos"))
        return plan.whole(steps) if steps else None
    own = args.get("taskId") or as_dict(_more(line, call.tool).task).get("id")
    if own is None:
        return None
    subject = as_text(args.get("subject"))
    return plan.one(Step(subject, _state(call.tool, args), str(own)[:128], _why(args)))


def _state(tool: str, args: dict[str, Any]) -> PlanState:
    return PlanState.PENDING if tool == "TaskCreate" else state_of(args)


def _why(args: dict[str, Any]) -> str | None:
    reason = args.get("reason")
    return one_line(reason, 600) if isinstance(reason, str) and reason.strip() else None


_NOTHING: Final = Result()


def _more(line: Line, tool: str) -> Result:
    if tool not in _DELEGATES and tool not in _PLANS and not is_shell(tool):
        return _NOTHING
    try:
        return _results.decode(line.tool_use_result)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _NOTHING
