"""JSON merge patches, RFC 7396: the difference between two JSON objects as a JSON object.

    old {"a": 1, "b": {"c": 2, "d": 3}, "e": [1]}
    new {"a": 1, "b": {"c": 9},         "e": [1, 2]}
    patch       {"b": {"c": 9, "d": null}, "e": [1, 2]}

`null` in a patch means "take away", so the objects themselves must hold no null: `plain` takes
them out. Arrays are replaced as a whole. A client in any language applies it in ten lines.
"""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec

Json = dict[str, Any]


def plain(value: Any) -> Any:
    """A struct as JSON objects without nulls; absent and null mean the same to us."""
    return _without_nulls(msgspec.to_builtins(value))


def diff(old: Json, new: Json) -> Json:
    """`apply(old, diff(old, new)) == new`; empty if they are equal."""
    patch: Json = {name: None for name in old if name not in new}
    for name, value in new.items():
        before: object = old.get(name)
        if before is value:
            continue  # shared with the frame before: not looked into
        if isinstance(value, dict) and isinstance(before, dict):
            inner = diff(cast(Json, before), cast(Json, value))
            if inner:
                patch[name] = inner
        elif before != value or isinstance(before, bool) != isinstance(value, bool):
            patch[name] = value  # true == 1 in Python, not in JSON
    return patch


def apply(old: Json, patch: Json) -> Json:
    """The object with the patch applied; `old` is not touched."""
    new = dict(old)
    for name, value in patch.items():
        if value is None:
            new.pop(name, None)
        elif isinstance(value, dict):
            before = new.get(name)
            base = cast(Json, before) if isinstance(before, dict) else {}
            new[name] = apply(base, cast(Json, value))
        else:
            new[name] = value
    return new


_LEAVES: Final = frozenset({str, int, float, bool})


def _without_nulls(value: Any) -> Any:
    """Leaves are told apart before the call: they are nine of ten."""
    if isinstance(value, dict):
        return {
            name: item if type(item) in _LEAVES else _without_nulls(item)
            for name, item in cast(Json, value).items()
            if item is not None
        }
    if isinstance(value, list | tuple):
        items = cast(list[Any], value)
        return [item if type(item) in _LEAVES else _without_nulls(item) for item in items]
    return value
