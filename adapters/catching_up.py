"""What the live channel has missed, from the session's own file.

The file's drafts are aligned with what is known by the last fact both have; without one, by
count. What stands behind that is missing here. Read and handed out in slices, so that the loop
that does it keeps its other promises.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from ..reducer.vocabulary.observation import AnyObservation, Opened
from . import wire
from .normalise.ports import Refs
from .spooled import key_of

SLICE_MS: Final = 15
BATCH: Final = 32
# A session's file and its own id for it → drafts in order, Opened first; raises OSError or
# ValueError if that is not this session's file.
Reader = Callable[[Path, str, Refs], Iterator[AnyObservation]]


class CatchUp:
    """One reading of one file: `read_some` until it is over, then `behind`, then `batches`."""

    def __init__(self, reader: Reader, hello: wire.Hello, refs: Refs) -> None:
        self._source = reader(Path(hello.file or ""), hello.session, refs)
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
            self.failed = str(error) if isinstance(error, ValueError) else type(error).__name__
            return True
        return False

    def behind(self, last_position: int, last_key: str) -> list[AnyObservation]:
        """What the file holds after the last known fact."""
        found: list[AnyObservation] = [s for s in self._found if not isinstance(s, Opened)]
        if last_position <= 1:
            return found
        for index in range(len(found) - 1, -1, -1):
            if key_of(found[index]) == last_key:
                return found[index + 1 :]
        return found[last_position - 1 :]


def batches(found: list[AnyObservation]) -> Iterator[list[AnyObservation]]:
    """Few enough at a time for the redactor not to hold up the loop."""
    for start in range(0, len(found), BATCH):
        yield found[start : start + BATCH]
