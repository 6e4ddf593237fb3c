"""What holds for every text, whatever is in it."""

import string
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from wayfinder.daemon.redact import engine
from wayfinder.daemon.redact.normalise import Normal
from wayfinder.daemon.redact.spans import MASK, RULES, Redacted, union

PIECES = [
    "password", "PASSWORD=", "token: ", "secret", '"', "'", "\\", "\\\"", "=", ":", " ", "\n",
    "|", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----",
    "QUJDREVGR0hJSktMTU5P", "\x1b[0m", "\u200b", "%41", "&quot;", "\\u003d",
    "[redacted:vendor]", "[opaque]", "[opaque:0a1b2c3d]", "密码", "是", "curl -u a:", "Bearer ",
    "https://a:", "@host/", "ghp_", "sk-", "a1B2c3D4e5F6g7H8", "Walnut-99!", "{", "}", "(", ")",
    "<password>", "</", ",", "user,password", "é", "😀", "\ud800", "0x", "$6$ab$",
]  # fmt: skip
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=24).map("".join),
    st.text(max_size=120),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=24).map("".join),
)
LEVELS = st.sampled_from((1, 2))


@given(TEXTS, LEVELS)
@settings(max_examples=400, deadline=None)
def test_redacting_twice_changes_nothing(text: str, level: engine.Level) -> None:
    """redact(redact(x)) == redact(x)."""
    once = engine.redact(text, level).text
    assert engine.redact(once, level) == Redacted(once)


@given(TEXTS, LEVELS)
@settings(max_examples=400, deadline=None)
def test_spans_are_in_bounds_in_order_and_apart_and_all_else_stays(
    text: str, level: engine.Level
) -> None:
    """What no span covers stands unchanged in the answer, between masks of known rules."""
    answer = engine.redact(text, level)
    rest, last = answer.text, 0
    for span in answer.spans:
        assert last <= span.start < span.end <= len(text)
        assert span.rule in RULES
        kept = _repaired(text[last : span.start])
        assert rest.startswith(kept)
        mask = MASK.match(rest, len(kept))
        assert mask is not None
        rest, last = rest[mask.end() :], span.end
    assert rest == _repaired(text[last:])


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_level_two_masks_at_least_what_level_one_masks(text: str) -> None:
    """Level 2 is level 1 and more."""
    strict = {i for s in engine.redact(text, 2).spans for i in range(s.start, s.end)}
    assert all(i in strict for s in engine.redact(text, 1).spans for i in range(s.start, s.end))


@given(st.text(alphabet=string.ascii_letters + "_./-", max_size=19), LEVELS)
@settings(max_examples=500, deadline=None)
def test_no_rule_ever_matches_a_harmless_word(word: str, level: engine.Level) -> None:
    """The shortcut for single words gives the answer that the rules would give."""
    assert engine.is_harmless(word)
    assert not list(engine.Engine().scan(word, level))


@given(TEXTS)
def test_the_normal_form_leads_back_to_every_character_it_kept(text: str) -> None:
    """R0: each character of the normal form lies in the range of the input it is led back to."""
    normal = Normal(text)
    last = 0
    for index, character in enumerate(normal.text):
        start, end = normal.to_source(index, index + 1)
        assert last <= start < end <= len(text)
        assert character in text[start:end] or text[start] in "\\&"
        last = start


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.sampled_from(RULES))))
def test_the_union_covers_the_same_characters_and_touches_nowhere(
    hits: list[tuple[int, int, str]],
) -> None:
    """Overlaps become one span; nothing is lost and nothing is added."""
    covered = {i for a, b, _ in hits for i in range(a, b)}
    merged = union(hits)
    assert {i for a, b, _ in merged for i in range(a, b)} == covered
    assert all(one[1] < two[0] for one, two in pairwise(merged))


def _repaired(text: str) -> str:
    return "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text)
