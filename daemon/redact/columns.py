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
_LINE_MAX = 4096


def find(view: View) -> Iterator[Hit]:
    """Yield the cells under a telling heading."""
    text = view.text
    done = 0
    if view.names and view.has("insert"):
        yield from _inserted(view)
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
            count = text.count(separator, start, end)
            hits, done = _rows(text, end + 1, separator, columns, count)
            yield from hits


_INSERT = re.compile(
    r"insert\s+into\s+\S{1,80}\s*\((?P<c>[^()]{1,400})\)\s*values\s*\((?P<v>[^()]{1,4000})\)"
)
_LITERAL = re.compile(
    r"\s*(?:'(?P<q>(?:[^'\\]|\\.|'')*)'|\"(?P<d>[^\"]*)\"|(?P<b>[^,'\"]*))\s*(?:,|\Z)"
)


def _inserted(view: View) -> Iterator[Hit]:
    """`INSERT INTO t (user, password) VALUES ('a', '…')`."""
    for match in _INSERT.finditer(view.low):
        names = [name.strip(' `"[]\n\t') for name in match["c"].split(",")]
        columns = {i: s for i, name in enumerate(names) if (s := strength(name)) >= MEDIUM}
        index, position, end = 0, match.start("v"), match.end("v")
        while columns and position < end and index < len(names):
            literal = _LITERAL.match(view.text, position, end)
            if literal is None or literal.end() == position:
                break
            group = literal.lastgroup or "b"
            if index in columns and _secret(literal[group], columns[index]):
                yield *literal.span(group), "carrier"
            index, position = index + 1, literal.end()


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
) -> tuple[list[Hit], int]:
    """The hits in the rows below a heading, and where the last of them ends."""
    hits: list[Hit] = []
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position : min(end, position + _LINE_MAX + 1)]
        ruled = _RULE.fullmatch(line) is not None
        if len(line) > _LINE_MAX or not (ruled or line.count(separator) == count):
            break
        at = position
        for index, cell in enumerate(() if ruled else line.split(separator)):
            if index in columns and _secret(cell.strip().strip("\"'`"), columns[index]):
                left = at + len(cell) - len(cell.lstrip(" \"'`"))
                hits.append((left, at + len(cell.rstrip(" \"'`\r")), "carrier"))
            at += len(cell) + 1
        position = end + 1
    return hits, position


def _secret(value: str, telling: int) -> bool:
    grade = shapes.grade(value[:400])
    if telling == STRONG:
        return grade == RANDOM or (
            grade == PHRASE and any(c.isdigit() for c in value) and not names_a_secret(value)
        )
    return grade == RANDOM and len(value) >= 8
