"""The client's half of the Clone pattern: join, apply, notice a gap, ask again. Sans-I/O.

                welcome                 snapshot                     delta n + 1
    (nothing) ──────────▶ WAITING ──────────────────▶ IN STEP ──────────────────────▶ IN STEP
                             ▲    deltas are kept        │  delta ≤ n: dropped
                             └───────────────────────────┘  gap, other epoch, another welcome

Feed it what arrives, in any order, and send a request for a snapshot whenever `wants_snapshot`
says so (again if no answer comes). `frame` is whole and true whenever `in_step` is.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from .messages import Delta, SessionList, Snapshot
from .viewer.merge import Json, apply

KEPT_MAX: Final = 1_000  # deltas that came before their snapshot; beyond it they are useless


class Follower:
    """One frame kept in step. `resyncs` counts how often it had to ask again after joining."""

    def __init__(self) -> None:
        self.frame: Json = {}
        self.in_step = False
        self.wants_snapshot = False
        self.resyncs = 0
        self.gone = False
        self._epoch = ""
        self._n = 0
        self._kept: list[Delta] = []

    def welcome(self) -> None:
        """The subscription is live (anew): from here on nothing is missed, before it anything."""
        self._ask()

    def snapshot(self, snapshot: Snapshot | SessionList) -> bool:
        """True if the frame is in step now. Deltas kept since the welcome are applied.

        One that is older than the frame (asked for twice, answered late) changes nothing.
        """
        if self.in_step and snapshot.epoch == self._epoch and snapshot.n <= self._n:
            return True
        raw = snapshot.frame if isinstance(snapshot, Snapshot) else snapshot.sessions
        self.frame = _decode(bytes(raw))
        self._epoch, self._n = snapshot.epoch, snapshot.n
        self.in_step, self.wants_snapshot = True, False
        kept, self._kept = self._kept, []
        for delta in kept:
            self.delta(delta)
        return self.in_step

    def delta(self, delta: Delta) -> bool:
        """True if the frame changed."""
        if not self.in_step:
            if not delta.pulse:
                self._kept.append(delta)
            del self._kept[:-KEPT_MAX]
            return False
        behind = delta.n > self._n + (0 if delta.pulse else 1)
        if delta.epoch != self._epoch or behind:
            self.resyncs += 1
            self._ask()
            if not delta.pulse:
                self._kept.append(delta)
            return False
        if delta.n <= self._n:
            return False
        self._n = delta.n
        self.gone = delta.gone
        self.frame = apply(self.frame, _decode(bytes(delta.change)))
        return True

    def _ask(self) -> None:
        self.in_step = False
        self.wants_snapshot = True
        self._kept.clear()


def _decode(body: bytes) -> Any:
    return msgspec.json.decode(body)
