"""R10: decode once and look again. What is found inside masks the whole encoded run.

Base64 (40 or more characters, also URL-safe, wrapped, or with its end cut off), hex, and
percent-encoding. One layer only: the cost stays linear.
"""

import binascii
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from .spans import Hit
from .view import View

_RUN_MIN = 40
_MORE_LINES = re.compile(r"(?:[ \t]{0,3}\r?\n[ \t]{0,12}[A-Za-z0-9+/]{4,80}){1,400}={0,2}")
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_LEFT = re.compile(r"[^\s\"'`<>]{0,200}\Z")
_RIGHT = re.compile(r"[^\s\"'`<>]{0,4096}")
_HEX = re.compile(r"(?:[0-9a-f]{2})+|(?:[0-9A-F]{2})+")
_SPACE = re.compile(r"\s+")
_TEXT_BYTES = frozenset(range(32, 127)) | {9, 10, 13}
_DECODED_MAX = 32 * 1024
Finder = Callable[[View], Iterator[Hit]]


def find(view: View, within: Finder) -> Iterator[Hit]:
    """Yield encoded runs inside which `within` finds a secret."""
    text = view.text
    done = 0
    for start, end in view.runs:
        if end - start < _RUN_MIN or start < done:
            continue
        if 56 <= end - start <= 80 and text[end : end + 1] in ("\n", "\r", " "):
            more = _MORE_LINES.match(text, end)
            end = more.end() if more is not None else end
        # `token=abc…`: the name is in the alphabet too, and so is the mark between.
        start += (
            text.find("=", start, end - _RUN_MIN) + 1 - start if "=" in text[start : end - 3] else 0
        )
        done = end
        plain = _plain(text[start:end])
        if plain is not None and _any(within, plain):
            yield start, end, "encoded"
    if "%" in view.dense:
        yield from _percents(text, within)


def _any(within: Finder, plain: str) -> bool:
    return next(iter(within(View(plain))), None) is not None


def _plain(run: str) -> str | None:
    """The text behind a run, or None if it is none."""
    body = _SPACE.sub("", run)[: _DECODED_MAX * 2]
    if _HEX.fullmatch(body):
        return _printable(binascii.a2b_hex(body))
    body = body.rstrip("=").replace("-", "+").replace("_", "/")
    if len(body) % 4 == 1:
        body = body[:-1]
    # Most long runs are no text at all: the first 18 bytes tell.
    head = _base64(body[:24])
    if head is None or sum(b in _TEXT_BYTES for b in head) < 0.8 * len(head):
        return None
    whole = _base64(body)
    return None if whole is None else _printable(whole)


def _base64(body: str) -> bytes | None:
    try:
        return binascii.a2b_base64(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        return None


def _printable(raw: bytes) -> str | None:
    if sum(b in _TEXT_BYTES or b >= 0x80 for b in raw) < 0.95 * len(raw):
        return None
    if sum(b >= 0x80 for b in raw) > 0.4 * len(raw):
        return None
    return raw.decode("utf-8", "replace")


def _percents(text: str, within: Finder) -> Iterator[Hit]:
    """Decode each run with percent-encoding in it; every hit is led back character by character."""
    done = 0
    for match in _PERCENT.finditer(text):
        if match.start() < done:
            continue
        floor = max(done, match.start() - 200)
        left = _LEFT.search(text, floor, match.start())
        right = _RIGHT.match(text, match.end())
        start = left.start() if left else match.start()
        done = right.end() if right else match.end()
        if done - start < 12:
            continue
        yield from _percent(text[start:done], start, within)


def _percent(run: str, at: int, within: Finder) -> Iterator[Hit]:
    plain: list[str] = []
    places: list[int] = []
    last = 0
    for match in _PERCENT.finditer(run):
        plain.append(run[last : match.start()])
        places.extend(range(last, match.start()))
        plain.append(unquote(match[0], "latin-1"))
        places.append(match.start())
        last = match.end()
    plain.append(run[last:])
    places.extend(range(last, len(run) + 1))
    view = View("".join(plain))
    for start, end, _rule in within(view):
        left, right = view.to_source(start, end)
        yield at + places[left], at + places[right], "encoded"
