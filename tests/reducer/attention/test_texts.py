"""Two languages, one table: nothing is missing in either."""

from __future__ import annotations

import string

import pytest

from wayfinder.reducer.alignment.words import SENTENCES
from wayfinder.reducer.attention import texts
from wayfinder.reducer.attention.texts import work
from wayfinder.reducer.vocabulary.observation import SettleReason
from wayfinder.reducer.vocabulary.terms import AlignmentStatus, EpisodeKind


def names(pattern: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(pattern) if name}


@pytest.mark.parametrize("code", sorted(texts._TEXTS))
def test_both_languages_say_the_same_things(code: str) -> None:
    """The Chinese sentence uses the parameters that the English one uses."""
    english, chinese = texts._TEXTS[code]
    assert english and chinese
    assert names(english) == names(chinese)


@pytest.mark.parametrize("code", sorted(texts._WORDS_ZH))
def test_sentences_of_alignment_fit(code: str) -> None:
    """A Chinese sentence exists for a code that is known, with no parameter of its own."""
    assert names(texts._WORDS_ZH[code]) <= names(SENTENCES[code])


def test_no_english_is_left_for_who_reads_chinese() -> None:
    """Every sentence of alignment, its tensions and its watches has a Chinese one."""
    receipts = {"acted_within", "acted_against", "patch_after", "taken_back", "target_completed"}
    receipts.add("replaced")  # those are worded by the page, beside their stage
    assert sorted(set(SENTENCES) - set(texts._WORDS_ZH) - receipts) == []


def test_every_member_of_a_closed_set_has_its_word() -> None:
    """Kinds of work, statuses and ways to settle are all worded in both languages."""
    for language in ("en", "zh"):
        assert all(work(kind, language) for kind in EpisodeKind)
        assert all(texts.text(f"status_{status}", language) for status in AlignmentStatus)
        assert all(texts.text(f"settled_{reason.value}", language) for reason in SettleReason)
