"""stub"""

from __future__ import annotations

from collections.abc import Iterator

from ..normalise.ports import Refs
from ..reader import Source


def recognises(head: bytes) -> bool:
    return head.startswith(b"SQLite format 3\0")


class DatabaseSession:
    def __init__(self, source: Source, refs: Refs) -> None: ...


def discover() -> Iterator[Source]:
    yield from ()
