"""The reading budget holds for any text in any mix of scripts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wayfinder.reducer.attention.words import FOUR_LINES_WORDS_MAX, cost, cut, fit

TEXTS = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "Zs", "S")), max_size=300
)  # fmt: skip


@given(st.lists(TEXTS, min_size=1, max_size=6), st.floats(1, 60))
def test_lines_fit_together(lines: list[str], words_max: float) -> None:
    """However long the lines, together they cost no more than the budget."""
    assert sum(cost(line) for line in fit(lines, words_max)) <= words_max + 1e-6


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_short_lines_stay_whole(lines: list[str]) -> None:
    """Where everything fits nothing is cut; a line at or under its even share is never cut."""
    fitted = fit(lines, FOUR_LINES_WORDS_MAX)
    share = FOUR_LINES_WORDS_MAX / len(lines)
    for line, shown in zip(lines, fitted, strict=True):
        if cost(line) <= share:
            assert shown == line


@given(TEXTS, st.floats(0, 30))
def test_a_cut_ends_after_a_whole_word(text: str, words_max: float) -> None:
    """A cut text is a beginning of the text, ended by an ellipsis, and never a broken word."""
    shown = cut(text, words_max)
    if shown != text:
        assert shown.endswith("…")
        assert text.startswith(shown[:-1])
        assert cost(shown) <= words_max


def test_chinese_costs_reading_time() -> None:
    """Seventy Chinese characters read as long as forty words; marks cost nothing."""
    assert round(cost("读" * 70), 6) == 40
    assert cost("one, two — three!") == 3
    assert cost("→ …") == 0
