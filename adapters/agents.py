"""Which agents speak on agent.sock, and how a session's own file is read: one row per agent.

Readers are imported when the first file is read: a live session that lacks nothing needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

from ..reducer.vocabulary.observation import AnyObservation
from .catching_up import Reader
from .pi.live import PiLive
from .privacy import Privacy
from .sessions import Translator

TRANSLATORS: Final[dict[str, Callable[[str, Privacy], Translator]]] = {"pi": PiLive}


def _reader(module: str) -> Reader:
    def read(path: Path, session: str, privacy: Privacy) -> Iterator[AnyObservation]:
        return import_module(module, __package__).read_session(path, session, privacy)

    return read


READERS: Final[dict[str, Reader]] = {"pi": _reader(".pi.file")}
