"""How an action ended: from the event of its kind (until about 0.146) or from its item (since)."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct

from ...reducer.vocabulary.terms import Outcome
from ..normalise.args import allowed, command_of, picked
from ..normalise.loose import as_dict, as_list, as_text, texts
from ..normalise.tools import is_shell
from . import rules
from .records import Item, Payload

# Items that are no calls.
QUIET_ITEMS: Final = frozenset({
    "agentmessage", "reasoning", "contextcompaction", "error", "imageview", "hookprompt",
    "enteredreviewmode", "exitedreviewmode", "sleep", "subagentactivity", "imagegeneration",
    "dynamictoolcall",
})  # fmt: skip


class Call(Struct):
    """A call that was asked for."""

    tool: str
    args: dict[str, Any]
    command: str | None = None
    paths: tuple[str, ...] = ()


class Ended(Struct, frozen=True):
    call: Call
    text: str
    outcome: Outcome


def asked(payload: Payload) -> Call:
    """From a `function_call`, `custom_tool_call` or `local_shell_call`."""
    tool = payload.name or payload.type.removesuffix("_call")
    if payload.type == "custom_tool_call":
        return Call(tool, {}, paths=rules.patch_files(payload.input or ""))
    if payload.type == "local_shell_call":
        return Call(tool, {}, command_of(as_dict(payload.action)))
    args = allowed((payload.arguments or "").encode("utf-8", "replace"))
    if is_shell(tool):
        return Call(tool, args, command_of(args))
    return Call(f"{payload.namespace}__{tool}" if payload.namespace else tool, args)


def of_event(event: Payload, known: Call | None) -> Ended:
    """`exec_command_end`, `patch_apply_end` or `mcp_tool_call_end`."""
    if event.type == "exec_command_end":
        text = event.aggregated_output or f"{event.stdout or ''}\n{event.stderr or ''}"
        call = _command(known, event.command)
        return Ended(call, text, rules.outcome_of_end(event.status, event.exit_code, text))
    if event.type == "patch_apply_end":
        end = Outcome.OK if event.success else Outcome.TOOL_ERROR
        end = Outcome.REFUSED_BY_USER if event.status == "declined" else end
        return Ended(_patch(known, event.changes), event.stderr or event.stdout or "", end)
    invocation = as_dict(event.invocation)
    tool = f"mcp__{invocation.get('server')}__{invocation.get('tool')}"
    text, failed = _mcp_result(event.result)
    return Ended(known or Call(tool, {}), text, Outcome.TOOL_ERROR if failed else Outcome.OK)


def of_item(name: str, item: Item, known: Call | None) -> Ended | None:
    """`name`: the item's type in small letters; None if it is no call."""
    if name == "commandexecution":
        text = item.aggregated_output or ""
        end = rules.outcome_of_end(item.status, item.exit_code, text)
        return Ended(_command(known, item.command), text, end)
    if name == "filechange":
        end = rules.outcome_of_end(item.status, None, "")
        end = Outcome.TOOL_ERROR if end is Outcome.FAILED else end
        return Ended(_patch(known, item.changes), "", end)
    if name == "mcptoolcall":
        text, failed = _mcp_result(item.result)
        failed = failed or item.status == "failed" or item.error is not None
        call = Call(
            f"mcp__{item.server or ''}__{item.tool or 'tool'}", picked(as_dict(item.arguments))
        )
        end = Outcome.TOOL_ERROR if failed else Outcome.OK
        return Ended(call, text or _message(item.error), end)
    if name in ("collabagenttoolcall", "collabtoolcall"):
        end = Outcome.TOOL_ERROR if item.status == "failed" else Outcome.OK
        return Ended(Call(item.tool or "spawn_agent", {}), "", end)
    if name == "websearch":
        return Ended(Call("web_search", {"query": item.query}), "", Outcome.OK)
    return None


def _command(known: Call | None, command: Any) -> Call:
    call = known or Call("exec_command", {})
    call.command = call.command or command_of({"command": command})
    return call


def _patch(known: Call | None, changes: Any) -> Call:
    call = known or Call("apply_patch", {})
    call.paths = _paths(changes) or call.paths
    return call


def _paths(changes: Any) -> tuple[str, ...]:
    """`{path: change}` in events, `[{path, kind}]` in items."""
    if isinstance(changes, dict):
        return tuple(as_dict(changes))[:64]
    paths = [as_text(as_dict(change).get("path")) for change in as_list(changes)]
    return tuple(path for path in paths if path)[:64]


def _mcp_result(result: Any) -> tuple[str, bool]:
    """`{content, isError}`, in events inside `{Ok: …}` or `{Err: text}`."""
    outer = as_dict(result)
    if "Err" in outer:
        return _message(outer["Err"]), True
    inner = as_dict(outer.get("Ok", outer))
    failed = inner.get("isError") is True or inner.get("is_error") is True
    return "\n".join(texts(inner.get("content"))), failed


def _message(value: Any) -> str:
    return as_text(as_dict(value).get("message")) or as_text(value)
