from __future__ import annotations

import pytest
from declared_story import fact
from hypothesis import given
from hypothesis import strategies as st

from wayfinder.reducer.alignment.selectors import fact_of, hits, matches, parse, spelled
from wayfinder.reducer.vocabulary.observation import Fact
from wayfinder.reducer.vocabulary.terms import FactKind, FactResult

facts = st.builds(
    Fact,
    st.sampled_from(FactKind),
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=40),
    st.sampled_from([None, *FactResult]),
)


@pytest.mark.parametrize(
    ("selector", "seen", "matched"),
    [
        ("test:auth/refresh", "test:auth/refresh=fail", True),
        ("test:auth/refresh=pass", "test:auth/refresh=pass", True),
        ("test:auth/refresh=pass", "test:auth/refresh=fail", False),
        ("test:auth/refresh=pass", "test:auth/refresh", False),
        ("test:auth/*=fail", "test:auth/refresh=fail", True),
        ("test:auth", "test:auth/refresh=fail", False),
        ("test:*", "test:anything", True),
        ("file:src/*", "test:src/a", False),
        ("test:Auth", "test:auth", False),
        ("test:a*b", "test:axb", False),
        ("command: make test", "command:make test=pass", True),
        ("file:ré", "file:re\u0301", True),
    ],
)
def test_what_a_selector_matches(selector: str, seen: str, matched: bool) -> None:
    """Exact, or `*` at the end; a named outcome must be the one seen."""
    assert matches(selector, fact(seen)) is matched


@pytest.mark.parametrize("text", ["", "test:", "words", "place:x", "test", "the test: it passes"])
def test_other_texts_are_no_selectors(text: str) -> None:
    """An expected-evidence key may be any text and matches nothing then."""
    assert parse(text) is None


@given(facts)
def test_a_fact_spelled_out_is_the_fact(seen: Fact) -> None:
    """The summary of observed evidence reads back as the fact, unless its name ends like one."""
    if not seen.name.endswith(("=pass", "=fail")):
        assert fact_of(spelled(seen)) == seen


@given(st.lists(facts, max_size=8), st.lists(st.text(max_size=30), max_size=8))
def test_hits_never_invent(seen: list[Fact], selectors: list[str]) -> None:
    """Whatever an agent writes as a selector, only given facts come back, in their order."""
    found = hits(selectors, seen)
    assert [each for each in seen if each in found] == list(found) or len(set(seen)) < len(seen)
