"""The engine: normal form, all rules, union of hits, masks by span, again until nothing is found.

What lives here: the order of the rules and the settling loop. What must not: any pattern.

Invariants
    - every span is in code points of the input; spans are sorted and do not touch;
    - `redact(redact(x)) == redact(x)`, because the answer is one on which no rule finds anything;
    - a text that does not settle in PASSES_MAX rounds is dropped whole (fail closed);
    - nothing is logged, nothing is remembered between calls except pure functions of short strings.
"""

import hmac
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Literal

from . import (
    assignment,
    carriers,
    columns,
    commands,
    decode,
    hashes,
    headers,
    keyblocks,
    opaque,
    sources,
    urls,
    vendors,
)
from .caps import cut_range
from .exact import NO_VALUES, ExactValues
from .spans import Hit, Redacted, Span, dropped, outside_masks, union
from .view import View

Level = Literal[1, 2]
Scan = Callable[[View], Iterator[Hit]]
PASSES_MAX = 6
# Shorter than the shortest name, mark and value; one word; a time: no rule can match there.
TEXT_MIN = 8
# One word without any mark that could separate a name from its value: an issued token or nothing.
_TOKEN = re.compile(r"[A-Za-z0-9_./\-]{0,400}")
_HARMLESS = re.compile(r"[A-Za-z_./\-]{0,19}|\d{4}-\d\d-\d\d[T ][\d:.]{5,12}(?:Z|[+-]\d\d:?\d\d)?")

# The whole of R1–R9, R11 and R13, in the order of how sure they are. All of them always run.
FINDERS: tuple[Scan, ...] = (
    vendors.find,
    keyblocks.find,
    headers.find,
    urls.find,
    commands.find,
    carriers.find,
    columns.find,
    hashes.find,
    sources.find,
)


def own_rules(view: View, loose: bool = False) -> Iterator[Hit]:
    """All rules that look at plain text; `loose` is level 2."""
    for finder in FINDERS:
        yield from finder(view)
    yield from assignment.find(view, loose)


class Engine:
    """One configured set of rules. Cheap to make, free of I/O, safe to share within a process."""

    def __init__(
        self,
        *,
        key: bytes | None = None,
        exact: ExactValues = NO_VALUES,
        second_opinion: Scan | None = None,
    ) -> None:
        """`key` makes the fingerprints of opaque tokens; without it they are all alike."""
        self._key = key
        self._exact = exact
        self._second = second_opinion

    def redact(self, text: str, level: Level) -> Redacted:
        """Mask every secret found in `text`; lone surrogates become U+FFFD, offsets stay."""
        source = _without_surrogates(text)
        cut = cut_range(source)
        masked: list[Hit] = [] if cut is None else [(*cut, "cut")]
        if is_harmless(source) and not self._exact.touches(source):
            return Redacted(source)
        for _ in range(PASSES_MAX):
            layout = _Layout(source, masked, self._label)
            grown = cut_range(layout.text)  # masks may be longer than what they mask
            if grown is not None:
                masked = union([*masked, (*layout.to_source(*grown), "cut")])
                layout = _Layout(source, masked, self._label)
            found = list(outside_masks(self.scan(layout.text, level), layout.text))
            fresh = [(*layout.to_source(start, end), rule) for start, end, rule in found]
            if not fresh:
                return Redacted(layout.text, tuple(Span(*hit) for hit in masked))
            masked = union([*masked, *fresh])
        return dropped(text)

    def scan(self, text: str, level: Level) -> Iterator[Hit]:
        """Every hit of every rule in `text`, in its code points, in no order."""
        view = View(text)
        for start, end, rule in self._hits(view, level):
            yield (*view.to_source(start, end), rule)

    def _hits(self, view: View, level: Level) -> Iterator[Hit]:
        yield from (
            vendors.find(view) if _TOKEN.fullmatch(view.text) else own_rules(view, level == 2)
        )
        yield from decode.find(view, own_rules)
        yield from self._exact.find(view)
        if self._second is not None:
            yield from self._second(view)
        if level == 2:
            yield from opaque.find(view)

    def _label(self, value: str, rule: str) -> str:
        if rule == "cut":
            return f"[cut {len(value)} characters]"
        if rule != "opaque":
            return f"[redacted:{rule}]"
        if self._key is None:
            return "[opaque]"
        message = b"wf1|opaque|" + value.encode("utf-8")
        return f"[opaque:{hmac.new(self._key, message, sha256).hexdigest()[:8]}]"


class _Layout:
    """The input with its masks laid on, and the way from a place in it back to the input."""

    __slots__ = ("_begins", "_ends", "_masked", "text")

    def __init__(self, source: str, masked: list[Hit], label: Callable[[str, str], str]) -> None:
        self._masked = masked
        self._begins: list[int] = []
        self._ends: list[int] = []
        parts: list[str] = []
        last = length = 0
        for start, end, rule in masked:
            parts.append(source[last:start])
            length += start - last
            self._begins.append(length)
            mask = label(source[start:end], rule)
            parts.append(mask)
            length += len(mask)
            self._ends.append(length)
            last = end
        parts.append(source[last:])
        self.text = "".join(parts) if masked else source

    def to_source(self, start: int, end: int) -> tuple[int, int]:
        """A mask counts whole: a hit that touches part of it covers what it hides."""
        return self._place(start, right=False), self._place(end - 1, right=True) + 1

    def _place(self, index: int, right: bool) -> int:
        found = bisect_right(self._begins, index) - 1
        if found < 0:
            return index
        if index < self._ends[found]:
            return self._masked[found][1] - 1 if right else self._masked[found][0]
        return index - self._ends[found] + self._masked[found][1]


def is_harmless(text: str) -> bool:
    """Whether no rule can match by the text's length or alphabet alone; known values apart."""
    return len(text) < TEXT_MIN or _HARMLESS.fullmatch(text) is not None


def _without_surrogates(text: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text)
    return text


_DEFAULT = Engine()


def redact(text: str, level: Level) -> Redacted:
    """Redact with the own rules alone: no key, no known values, no second opinion."""
    return _DEFAULT.redact(text, level)
