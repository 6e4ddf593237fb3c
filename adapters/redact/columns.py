"""R9, tables: a heading says which column holds secrets; each row below is masked there.

CSV, TSV, Markdown, psql and boxed tables. Only headings that are a list of identifiers count, and
only values that do not look like words.
"""

import re
from collections.abc import Iterator

from . import shapes
from .keys import MEDIUM, STRONG, strength
from .shapes import PHRASE, RANDOM
from .spans import Hit
from .vetoes import names_a_secret
from .view import View

_CELL = re.compile(r"[\w .\-]{1,40}")
_RULE = re.compile(r"[-=+|:\s─━┼┿╪├┤]+")
_ROWS_MAX = 2000
_LINE_MAX = 4096


def find(view: View) -> Iterator[Hit]:
    """Yield the cells under a telling heading."""
    text = view.text
    done = 0
    for name in view.names:
        if name.telling < MEDIUM or name.left < done:
            continue
        start = text.rfind("\n", 0, name.left) + 1
        end = text.find("\n", name.right)
        if end < 0:
            return
        done = end
        if end - start > 400:
            continue
        separator = _separator(text[start:end])
        if separator is None:
            continue
        columns = _columns(text[start:end], separator)
        if columns:
            yield from _rows(text, end + 1, separator, columns, text.count(separator, start, end))


def _separator(line: str) -> str | None:
    for mark in ("|", "│", "\t", ",", ";"):
        if mark in line:
            return mark
    return None


def _columns(line: str, separator: str) -> dict[int, int]:
    """The indexes of telling columns with their strength; empty if the line is no heading."""
    cells = [cell.strip().strip("\"'`") for cell in line.split(separator)]
    named = [cell for cell in cells if cell]
    if len(named) < 2 or not all(_CELL.fullmatch(cell) for cell in named):
        return {}
    if any(shapes.is_random(cell, 6) for cell in named):
        return {}
    return {i: s for i, cell in enumerate(cells) if (s := strength(cell.replace(" ", "_"))) >= 2}


def _rows(
    text: str, position: int, separator: str, columns: dict[int, int], count: int
) -> Iterator[Hit]:
    for _ in range(_ROWS_MAX):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end]
        if len(line) > _LINE_MAX:
            return
        if not _RULE.fullmatch(line):
            if line.count(separator) != count:
                return
            at = position
            for index, cell in enumerate(line.split(separator)):
                if index in columns and _secret(cell.strip().strip("\"'`"), columns[index]):
                    left = at + len(cell) - len(cell.lstrip(" \"'`"))
                    yield left, at + len(cell.rstrip(" \"'`\r")), "carrier"
                at += len(cell) + 1
        position = end + 1
        if position >= len(text):
            return


def _secret(value: str, telling: int) -> bool:
    grade = shapes.grade(value[:400])
    if telling == STRONG:
        return grade == RANDOM or (
            grade == PHRASE and any(c.isdigit() for c in value) and not names_a_secret(value)
        )
    return grade == RANDOM and len(value) >= 8
