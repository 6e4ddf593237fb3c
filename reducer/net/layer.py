"""A mapping laid over another: writes stay in the layer, reads fall through to the base.

Making one costs the same for ten entries and for ten thousand, which is what keeps the cost of
deciding on a patch flat. Nothing is ever deleted from a net, so there are no tombstones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import TypeVar

V = TypeVar("V")
D = TypeVar("D")


class Layer(MutableMapping[str, V]):
    """The base must not change while the layer lives."""

    __slots__ = ("base", "own")

    def __init__(self, base: Mapping[str, V]) -> None:
        self.base = base
        self.own: dict[str, V] = {}

    def __getitem__(self, key: str) -> V:
        own = self.own
        return own[key] if key in own else self.base[key]

    def __setitem__(self, key: str, value: V) -> None:
        self.own[key] = value

    def __delitem__(self, key: str) -> None:
        raise TypeError("nothing is ever deleted from a net")

    def __contains__(self, key: object) -> bool:
        return key in self.own or key in self.base

    def __iter__(self) -> Iterator[str]:
        base = self.base
        yield from base
        for key in self.own:
            if key not in base:
                yield key

    def __len__(self) -> int:
        return len(self.base) + sum(1 for key in self.own if key not in self.base)
