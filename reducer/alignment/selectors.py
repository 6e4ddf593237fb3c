"""Selectors: `kind:name[=pass|fail]` against an observed fact (RULES 10, 20).

    test:auth/refresh          that test, whatever its result (a stable failure can be evidence)
    test:auth/refresh=pass     only when it passed
    file:reducer/net/*         every file fact whose name starts so

Names compare exactly and with case; one trailing `*` means "starts with". Nothing else is
special, so that a person can tell by eye whether a selector will match. An agent's text never
becomes a pattern that could be slow.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

from msgspec import Struct

from ..vocabulary.observation import Fact
from ..vocabulary.terms import FactKind, FactResult


class SelectorParts(Struct, frozen=True):
    kind: FactKind
    name: str
    starts_with: bool
    result: FactResult | None


@lru_cache(maxsize=4096)
def parse(selector: str) -> SelectorParts | None:
    """None if the text is no selector (an expected-evidence key may be any text)."""
    kind, colon, rest = selector.partition(":")
    if not colon or kind not in FactKind._value2member_map_:
        return None
    name, result = _split_result(rest.strip())
    starts_with = name.endswith("*")
    name = name[:-1] if starts_with else name
    if not name and not starts_with:
        return None
    return SelectorParts(FactKind(kind), _folded(name), starts_with, result)


def matches(selector: str, fact: Fact) -> bool:
    parts = parse(selector)
    return parts is not None and _meets(parts, fact)


def names(parts: SelectorParts, fact: Fact) -> bool:
    """Whether the selector is about this fact, whatever its result."""
    if parts.kind is not fact.kind:
        return False
    name = _folded(fact.name)
    return name.startswith(parts.name) if parts.starts_with else name == parts.name


def hits(selectors: Iterable[str], facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """The facts at least one selector matches, in the order they stand."""
    return matcher(selectors)(facts)


def matcher(selectors: Iterable[str]) -> Callable[[Iterable[Fact]], tuple[Fact, ...]]:
    """`hits` with the selectors read once, for many episodes."""
    wanted: dict[FactKind, list[SelectorParts]] = {}
    for parts in map(parse, selectors):
        if parts is not None:
            wanted.setdefault(parts.kind, []).append(parts)

    def hit(facts: Iterable[Fact]) -> tuple[Fact, ...]:
        return tuple(
            fact
            for fact in facts
            if fact.kind in wanted and any(_meets(parts, fact) for parts in wanted[fact.kind])
        )

    return hit


def _meets(parts: SelectorParts, fact: Fact) -> bool:
    return names(parts, fact) and (parts.result is None or parts.result is fact.result)


def spelled(fact: Fact) -> str:
    """The fact as the selector that matches exactly it; the summary of observed evidence."""
    result = f"={fact.result}" if fact.result else ""
    return f"{fact.kind}:{fact.name}{result}"


def fact_of(spelling: str) -> Fact | None:
    """The fact a `spelled` text stands for; None if it is another kind of text."""
    kind, colon, rest = spelling.partition(":")
    if not colon or not rest or kind not in FactKind._value2member_map_:
        return None
    name, result = _split_result(rest)
    return Fact(FactKind(kind), name, result)


def _split_result(rest: str) -> tuple[str, FactResult | None]:
    for result in FactResult:
        if rest.endswith(f"={result}"):
            return rest[: -len(result) - 1], result
    return rest, None


def _folded(name: str) -> str:
    return name if name.isascii() else unicodedata.normalize("NFC", name)
