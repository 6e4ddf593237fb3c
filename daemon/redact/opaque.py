"""R12, level 2: every token that carries no meaning for a reader is masked.

20 or more characters, letters and at least three digits, and denser than words are. A keyed
fingerprint stands in for it, so that the same token can still be recognised within one install.
"""

import re
from collections.abc import Iterator

from .shapes import entropy
from .spans import Hit
from .view import View

_TOKEN = re.compile(r"(?<![A-Za-z0-9_\-+~])[A-Za-z0-9_\-+~]{20,}+={0,2}")
_SLASHED = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{32,}+={0,2}")
_DOTTED = re.compile(
    r"(?<![A-Za-z0-9_.\-])[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]{8,}){1,4}(?![A-Za-z0-9_.\-])"
)
_PIECE = re.compile(r"[A-Za-z0-9]+")
_LONGEST_MAX = 4096


def find(view: View) -> Iterator[Hit]:
    """Yield opaque tokens."""
    text = view.text
    if not view.dense:
        return
    for match in _TOKEN.finditer(text):
        if _opaque(match[0]):
            yield *match.span(), "opaque"
    if "/" in view.dense:
        for match in _SLASHED.finditer(text):
            token = match[0]
            if "/" in token and _opaque(token) and _mixed(token) and not _path(token):
                yield *match.span(), "opaque"
    if "." in view.dense:
        for match in _DOTTED.finditer(text):
            if sum(_opaque(p, 8) for p in match[0].split(".")) >= 2:
                yield *match.span(), "opaque"


def _opaque(token: str, least: int = 20) -> bool:
    head = token[:_LONGEST_MAX]
    if len(head) < least:
        return False
    digits = sum(c.isdigit() for c in head)
    letters = sum(c.isalpha() for c in head)
    if digits < 3 or letters < 3:
        return False
    return entropy(head) > 2.9 and not _joined_words(head)


def _joined_words(token: str) -> bool:
    """`2026-01-02-release-notes-part-12`: every piece is a word or a short number."""
    pieces = _PIECE.findall(token)
    return (
        len(pieces) >= 3
        and all(len(p) <= 4 or p.isalpha() or (len(p) <= 8 and p.isdigit()) for p in pieces)
        and not all(len(p) <= 4 for p in pieces)
    )


def _mixed(token: str) -> bool:
    return any(c.islower() for c in token) and any(c.isupper() for c in token)


def _path(token: str) -> bool:
    pieces = [p for p in token.split("/") if p]
    return sum(p.isalpha() or len(p) <= 2 for p in pieces) > 0.6 * len(pieces)
