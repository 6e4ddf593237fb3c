"""Spans and masks: the vocabulary of the redaction room.

A *hit* is `(start, end, rule)` in the text a finder was shown. A `Span` is the same in code points
of the caller's input. Rule names are a closed set, because a mask in the text is inert: if any
word could stand in it, a mask would be a place to hide in.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec

Hit = tuple[int, int, str]

RULES = (
    "vendor",  # R1
    "private-key",  # R2
    "assignment",  # R3
    "authorization",  # R4
    "cookie",  # R5
    "userinfo",  # R6
    "query",  # R7
    "command",  # R8
    "carrier",  # R9
    "encoded",  # R10
    "hash",  # R11
    "opaque",  # R12
    "source",  # R13
    "exact",  # R14
    "kingfisher",
    "cut",  # the middle of a field above the cap
    "dropped",  # the whole field: too slow, or never settling
)

DROPPED_TEXT = "[unredacted text dropped]"

# Every mask this room writes, and nothing else. `[opaque:…]` carries a keyed fingerprint.
MASK = re.compile(
    r"\[(?:redacted:(?:"
    + "|".join(RULES)
    + r")|opaque(?::[0-9a-f]{8})?|cut \d{1,12} characters|unredacted text dropped)\]"
)


class Span(msgspec.Struct, frozen=True, order=True):
    """What was masked: half-open range in code points of the input, and the rule that saw it."""

    start: int
    end: int
    rule: str


class Redacted(msgspec.Struct, frozen=True):
    """A text that may be stored, and the spans of the input that are no longer in it."""

    text: str
    spans: tuple[Span, ...] = ()


def dropped(text: str) -> Redacted:
    """The fail-closed answer: nothing of the text is passed on."""
    return Redacted(DROPPED_TEXT, (Span(0, len(text), "dropped"),))


def union(hits: Iterable[Hit]) -> list[Hit]:
    """Merge overlapping and touching hits; the longest part names the rule of the whole."""
    merged: list[Hit] = []
    widest = 0
    for start, end, rule in sorted(hits):
        if start >= end:
            continue
        width = 0 if rule == "opaque" else end - start  # any other rule knows more about it
        if merged and start <= merged[-1][1]:
            left, right, kept = merged[-1]
            if width > widest:
                kept, widest = rule, width
            merged[-1] = (left, max(right, end), kept)
        else:
            merged.append((start, end, rule))
            widest = width
    return merged


def outside_masks(hits: Iterable[Hit], text: str) -> Iterator[Hit]:
    """Leave out hits that lie wholly inside a mask already standing in `text`."""
    masks = [m.span() for m in MASK.finditer(text)] if "[" in text else []
    for hit in hits:
        if not any(left <= hit[0] and hit[1] <= right for left, right in masks):
            yield hit
