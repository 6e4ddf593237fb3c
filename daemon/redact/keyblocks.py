"""R2: private keys, whole or cut, plain, indented or escaped.

From BEGIN on, everything that still looks like key material is taken, up to END or to the first
line that does not. An END without its BEGIN (the head was cut off) is followed backwards.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator

from .spans import Hit
from .view import View

_BEGIN = re.compile(
    r"-{3,5}\s?BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?\s?-{3,5}"
    r"|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----|PuTTY-User-Key-File-\d:"
)
_END = re.compile(
    r"-{3,5}\s?END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?\s?-{3,5}|Private-MAC: ?[0-9a-f]*"
)
# Between lines: breaks, real or escaped, with what editors and quoting put around them.
_GAP = re.compile(r"(?:\\+[nrt]|[\s\"'`+|>#*,;:\-\\/(){}\[\]]|\d{1,4}(?=[:|→]))*")
_LINE = re.compile(
    r"(?:Proc-Type|DEK-Info|Comment|Version|Encryption|Public-Lines|Private-Lines|Hash|Charset|"
    r"Key-Derivation|Argon2-\w+)(?::| ?:)[^\n\\]{0,120}|[A-Za-z0-9+/=_]{16,}|"
    r"[A-Za-z0-9+/]{1,15}={0,2}"
)
_LINE_ENDS = ("", "\n", "\r", "\\", '"', "'", ".", " ", "<")
_BACK = re.compile(r"(?:(?:[A-Za-z0-9+/]{40,}={0,2})(?:\\+[nr]|\s|[\"'+|>#*,]){1,24})+\Z")
_TAIL = re.compile(r"[A-Za-z0-9+/=]{1,76}(?:\\+[nr]|\s|[\"'+,]){0,24}\Z")


def find(view: View) -> Iterator[Hit]:
    """Yield key blocks from BEGIN to END, or as far as they can be followed."""
    text = view.text
    if "PRIVATE KEY" not in text and "PuTTY-User" not in text:
        return
    begins = [m.span() for m in _BEGIN.finditer(text)]
    ends = [m.span() for m in _END.finditer(text)]
    done = 0
    for index, (start, body) in enumerate(begins):
        if start < done:
            continue
        following = begins[index + 1][0] if index + 1 < len(begins) else len(text)
        at = bisect_left(ends, (body, 0))
        end = ends[at] if at < len(ends) and ends[at][0] <= following else None
        done = _follow(text, body, end, following)
        if done > body:
            yield start, done, "private-key"
    done = 0
    for start, end in ends:
        first = _follow_back(text, start, done)
        if first < start:
            yield first, end, "private-key"
        done = end


def _follow(text: str, position: int, end: tuple[int, int] | None, limit: int) -> int:
    """Where the key material that starts at `position` ends; `position` itself if there is none.

    `end` is the END marker before the next BEGIN, which is at `limit`.
    """
    first = taken = position
    long_lines = 0
    while position < limit:
        gap = _GAP.match(text, position, limit)
        position = gap.end() if gap else position
        # The dashes of the marker count as a gap, so the gap may reach into it.
        if end is not None and position >= end[0]:
            return end[1] if long_lines else first
        line = _LINE.match(text, position, limit)
        if line is None:
            break
        short = line.end() - line.start() < 16
        if short and (not long_lines or text[line.end() : line.end() + 1] not in _LINE_ENDS):
            break
        position = taken = line.end()
        long_lines += not short
        if short and end is None:
            break
    if long_lines == 0:
        return first
    return end[1] if end is not None and end[0] - taken < 200 else taken


def _follow_back(text: str, position: int, floor: int) -> int:
    """The start of the key lines that end at an END marker."""
    start = position
    window = text[max(floor, position - 16 * 1024) : position]
    tail = _TAIL.search(window, max(0, len(window) - 128))
    if tail is not None:
        start = position - len(window) + tail.start()
        window = window[: tail.start()]
    for line in reversed(window.split("\n")[-400:]):
        body = line.strip(" \t\r\"'+|>#*,\\nr")
        if body and (len(body) < 40 or not re.fullmatch(r"[A-Za-z0-9+/=]+", body)):
            break
        start -= len(line) + 1
    return max(start, floor) if position - start > 60 else position
