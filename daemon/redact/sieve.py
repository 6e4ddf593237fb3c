"""Hidden reasoning is dropped when a record is parsed, before anything else sees it.

It hides at any depth (in real files inside the results of tools), so the sieve walks the whole
value. Dropped are

    - every object whose `type`, `kind` or `role` names reasoning, in any agent's spelling;
    - every object marked as a thought (`"thought": true`), whose text stands in a neighbour;
    - every member whose key names reasoning, a signature of it or its encrypted form,
      and the instructions of the system.

Counts stay: `reasoning_tokens: 12` says how much, not what.
"""

import re
from typing import Any

from .words import words

DEPTH_MAX = 100

# Types as agents write them; prefixes, because streams add `_delta`, `.done` and the like.
REASONING_TYPE = re.compile(
    r"(?i)(?:redacted_?)?(?:thinking|reasoning|thought|agent_?reasoning|signature_?delta)"
    r"(?!_?level|_?effort|_?budget)|.*[._/-](?:thinking|reasoning|thought)s?(?:[._/-]|_?delta|$)"
    r"|response\.reasoning"
)
REASONING_KEY = re.compile(
    r"(?i)thinking|reasoning|thought|signature|encrypted_?content|base_?instructions|"
    r"system_?prompt|developer_?(?:prompt|instructions)"
)
_COUNT_KEY = re.compile(r"(?i)tokens?(?:_?count)?$|count$|budget$|level$|effort$")
_TYPE_KEYS = ("type", "kind", "role")
_LEVELS = words("off none minimal low medium high xhigh max auto enabled disabled adaptive")


class Sieved:
    """A value without hidden reasoning, and how many objects and members were dropped."""

    __slots__ = ("dropped", "value")

    def __init__(self, value: Any, dropped: int) -> None:
        self.value = value
        self.dropped = dropped


def sieve(value: Any) -> Sieved:
    """Drop hidden reasoning from parsed JSON. The input is left as it is.

    An object that is reasoning itself becomes None; below DEPTH_MAX everything is dropped.
    """
    dropped = 0

    def walk(node: Any, depth: int) -> Any:
        nonlocal dropped
        if isinstance(node, dict):
            kept: dict[str, Any] = {}
            for key, child in node.items():  # pyright: ignore[reportUnknownVariableType]
                if _is_hidden(str(key), child) or _is_reasoning(child) or depth >= DEPTH_MAX:  # pyright: ignore[reportUnknownArgumentType]
                    dropped += 1
                else:
                    kept[str(key)] = walk(child, depth + 1)  # pyright: ignore[reportUnknownArgumentType]
            return kept
        if isinstance(node, list):
            members: list[Any] = []
            for child in node:  # pyright: ignore[reportUnknownVariableType]
                if _is_reasoning(child) or depth >= DEPTH_MAX:
                    dropped += 1
                else:
                    members.append(walk(child, depth + 1))
            return members
        return node

    if _is_reasoning(value):
        return Sieved(None, 1)
    return Sieved(walk(value, 0), dropped)


def _is_reasoning(node: Any) -> bool:
    """Whether the object is reasoning by its own account."""
    if not isinstance(node, dict):
        return False
    for key in _TYPE_KEYS:
        name: Any = node.get(key)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        if isinstance(name, str) and REASONING_TYPE.match(name):
            return True
    return node.get("thought") is True or node.get("isThought") is True  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def _is_hidden(key: str, child: Any) -> bool:
    """Whether the member is reasoning by its key; numbers and levels are not."""
    if REASONING_KEY.search(key) is None:
        return False
    if isinstance(child, bool):
        return True
    if isinstance(child, int | float) and _COUNT_KEY.search(key):
        return False
    return not (isinstance(child, str) and child in _LEVELS and _COUNT_KEY.search(key))
