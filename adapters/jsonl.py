"""Records out of a file that is mostly JSON lines, whatever has happened to it.

    one record a line                      as it is
    two records on one line                split where the first one's braces close
    invalid escapes, lone surrogates,
    broken UTF-8                           mended inside strings, and counted
    a record over several lines            joined as long as its braces are open (`PRETTY_MAX`)
    a line above `LINE_BYTES_MAX`          skipped without being held in memory
    cut tail                               left for the next reading, or counted at the end

A cursor is the offset behind the last record taken. Nothing here knows what a record means.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, Generic, TypeVar

import msgspec

T = TypeVar("T")

LINE_BYTES_MAX: Final = 32 << 20
PRETTY_MAX: Final = 4 << 20
READ_BYTES: Final = 1 << 20
TOO_LONG: Final = b"\0"  # no JSON

# A string (its end may be missing: then it is the rest) or one brace.
_STRUCTURE: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}]', re.DOTALL)
_BAD_ESCAPE: Final = re.compile(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|(.))', re.DOTALL)
_SURROGATES: Final = re.compile(
    rb"(\\\\)|(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_CONTROL: Final = re.compile(rb"[\x00-\x1f]")


class Skips:
    """What was not understood, by reason: for `doctor`, for people, and for coverage.

    `mended` was understood after all; `unknown` counts record types, which are no loss by
    themselves; `lost` means facts are missing.
    """

    __slots__ = ("lost", "mended", "unknown")

    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()
        self.mended: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()

    def summary(self) -> dict[str, dict[str, int]]:
        return {
            "lost": dict(sorted(self.lost.items())),
            "mended": dict(sorted(self.mended.items())),
            "unknown": dict(sorted(self.unknown.most_common(32))),
        }


class Records(Generic[T]):
    """Reads `path` from `offset` on, each time `read` is called as far as there is something."""

    def __init__(self, path: Path, type_: type[T], skips: Skips, offset: int = 0) -> None:
        self.offset = offset
        self.losses = 0  # rises with every record lost: whoever chains records must know
        self._path = path
        self._decoder = msgspec.json.Decoder(type_)
        self._skips = skips

    def read(self, *, final: bool = True) -> Iterator[T]:
        """Every record that stands complete. `final`: nothing more will come; count a cut tail."""
        again = True
        while again:  # a record over several lines moves the place to read on from
            again = False
            with self._path.open("rb") as file:
                file.seek(self.offset)
                for line, end, complete in _lines(file, self.offset):
                    if not complete and not final and not _whole(line):
                        return
                    try:  # one line, hopefully one record
                        record = self._decoder.decode(line)
                    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                        yield from self._records(line, file, complete)
                    else:
                        yield record
                    self.offset = end + self._joined
                    if self._joined:
                        self._joined, again = 0, True
                        break

    _joined = 0  # bytes of further lines that belonged to the last record

    def _records(self, line: bytes, file: IO[bytes], complete: bool) -> Iterator[T]:
        """What a line holds that is not one record."""
        if line == TOO_LONG:
            self._lose("line_too_long")
            return
        if not line.strip():
            return
        pieces = _split(line)
        if len(pieces) > 1:
            self._skips.mended["two_records_on_a_line"] += 1
        elif complete and pieces and pieces[0][1] > 0:
            joined = self._join(line, file)
            if joined is not None:
                pieces = [(joined, 0)]
        for piece, open_braces in pieces:
            yield from self._mended(piece, cut=open_braces > 0 and not complete)
        if not pieces:
            self._lose("not_json")

    def _mended(self, piece: bytes, *, cut: bool) -> Iterator[T]:
        for reason, mend in _MENDS:
            text = mend(piece)
            try:
                record = self._decoder.decode(text)
            except msgspec.ValidationError:
                self._lose("odd_shape")
                return
            except RecursionError:
                self._lose("too_deep")
                return
            except (msgspec.DecodeError, UnicodeDecodeError):
                piece = text
                continue
            if reason:
                self._skips.mended[reason] += 1
            yield record
            return
        if cut:
            self._skips.lost["cut_record"] += 1
        else:
            self._lose("not_json")

    def _join(self, line: bytes, file: IO[bytes]) -> bytes | None:
        """A record printed over several lines: read on while its braces are open."""
        if line.strip() != b"{":
            return None
        parts, size, open_braces = [line], len(line), 1
        at = file.tell()
        while size < PRETTY_MAX and open_braces > 0:
            more = file.readline(PRETTY_MAX)
            if not more:
                file.seek(at)
                return None
            parts.append(more)
            size += len(more)
            open_braces += _balance(more)
        if open_braces:
            file.seek(at)
            return None
        self._joined = size - len(line)
        self._skips.mended["record_over_several_lines"] += 1
        return b"".join(parts)

    def _lose(self, reason: str) -> None:
        self._skips.lost[reason] += 1
        self.losses += 1


def _lines(file: IO[bytes], offset: int) -> Iterator[tuple[bytes, int, bool]]:
    """(line, or `TOO_LONG` in its place; offset behind it; whether it ends with a newline)."""
    end = offset
    while line := file.readline(LINE_BYTES_MAX):
        end += len(line)
        if line.endswith(b"\n"):
            yield line, end, True
        elif len(line) < LINE_BYTES_MAX:
            yield line, end, False
        else:
            while line and not line.endswith(b"\n"):
                line = file.readline(READ_BYTES)
                end += len(line)
            yield TOO_LONG, end, True


def _whole(line: bytes) -> bool:
    """A last line without newline may still be a whole record."""
    pieces = _split(line)
    return bool(pieces) and pieces[-1][1] == 0


def _split(line: bytes) -> list[tuple[bytes, int]]:
    """Top-level objects in a line, each with the number of its braces left open."""
    pieces: list[tuple[bytes, int]] = []
    depth = start = 0
    for token in _STRUCTURE.finditer(line):
        mark = line[token.start()]
        if mark == 0x7B:  # {
            if depth == 0:
                start = token.start()
            depth += 1
        elif mark == 0x7D and depth > 0:  # }
            depth -= 1
            if depth == 0:
                pieces.append((line[start : token.end()], 0))
    if depth > 0:
        pieces.append((line[start:], depth))
    return pieces


def _balance(line: bytes) -> int:
    marks = [line[token.start()] for token in _STRUCTURE.finditer(line)]
    return marks.count(0x7B) - marks.count(0x7D)


def _as_is(data: bytes) -> bytes:
    return data


def _escapes(data: bytes) -> bytes:
    r"""`\q` was meant as two characters; raw control characters inside a string as a space."""
    mended = _BAD_ESCAPE.sub(lambda m: b"\\" + m[0] if m[1] is not None else m[0], data)
    return _CONTROL.sub(b" ", mended)


def _surrogates(data: bytes) -> bytes:
    return _SURROGATES.sub(lambda m: m[0] if m[1] or m[2] else b"\\ufffd", data)


def _utf8(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode()


_MENDS: Final = (
    ("", _as_is),
    ("lone_surrogate", _surrogates),
    ("invalid_escape", _escapes),
    ("broken_utf8", _utf8),
)
