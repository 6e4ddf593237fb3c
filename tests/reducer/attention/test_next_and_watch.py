"""NEXT and WATCH: which facts speak first, and why."""

from __future__ import annotations

from typing import Any

from story import Story, goal, step

from wayfinder.reducer.attention.look import view_of
from wayfinder.reducer.attention.view import View
from wayfinder.reducer.attention.watch import Outside
from wayfinder.reducer.vocabulary import event as ev
from wayfinder.reducer.vocabulary.observation import PlanItem, PlanState
from wayfinder.reducer.vocabulary.terms import Level


def condition(place_id: str, label: str, type: str = "Condition", **more: Any) -> dict[str, Any]:
    return {"op": "create_place", "placeId": place_id, "type": type, "label": label, **more}


def arc(source: str, target: str, kind: str) -> dict[str, Any]:
    return {"op": "connect", "fromId": source, "toId": target, "arc": kind}


def started() -> Story:
    story = Story().started()
    story.patch(goal(), *step("find", end="pl_found"))
    return story


def kinds(view: View) -> list[tuple[int, str]]:
    return [(one.rank, one.kind) for one in view.watches]


def test_next_puts_what_can_start_before_what_cannot() -> None:
    """Of two ways on, the one whose reads are met comes first, then the newer one; then the
    failure branch; never more than three."""
    story = started()
    story.patch(
        condition("pl_key", "the key is here"),
        *step("locked", start="pl_found", end="pl_a", activate=False),
        arc("pl_key", "tr_locked", "read"),
        *step("free", start="pl_found", end="pl_b", activate=False),
        *step("newer", start="pl_found", end="pl_c", activate=False),
    )
    view = view_of(story.session)
    assert [(w.when, w.line.text) for w in view.next_steps] == [
        ("then", "newer"),
        ("then", "free"),
        ("else", "no recovery declared: back to Session started"),
    ]
    assert view.next_steps[-1].line.source is Level.UNKNOWN


def test_next_when_idle_is_what_may_start() -> None:
    """With no active step NEXT lists what the token may start."""
    story = Story().started()
    story.patch(
        goal(), *step("one", end="pl_1", activate=False), *step("two", end="pl_2", activate=False)
    )
    view = view_of(story.session)
    assert [(w.when, w.line.text) for w in view.next_steps] == [("ready", "two"), ("ready", "one")]


def test_a_published_plan_fills_now_and_next_until_a_path_is_declared() -> None:
    """`declared-coarse`: intent known, the contract Unknown; a declared path takes over and the
    plan stands as a list."""
    story = Story().started()
    items = (
        PlanItem("1", "write the parser", PlanState.ACTIVE),
        PlanItem("2", "test the parser", PlanState.PENDING),
    )
    story.commit(ev.PlanPublished(items, 2))
    view = view_of(story.session)
    assert (view.now.text, view.now.source) == ("write the parser", Level.DECLARED)
    assert view.next.text == "test the parser"
    assert view.why.source is Level.UNKNOWN
    assert view.expected.source is Level.UNKNOWN
    story.patch(goal(), *step("find"))
    view = view_of(story.session)
    assert view.now.text == "find"
    assert [line.text for line in view.plan] == ["write the parser", "test the parser"]


def test_watch_ranks_by_who_is_needed() -> None:
    """A person, then what blocks several, then tension, then uncertainty; each with its because."""
    story = started()
    story.patch(
        condition("pl_which", "which layer loses it", "InformationNeed"),
        *step("ask", start="pl_found", end="pl_told", type="AskHuman", activate=False),
        *step("client", start="pl_which", end="pl_x", activate=False),
        *step("server", start="pl_which", end="pl_y", activate=False),
        *step("look", start="pl_found", end="pl_seen", activate=False),
        condition("pl_rights", "rights to the database"),
        arc("pl_rights", "tr_client", "read"),
        arc("pl_rights", "tr_server", "read"),
        arc("pl_which", "tr_look", "read"),
    )
    for _ in range(3):
        story.episode("edit", changedRefs=[])
    view = view_of(story.session, outside=Outside(proposals=2, asking=True))
    ranks = [rank for rank, _ in kinds(view)]
    assert ranks == sorted(ranks)
    assert {"asking", "ask_human", "proposals"} <= {kind for rank, kind in kinds(view) if rank == 1}
    assert (2, "blocks") in kinds(view)
    assert 3 in ranks
    assert all(one.line.because for one in view.watches)
    assert view.watch.text == view.watches[0].line.text


def test_tools_time_and_tokens_are_no_reasons() -> None:
    """However much happens, work that fits puts nothing into WATCH."""
    story = started()
    for n in range(2):
        story.episode("inspect", calls=200, facts=[("file", f"f{n}", None)])
    assert kinds(view_of(story.session)) == []


def test_next_keeps_its_record() -> None:
    """Of the steps that became active, those that had been shown as next count as right."""
    story = started()
    story.patch(*step("fix", start="pl_found", end="pl_fixed", activate=False))
    story.patch(
        {
            "op": "complete_transition",
            "transitionId": "tr_find",
            "tokenId": "tok_main",
            "evidenceIds": [],
        },
        {"op": "activate_transition", "transitionId": "tr_fix"},
    )
    assert view_of(story.session).next_record == (1, 1)
    story.patch(
        {
            "op": "complete_transition",
            "transitionId": "tr_fix",
            "tokenId": "tok_main",
            "evidenceIds": [],
        },
        *step("surprise", start="pl_fixed", end="pl_s"),
    )
    assert view_of(story.session).next_record == (1, 2)


def test_a_tension_names_both_sides_and_a_way_out() -> None:
    """Declared and observed each with their mark, and what would resolve it; in both languages."""
    story = started()
    for _ in range(4):
        story.episode("edit")
    for language, resolves in (("en", "a path update"), ("zh", "")):
        view = view_of(story.session, language=language)
        one = view.tensions[0]
        assert one.declared.source is Level.DECLARED
        assert one.observed.source is Level.OBSERVED
        assert one.declared.node_id == "tr_find"
        assert resolves in one.resolves and one.resolves


def test_evidence_says_who_vouches_for_it() -> None:
    """Each piece carries its mark; what it satisfies is ticked at the step."""
    story = started()
    story.patch(
        {"op": "attach_evidence", "targetId": "tr_find",
         "evidence": {"summary": "seen", "evidenceId": "ev_1", "satisfies": ["ee1"]}}
    )  # fmt: skip
    view = view_of(story.session)
    assert view.evidence["ev_1"].level is Level.DECLARED
    assert view.scene.steps["tr_find"].expected_met == (True,)
    assert view.scene.steps["tr_find"].evidence_ids == ("ev_1",)
