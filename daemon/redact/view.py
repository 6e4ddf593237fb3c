"""One text as the rules see it, with what several of them share.

`bag`    the words of the text in lower case, each once: most rules can be ruled out here, and a
         long text repeats itself so much that this is several times cheaper than the text;
`dense`  its words of 16 or more characters that could hold an issued token, as they stand;
`names`  identifiers that contain a keyword of a secret's name;
`prompted`  whether a word stands alone that shells use as a prompt;
`runs`   where 20 or more characters of the base64 alphabets stand in a row.
"""

import re
from typing import NamedTuple

from .keys import CJK_KEYWORDS, KEYWORDS, strength
from .normalise import Normal

_IDENT = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$-ñáéíóúüößäçã")
_NAME_MAX = 64
_DENSE_MIN = 16
_BAG_MIN = 512
_ISSUED = re.compile(r"[0-9]|[A-Za-z]{14}")
_PROMPTS = frozenset(("$", "❯", "%"))
_RUN = re.compile(r"(?<![A-Za-z0-9+/_\-=~])[A-Za-z0-9+/_\-=~]{20,}+")


class Name(NamedTuple):
    """An identifier at `[left, right)`, and how strongly it says "secret" (`keys.strength`)."""

    left: int
    right: int
    name: str
    telling: int


class View(Normal):
    """A normal form, plus what the rules ask of it more than once."""

    __slots__ = ("bag", "dense", "names", "prompted", "runs")

    def __init__(self, source: str) -> None:
        super().__init__(source)
        words = set(self.text.split())
        self.dense = "\n".join([w for w in words if len(w) >= _DENSE_MIN and _ISSUED.search(w)])
        self.prompted = not words.isdisjoint(_PROMPTS)
        self.bag = self.low if len(self.low) < _BAG_MIN else "\n".join(words).lower()
        self.runs = [m.span() for m in _RUN.finditer(self.text)] if self.dense else []
        self.names = self._names()

    def has(self, *gates: str) -> bool:
        """Whether any of the words (lower case, without space) occurs."""
        return any(map(self.bag.__contains__, gates))

    def _names(self) -> list[Name]:
        low, text, bag = self.low, self.text, self.bag
        places: list[int] = []
        for keyword in filter(
            bag.__contains__, KEYWORDS if text.isascii() else KEYWORDS + CJK_KEYWORDS
        ):
            at = low.find(keyword)
            while at >= 0:
                places.append(at)
                at = low.find(keyword, at + 1)
        if not places:
            return []
        places.sort()
        names: list[Name] = []
        done = -1
        for at in places:
            if at < done:
                continue
            left, done = identifier(text, at)
            name = text[left:done]
            names.append(Name(left, done, name, strength(name)))
        return names


def identifier(text: str, at: int) -> tuple[int, int]:
    """The identifier around the keyword at `at`; a keyword of another script stands for itself."""
    start = end = at
    if not text[at].isascii():
        keyword = next(k for k in CJK_KEYWORDS if text[at : at + len(k)].lower() == k)
        return at, at + len(keyword)
    floor, ceiling = max(0, start - _NAME_MAX), min(len(text), end + _NAME_MAX)
    while start > floor and text[start - 1] in _IDENT:
        start -= 1
    while end < ceiling and text[end] in _IDENT:
        end += 1
    while end > at + 1 and text[end - 1] in ".-$":
        end -= 1
    if start < at and start and text[start - 1] == "\\" and text[start] in "nrt":
        start += 1  # the letter belongs to an escaped line break
    return start, end
