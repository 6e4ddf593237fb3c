"""The reading budget: ten seconds. 40 words, or as long a read in Chinese (70 characters).

Marks and punctuation cost nothing. What is over is cut at a word border, the longest line first,
so that no short line pays for a long one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

FOUR_LINES_WORDS_MAX: Final = 40
FIRST_SCREEN_WORDS_MAX: Final = 80
CJK_PER_WORD: Final = 70 / 40

_CJK: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")
# A unit that a cut may end after: one CJK character, or one run of anything else and its space.
_UNITS: Final = re.compile(rf"{_CJK.pattern}|\s+|(?:(?!{_CJK.pattern})\S)+")
_SAYS_SOMETHING: Final = re.compile(r"\w")


def cost(text: str) -> float:
    """Reading cost in English words."""
    return sum(_unit_cost(unit) for unit in _UNITS.findall(text))


def _unit_cost(unit: str) -> float:
    if _CJK.fullmatch(unit):
        return 1 / CJK_PER_WORD
    return 1.0 if _SAYS_SOMETHING.search(unit) else 0.0


def cut(text: str, words_max: float) -> str:
    """At most `words_max`, cut after a whole word, with an ellipsis if anything went."""
    if cost(text) <= words_max:
        return text
    kept, spent = "", 0.0
    for unit in _UNITS.findall(text):
        spent += _unit_cost(unit)
        if spent > words_max:
            break
        kept += unit
    return kept.rstrip(" ,;:，；：、→–-") + "…"


def fit(lines: Sequence[str], words_max: float) -> list[str]:
    """The lines, cut so that all together cost at most `words_max`: one cap for every line.

    The cap is the highest that fits (water filling): lines below it stay whole.
    """
    costs = sorted(cost(line) for line in lines)
    left, cap = words_max, float("inf")
    for index, one in enumerate(costs):
        share = left / (len(costs) - index)
        if one > share:
            cap = share
            break
        left -= one
    return [cut(line, cap) for line in lines]
