"""Folded sessions: the most recently used ones are kept, any other is folded from the log again."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from ..reducer.session.fold import fold
from ..reducer.session.state import Session
from .eventlog.reader import Reader

KEPT_MAX: Final = 32


class Sessions:
    """An LRU. Whoever gets a session may read it; only a `Change` may move it on."""

    def __init__(self, log: Reader, kept_max: int = KEPT_MAX) -> None:
        self._log = log
        self._kept_max = kept_max
        self._kept: OrderedDict[str, Session] = OrderedDict()
        self.folded = 0  # how many had to be folded from the log: for `status`

    def get(self, session_id: str) -> Session:
        """Up to date with the log; a session without events is empty (`seq` 0)."""
        session = self._kept.get(session_id)
        if session is None:
            session = self._fold(session_id)
        self._kept[session_id] = session
        self._kept.move_to_end(session_id)
        while len(self._kept) > self._kept_max:
            self._kept.popitem(last=False)
        return session

    def catch_up(self, session_id: str) -> Session:
        """For readers of somebody else's log: folds what was appended since."""
        session = self.get(session_id)
        try:
            for envelope in self._log.events(session_id, session.seq + 1):
                fold(session, envelope)
        except BaseException:
            self.drop(session_id)
            raise
        return session

    def drop(self, session_id: str) -> None:
        """It was folded halfway, or the log has moved another way."""
        self._kept.pop(session_id, None)

    def clear(self) -> None:
        self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, session_id: str) -> bool:
        return session_id in self._kept

    def _fold(self, session_id: str) -> Session:
        self.folded += 1
        session = Session(session_id)
        for envelope in self._log.events(session_id):
            fold(session, envelope)
        return session
