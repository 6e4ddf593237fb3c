"""What changed between two views; `apply(old, diff(old, new)) == new`, always.

A delta names changed top-level fields whole, except the two that grow: the scene's nodes and
arcs, and the episodes, which are sent item by item, keyed by id. So a delta costs what changed.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Raw

from ..vocabulary.codec import canonical
from ..vocabulary.ids import Wire
from .view import View

_KEYED: Final = {"places": ("id",), "steps": ("id",), "tokens": ("id",),
                 "arcs": ("source", "target", "kind")}  # fmt: skip


class Delta(Wire, frozen=True, omit_defaults=False):
    """`fields`: changed fields of the view, whole. `put`/`gone`: items of scene and episodes."""

    session_id: str
    from_seq: int
    to_seq: int
    fields: dict[str, Raw]
    put: dict[str, tuple[Raw, ...]]
    gone: dict[str, tuple[str, ...]]


def diff(old: View, new: View) -> Delta:
    before, after = msgspec.to_builtins(old), msgspec.to_builtins(new)
    fields = {
        name: Raw(canonical(value))
        for name, value in after.items()
        if name not in ("scene", "episodes") and before.get(name) != value
    }
    put: dict[str, tuple[Raw, ...]] = {}
    gone: dict[str, tuple[str, ...]] = {}
    for name, keys in {**_KEYED, "episodes": ("id",)}.items():
        had, has = _items(before, name, keys), _items(after, name, keys)
        changed = tuple(Raw(canonical(v)) for key, v in has.items() if had.get(key) != v)
        lost = tuple(key for key in had if key not in has)
        if changed:
            put[name] = changed
        if lost:
            gone[name] = lost
    return Delta(new.session_id, old.seq, new.seq, fields, put, gone)


def apply(old: View, delta: Delta) -> View:
    """Raises ValueError if the delta does not follow this view."""
    if (delta.session_id, delta.from_seq) != (old.session_id, old.seq):
        raise ValueError(f"delta {delta.from_seq}→{delta.to_seq} does not follow {old.seq}")
    value: dict[str, Any] = msgspec.to_builtins(old)
    value.update({name: msgspec.json.decode(raw) for name, raw in delta.fields.items()})
    for name, keys in {**_KEYED, "episodes": ("id",)}.items():
        items = _items(value, name, keys)
        for key in delta.gone.get(name, ()):
            del items[key]
        for raw in delta.put.get(name, ()):
            item = msgspec.json.decode(raw)
            items[_key(item, keys)] = item
        holder = value["scene"] if name in _KEYED else value
        holder[name] = list(items.values())
    return msgspec.convert(value, View)


def _items(view: dict[str, Any], name: str, keys: tuple[str, ...]) -> dict[str, Any]:
    holder = view["scene"] if name in _KEYED else view
    return {_key(item, keys): item for item in holder.get(name, ())}


def _key(item: dict[str, Any], keys: tuple[str, ...]) -> str:
    return " ".join(str(item[key]) for key in keys)
