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
from .normalise.ports import Refs
from .pi.live import PiLive
from .privacy import Privacy
from .sessions import Translator

TRANSLATORS: Final[dict[str, Callable[[str, Privacy], Translator]]] = {"pi": PiLive}


def _reader(agent: str) -> Reader:
    def read(path: Path, session: str, refs: Refs) -> Iterator[AnyObservation]:
        if not path.is_file():
            raise ValueError("no such file")
        source = import_module("..reader", __name__).Source(agent, path, session)
        opened = import_module(f"..{agent}.file", __name__).open_session(source, refs)
        for draft in opened.drafts(final=True):
            if opened.info.session_id != f"{agent}-{session}":
                raise ValueError("another session's file")
            yield draft

    return read


READERS: Final[dict[str, Reader]] = {"pi": _reader("pi")}
