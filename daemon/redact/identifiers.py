"""Does an identifier look like a secret? Ids are checked and refused, never rewritten.

An id is chosen by the agent and stands in the net for good, in every log and export; so an id that
merely resembles a credential is refused, and the agent picks another.
"""

import re

from . import engine
from .shapes import is_random

_PIECES = re.compile(r"[A-Za-z0-9]+")
_ULID = re.compile(r"(?i)[0-7][0-9a-hjkmnp-tv-z]{25}")
_HEX = re.compile(r"(?i)[0-9a-f]+")
_HEX_MIN = 32
_MIXED_MIN = 20


def looks_secret(identifier: str) -> bool:
    """Whether `identifier` carries a known token, or a piece that only a generator makes.

    UUIDs and ULIDs are fine, and so are words, numbers and short hashes joined by marks.
    """
    if engine.redact(identifier, 1).spans:
        return True
    # A prefix of ours (`tr_`) must not hide what follows it.
    for at, mark in enumerate(identifier):
        if mark in "_-.:" and engine.redact(identifier[at + 1 :], 1).spans:
            return True
    return any(_generated(piece) for piece in _PIECES.findall(identifier))


def _generated(piece: str) -> bool:
    if _HEX.fullmatch(piece):
        return len(piece) >= _HEX_MIN
    if _ULID.fullmatch(piece):
        return False
    return len(piece) >= _MIXED_MIN and is_random(piece, _MIXED_MIN)
