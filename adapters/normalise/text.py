"""Lines, masks and bounds for text written by tools and people.

Every function is linear in its input, and its input is bounded by `excerpt` first.
"""

from __future__ import annotations

import re
from typing import Final

from ...reducer.vocabulary.ids import LABEL_CHARS_MAX

EXCERPT_CHARS: Final = 16 * 1024  # of head and of tail: what any table here ever looks at
RAW_LABEL_CHARS: Final = 1024  # kept until the redactor has seen it; then cut to its bound
LINE_CHARS: Final = 400

_ANSI: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,512}(?:\x07|\x1b\\)?|[@-Z\\-_])"
)
_CONTROL: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
_ALNUM: Final = re.compile(r"[^\W_]")
_SPACES: Final = re.compile(r"\s+")
# What changes between two showings of the same trouble, in the order of masking.
_MASKS: Final = (
    (re.compile(r"https?://[^\s\"'<>)\]]+"), "<url>"),
    (
        re.compile(
            r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
        ),
        "<time>",
    ),
    (re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), "<id>"),
    (re.compile(r"(?<![\w<])(?:[A-Za-z]:)?(?:~|\.{1,2})?(?:[\\/][\w.@%+~-]+){2,}[\\/]?"), "<path>"),
    (re.compile(r"(?<![\w<])(?:[\w.@+-]+/)+[\w.@+-]+"), "<path>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b|\b(?=[0-9a-f]*\d)(?=[0-9]*[a-f])[0-9a-f]{7,64}\b"), "<hex>"),
    # Words with digits in them are data; codes of compilers and protocols are not (TS2322, E0308).
    (re.compile(r"\b(?![A-Z]{1,5}\d{1,5}\b)(?=[\w-]*\d)(?=[\w-]*[A-Za-z_-])\w[\w-]*"), "#"),
    (re.compile(r"(?<![A-Za-z\d])\d+(?:[.,:]\d+)*"), "#"),
)  # fmt: skip


def excerpt(text: str) -> str:
    """Head and tail of a long text; the same whether or not a channel cut it before."""
    if len(text) <= 2 * EXCERPT_CHARS:
        return text
    return f"{text[:EXCERPT_CHARS]}\n{text[-EXCERPT_CHARS:]}"


def plain(text: str) -> str:
    """Without terminal codes, lines kept. Invisible characters go in `one_line`."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def one_line(text: str, at_most: int = RAW_LABEL_CHARS) -> str:
    """All of it on one line, cut at a word so that no half token stands at the end."""
    if len(text) <= at_most and "  " not in text and text.isprintable():
        return text.strip()  # most are in order already
    line = " ".join(plain(text[: 4 * at_most]).split())
    if not line.isprintable():
        line = " ".join(_CONTROL.sub("", line).split())
    if len(line) <= at_most:
        return line
    cut = line[:at_most]
    space = cut.rfind(" ", at_most - 256)
    return cut[:space] if space > 0 else cut


def first_line(text: str, at_most: int = RAW_LABEL_CHARS) -> str:
    """The first line that holds a letter or digit."""
    for line in plain(text[: 16 * at_most]).split("\n"):
        if _ALNUM.search(line):
            return one_line(line, at_most)
    return ""


def masked(line: str) -> str:
    """A line without what differs between two showings of one trouble."""
    for pattern, mask in _MASKS:
        line = pattern.sub(mask, line)
    return _SPACES.sub(" ", line).strip()


def fit(text: str, at_most: int = LABEL_CHARS_MAX) -> str:
    """Within a bound, after redaction: the last thing that happens to a string."""
    if len(text) <= at_most:
        return text
    return text[: at_most - 1].rstrip() + "…"
