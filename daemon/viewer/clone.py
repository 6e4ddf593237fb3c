"""Numbers, snapshots and deltas of one kind of thing. Sans-I/O.

Per key a counter `n`. A delta takes the frame from n - 1 to n; a snapshot says which n it is. Both
are only comparable within one epoch, that is, one life of the viewer.
"""

from __future__ import annotations

from .merge import Json, diff


class Clone:
    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._frames: dict[str, Json] = {}

    def snapshot(self, key: str, frame: Json) -> int:
        """The number of this frame, which deltas from here on start from.

        If it is not the frame last told, everybody else must be told too: `update` first.
        """
        self._frames.setdefault(key, frame)
        return self._numbers.setdefault(key, 0)

    def update(self, key: str, frame: Json) -> tuple[int, Json] | None:
        """(number, merge patch) to tell everybody; None if nothing changed.

        A key without a frame (nobody listened, or it was dropped) gets its whole frame as patch:
        its number moves on, and whoever is behind asks for a snapshot.
        """
        before = self._frames.get(key)
        change = diff(before, frame) if before is not None else frame
        if not change:
            return None
        self._frames[key] = frame
        self._numbers[key] = self._numbers.get(key, 0) + (1 if before is not None else 2)
        return self._numbers[key], change

    def numbers(self) -> list[tuple[str, int]]:
        """(key, number) of every frame that somebody may be following."""
        return [(key, self._numbers.get(key, 0)) for key in self._frames]

    def drop(self, key: str) -> None:
        """Nobody listens: the frame need not be kept. The number is, for the epoch's sake."""
        self._frames.pop(key, None)

    def kept(self, key: str) -> bool:
        return key in self._frames

    def __len__(self) -> int:
        return len(self._frames)
