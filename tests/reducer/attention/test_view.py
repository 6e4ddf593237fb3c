"""What a person sees: ten seconds' worth, each claim with its source, Unknown where nobody said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from story import Story, goal, step

from wayfinder.clients.terminal.brief import LINES_MAX, WIDTH, brief, columns
from wayfinder.reducer.attention.look import view_of
from wayfinder.reducer.attention.view import View
from wayfinder.reducer.attention.watch import Outside
from wayfinder.reducer.attention.words import (
    FIRST_SCREEN_WORDS_MAX,
    FOUR_LINES_WORDS_MAX,
    cost,
)
from wayfinder.reducer.vocabulary.terms import Level

FOUR = ("now", "why", "next", "watch")
SCREEN = (*FOUR, "north_star", "alignment_reason", "expected", "if_fails", "set_aside")


def refresh() -> Story:
    """The specification's example: reproduce, then find the cause, else mend the fixture."""
    story = Story().started()
    story.prompt("Users are logged out after a refresh")
    story.episode("inspect", calls=3)
    story.patch(
        goal("pl_goal", "Login refresh is repaired, with proof"),
        *step("reproduce", end="pl_reproduced", whyNow="Without it no repair can be judged"),
        {"op": "create_place", "placeId": "pl_flaky", "type": "Condition", "label": "flaky"},
        {"op": "connect", "fromId": "tr_reproduce", "toId": "pl_flaky", "arc": "failure"},
        *step("mend_fixture", start="pl_flaky", end="pl_mended", activate=False),
    )
    story.patch(
        {"op": "create_transition", "transitionId": "tr_fix", "type": "Implement",
         "intent": "fix the session layer"},
        {"op": "connect", "fromId": "pl_reproduced", "toId": "tr_fix", "arc": "flow"},
        {"op": "connect", "fromId": "tr_fix", "toId": "pl_goal", "arc": "success"},
    )  # fmt: skip
    return story


def texts(view: View) -> dict[str, tuple[str, Level]]:
    return {name: (getattr(view, name).text, getattr(view, name).source) for name in SCREEN}


def test_the_first_screen_answers_the_eight_questions() -> None:
    """Goal, intent, reason, proof, next, failure branch, abandoned paths and fit, from the net."""
    story = refresh()
    story.episode("test", "failed", facts=[("test", "auth/refresh", "fail")])
    view = view_of(story.session)
    said = texts(view)
    assert said["north_star"] == ("Login refresh is repaired, with proof", Level.DECLARED)
    assert said["now"] == ("reproduce", Level.DECLARED)
    assert said["why"] == ("Without it no repair can be judged → goal", Level.DECLARED)
    assert said["next"] == ("fix the session layer; else mend fixture", Level.DECLARED)
    assert said["expected"] == ("it is seen → it is known", Level.DECLARED)
    assert said["if_fails"] == ("mend fixture", Level.DECLARED)
    assert said["set_aside"] == ("none", Level.DECLARED)
    assert said["alignment_reason"][0].startswith("yes:")
    assert [answer.number for answer in view.answers] == list(range(1, 9))
    assert {answer.line.text for answer in view.answers} <= {text for text, _ in said.values()}


def test_what_nobody_said_is_unknown() -> None:
    """Before any declaration the goal is inferred, work is observed, why and next are Unknown."""
    story = Story().started()
    story.prompt("Repair the login")
    story.episode("test", "failed")
    said = texts(view_of(story.session))
    assert said["north_star"] == ("Repair the login", Level.INFERRED)
    assert said["now"] == ("testing; it fails", Level.OBSERVED)
    for name in ("why", "next", "expected", "if_fails"):
        assert said[name][1] is Level.UNKNOWN
        assert said[name][0].startswith("Unknown")


def test_an_empty_session_invents_nothing() -> None:
    """A session that has only begun shows Unknown everywhere, in both languages."""
    story = Story().started()
    for language in ("en", "zh"):
        said = texts(view_of(story.session, language=language))  # type: ignore[arg-type]
        assert said["north_star"][1] is Level.UNKNOWN
        assert said["now"][1] is Level.UNKNOWN


def test_a_set_aside_path_keeps_its_reason() -> None:
    """An abandoned step is listed with its reason and its successor: already tried."""
    story = refresh()
    story.patch(
        {"op": "supersede_transition", "oldTransitionId": "tr_mend_fixture",
         "newTransitionId": "tr_fix", "reason": "the fixture is sound"},
    )  # fmt: skip
    view = view_of(story.session)
    assert view.set_aside.text == "mend fixture (the fixture is sound)"
    (gone,) = view.retired
    assert (gone.successor, gone.by) == ("tr_fix", Level.DECLARED)
    assert view.if_fails.source is not Level.UNKNOWN


def test_what_needs_a_person_comes_first() -> None:
    """A closed gate before the next step outranks news and tensions, and says why it ranks."""
    story = refresh()
    story.patch(
        {"op": "create_place", "placeId": "pl_ok", "type": "Gate", "label": "owner agrees",
         "gateState": "closed"},
        {"op": "connect", "fromId": "pl_ok", "toId": "tr_fix", "arc": "read"},
    )  # fmt: skip
    view = view_of(story.session)
    assert view.watch.text == "gate closed: owner agrees"
    assert view.watch.because == "a person decides here"
    asked = view_of(story.session, outside=Outside(asking=True))
    assert asked.watches[0].kind in {"asking", "gate"}


def test_twenty_calls_add_no_node() -> None:
    """Twenty tool calls change counts and the drawer; the map has the nodes it had."""
    story = refresh()
    before = view_of(story.session).scene
    for _ in range(20):
        story.episode("inspect")
    after = view_of(story.session)
    assert set(after.scene.places) == set(before.places)
    assert set(after.scene.steps) == set(before.steps)
    assert len(after.episodes) == 21


def test_pins_bring_far_nodes_near_and_move_nothing() -> None:
    """A pin changes a node's band and detail, never its place, and only for that viewer."""
    from wayfinder.reducer.vocabulary.event import ViewFocused

    story = refresh()
    for number in range(8):
        start = "pl_goal" if number == 0 else f"pl_x{number - 1}"
        story.patch(*step(f"x{number}", start=start, end=f"pl_x{number}", activate=False))
    plain = view_of(story.session)
    assert plain.scene.steps["tr_x7"].band == "far"
    story.commit(ViewFocused("me", pinned=("tr_x7",)))
    mine, other = view_of(story.session, viewer="me"), view_of(story.session, viewer="you")
    assert mine.scene.steps["tr_x7"].band == "near"
    assert other.scene.steps["tr_x7"].band == "far"
    assert mine.scene.steps["tr_x7"].column == plain.scene.steps["tr_x7"].column


def test_since_you_looked_is_three_lines() -> None:
    """On return a viewer is told what was met and set aside since, each in one line."""
    from wayfinder.reducer.vocabulary.event import ViewFocused

    story = refresh()
    story.commit(ViewFocused("me", seen_up_to=story.session.seq))
    assert view_of(story.session, viewer="me").since == ()
    story.patch({"op": "complete_transition", "transitionId": "tr_reproduce"})
    story.patch({"op": "retire_transition", "transitionId": "tr_mend_fixture",
                 "reason": "not needed"})  # fmt: skip
    lines = [line.text for line in view_of(story.session, viewer="me").since]
    assert lines == ["met: reproduce is done", "set aside: mend fixture (not needed)"]


LONG = st.text(st.sampled_from("ab 修复登录 ,.;—"), min_size=1, max_size=180).filter(str.strip)


@settings(deadline=None, max_examples=150)
@given(LONG, LONG, LONG, LONG, st.sampled_from(["en", "zh"]))
def test_the_budget_holds_whatever_an_agent_writes(
    label: str, intent: str, why: str, reason: str, language: Any
) -> None:
    """The four lines stay within 40 words and the first screen within 80, in 80×24."""
    story = Story().started()
    story.patch(goal("pl_goal", label), *step("a", end="pl_a", whyNow=why, intent=intent))
    story.patch(*step("b", start="pl_a", end="pl_b", activate=False, intent=reason))
    story.patch({"op": "retire_transition", "transitionId": "tr_b", "reason": reason})
    view = view_of(story.session, language=language)
    assert sum(cost(getattr(view, name).text) for name in FOUR) <= FOUR_LINES_WORDS_MAX + 1e-6
    assert sum(cost(getattr(view, name).text) for name in SCREEN) <= FIRST_SCREEN_WORDS_MAX + 1e-6
    screen = brief(view, language=language).split("\n")
    assert len(screen) <= LINES_MAX
    assert max(columns(line) for line in screen) <= WIDTH


@pytest.mark.parametrize("nasty", ["\x1b]52;c;aGk=\x07", "\x9b31m", "a\u202eb", "\u200b", "\r\n"])
def test_no_escape_reaches_a_terminal(nasty: str) -> None:
    """Whatever a label holds, the printed brief has no control and no invisible character."""
    from wayfinder.clients.terminal.safe import safe_line

    shown = safe_line(f"label {nasty} end")
    assert all(ch.isprintable() for ch in shown)
    assert shown.startswith("label ")
    assert shown.endswith(" end")
