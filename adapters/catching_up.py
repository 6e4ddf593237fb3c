"""What the live channel has missed, from the session's own file. Pure but for the reader given.

The file's observations are aligned with what is known by the last fact both have; without one, by
count. What stands behind that is missing here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from ..reducer.vocabulary.observation import AnyObservation, Opened
from . import wire
from .privacy import Privacy
from .spool import key_of

SLICE_MS: Final = 15
# A session's file, its own id for it, and the door its text must pass → observations in order,
# positions 1, 2, 3 …; raises OSError or ValueError if it is not that session's file.
Reader = Callable[[Path, str, Privacy], Iterator[AnyObservation]]


class CatchUp:
    """One reading of one file, in slices."""

    def __init__(self, reader: Reader, hello: wire.Hello, privacy: Privacy) -> None:
        self._source = reader(Path(hello.file or ""), hello.session, privacy)
        self._found: list[AnyObservation] = []
        self.failed: str | None = None

    def read_some(self) -> bool:
        """True when there is no more, or it failed."""
        until = time.monotonic() + SLICE_MS / 1000
        try:
            while time.monotonic() < until:
                self._found.append(next(self._source))
        except StopIteration:
            return True
        except (OSError, ValueError) as error:
            self.failed = type(error).__name__
            return True
        return False

    def behind(self, last_position: int, last_key: str) -> Sequence[AnyObservation]:
        """What the file holds after the last known fact."""
        found = [seen for seen in self._found if not isinstance(seen, Opened)]
        if last_position <= 1:
            return found
        for index in range(len(found) - 1, -1, -1):
            if key_of(found[index]) == last_key:
                return found[index + 1 :]
        return found[last_position - 1 :]
