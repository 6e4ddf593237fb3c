"""What an adapter needs of the redaction room, in one bundle: text, references, ids.

Whatever is raw leaves memory through one of these three. Normalisers of all agents take the first
two (`normalise/ports.py`), so that live feed and session file pass the same door.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from ..daemon.paths import Paths, make_private
from ..daemon.redact.client import RedactorClient, Report, TextOnly
from ..daemon.redact.hmacs import References, load_key
from ..daemon.redact.identifiers import looks_secret
from ..reducer.vocabulary.ids import LABEL_CHARS_MAX
from .normalise.ports import Redactor, Refs

_UNPRINTED: Final = re.compile(r"[\x00-\x1f\x7f]+")
LINE_SOURCE_CHARS_MAX: Final = 4_000  # more of a text is never looked at for one line


class Privacy(Struct, frozen=True):
    """`redactor`: texts → texts that may be stored. `refs`: keyed references that cannot be
    guessed back. `looks_secret`: an id that must not be stored; ids are never rewritten."""

    redactor: Redactor
    refs: Refs
    looks_secret: Callable[[str], bool]

    def texts(self, texts: Sequence[str]) -> list[str]:
        return self.redactor.redact_many(texts, 2)

    def text(self, text: str) -> str:
        return self.texts([text])[0]

    def line(self, text: str, at_most: int = LABEL_CHARS_MAX) -> str:
        """One redacted line that fits a label; never empty."""
        flat = " ".join(_UNPRINTED.sub(" ", self.text(text[:LINE_SOURCE_CHARS_MAX])).split())
        return (flat if len(flat) <= at_most else flat[: at_most - 1].rstrip() + "…") or "…"


KEY_FILE: Final = "reference.key"
RULES_CACHE: Final = "redactor"


def open_privacy(paths: Paths, report: Report | None = None) -> Privacy:
    """With the key of this installation, made if there is none. Raises KeyFileError.

    The worker loads its rules meanwhile: half a second, or several the first time. `warm` waits.
    """
    key = load_key(paths.state / KEY_FILE)
    cache = paths.state / RULES_CACHE
    make_private(cache)
    client = RedactorClient(cache_dir=cache, key=key, report=report)
    client.start()
    return Privacy(TextOnly(client), References(key), looks_secret)


def warm(privacy: Privacy) -> None:
    """Returns when the rules are loaded: the first text asked about waits for them."""
    privacy.redactor.redact_many(["token=load-the-rules-1"], 1)
