"""The allow-list of tool arguments: everything else of a call is never decoded.

File contents, replacement texts and prompts of sub-agents stand in other fields, so they are
skipped by the decoder and reach no Python object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from .loose import as_list

VALUE_CHARS_MAX: Final = 8 * 1024


class Allowed(Struct, omit_defaults=True):
    """Names as the agents' tools spell them. `Any`: an odd type is ignored later, not refused."""

    command: Any = None
    cmd: Any = None
    path: Any = None
    file_path: Any = None
    filePath: Any = None
    absolute_path: Any = None
    notebook_path: Any = None
    dir_path: Any = None
    workdir: Any = None
    pattern: Any = None
    glob: Any = None
    query: Any = None
    url: Any = None
    agent: Any = None
    name: Any = None
    action: Any = None
    subagent_type: Any = None
    skill: Any = None
    # plans
    todos: Any = None
    plan: Any = None
    subject: Any = None
    status: Any = None
    taskId: Any = None
    id: Any = None
    session_id: Any = None
    phase: Any = None
    reason: Any = None


_decoder: Final = msgspec.json.Decoder(Allowed)


def allowed(raw: Raw | bytes) -> dict[str, Any]:
    """The allow-listed arguments that are there; {} if it is no object."""
    try:
        found = _decoder.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return picked(msgspec.structs.asdict(found))


def picked(args: Mapping[str, Any]) -> dict[str, Any]:
    """The same of arguments that are decoded already."""
    return {key: _bounded(value) for key in _FIELDS if (value := args.get(key)) is not None}


_FIELDS: Final = Allowed.__struct_fields__


def _bounded(value: Any) -> Any:
    return value[:VALUE_CHARS_MAX] if isinstance(value, str) else value


def command_of(args: Mapping[str, Any]) -> str | None:
    """The command line of a shell tool: a text, or a list such as ["bash", "-lc", "make"]."""
    value = args.get("command") or args.get("cmd")
    if isinstance(value, str) and value:
        return value
    words = as_list(value)
    if not words or not all(isinstance(word, str) for word in words):
        return None
    return words[2] if len(words) == 3 and words[1] in _SHELL_FLAGS else " ".join(words)


_SHELL_FLAGS: Final = ("-c", "-lc", "-Command")
