from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfinder.reducer.people.oneline import aim, parse
from wayfinder.reducer.vocabulary.people import CorrectionType as Kind

STEPS = {"tr_ui": "patch the UI", "tr_root": "验证根因", "tr_cause": "verify the root cause"}


@pytest.mark.parametrize(
    ("line", "kind", "text", "target"),
    [
        ("总体目标不是修复测试，而是恢复登录行为", Kind.GOAL, "恢复登录行为", None),
        ("目标：恢复登录行为。", Kind.GOAL, "恢复登录行为", None),
        ("这个分支已经不重要", Kind.RETIRE, None, "tr_ui"),
        ("先不要优化，只验证根因", Kind.ONLY, None, "tr_root"),
        ("把这里设为需要我判断", Kind.GATE, None, "tr_ui"),
        ("这一步由我来决定", Kind.GATE, None, "tr_ui"),
        ("当前 Transition 描述不对：应该是收窄根因", Kind.REDESCRIBE, "收窄根因", "tr_ui"),
        ("这一步走错了", Kind.WRONG_STEP, None, "tr_ui"),
        ("同意", Kind.OPEN_GATE, None, "tr_ui"),
        (
            "the goal is not to fix the test, but to restore login",
            Kind.GOAL,
            "restore login",
            None,
        ),
        ("The goal should be restoring login", Kind.GOAL, "restoring login", None),
        ("this branch no longer matters", Kind.RETIRE, None, "tr_ui"),
        ("drop tr_cause", Kind.RETIRE, None, "tr_cause"),
        ("don't optimise yet, only verify the root cause", Kind.ONLY, None, "tr_cause"),
        ("only tr_root for now", Kind.ONLY, None, "tr_root"),
        ("ask me here", Kind.GATE, None, "tr_ui"),
        ("this needs my decision", Kind.GATE, None, "tr_ui"),
        ("go ahead", Kind.OPEN_GATE, None, "tr_ui"),
        ("wrong step", Kind.WRONG_STEP, None, "tr_ui"),
        (
            "the current step is described wrong: narrowing the cause",
            Kind.REDESCRIBE,
            "narrowing the cause",
            "tr_ui",
        ),
    ],
)
def test_common_phrasings(line: str, kind: Kind, text: str | None, target: str | None) -> None:
    """The specification's five examples and their like, in Chinese and English."""
    aimed = aim(parse(line), line, STEPS, "tr_ui")
    assert (aimed.type, aimed.target_id) == (kind, target)
    assert aimed.text == (text or line)


@pytest.mark.parametrize(
    "line",
    [
        "please use tabs",
        "the goal is not clear, but go on",
        "目标是什么？",
        "just do it properly and tell me",
        "drop the table users",
        "先不要优化，只看日志",
        "this is wrong",
        "当前 Transition 描述不对",
    ],
)
def test_what_is_not_certain_is_free_text(line: str) -> None:
    """Half-understood words would be worse than words delivered as they were said."""
    aimed = aim(parse(line), line, STEPS, "tr_ui")
    assert (aimed.type, aimed.text) == (Kind.TEXT, line)


def test_without_an_active_step_here_means_nothing() -> None:
    """A correction about "here" needs a here."""
    line = "this branch no longer matters"
    assert aim(parse(line), line, STEPS, None).type is Kind.TEXT


def test_words_that_name_two_steps_name_none() -> None:
    """An ambiguous step is not guessed."""
    line = "only fix"
    steps = {"tr_a": "fix login", "tr_b": "fix logout"}
    assert aim(parse(line), line, steps, "tr_a").type is Kind.TEXT


@given(st.text(max_size=900))
def test_any_line_is_taken(line: str) -> None:
    """No line fails, and free text keeps its words."""
    aimed = aim(parse(line), line, STEPS, "tr_ui")
    assert aimed.type is not Kind.TEXT or aimed.text == line.strip()
