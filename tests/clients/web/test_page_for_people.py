"""What a page does for the person beside showing the path: return, decide, fold, say Unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from page_world import Op, PageWorld

from wayfinder.daemon.eventlog.reader import Reader, SessionRow

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def worlds() -> Iterator[PageWorld]:
    made = PageWorld()
    yield made
    made.close()


def chain(*names: str, start: str = "pl_start", **fields: Any) -> list[Op]:
    """Steps one after the other, each with the place it leads to."""
    ops: list[Op] = []
    for name in names:
        ops += [
            {"op": "create_place", "placeId": f"pl_{name}", "type": "Condition", "label": name},
            {"op": "create_transition", "transitionId": f"tr_{name}", "type": "Implement",
             "intent": f"do {name}", **fields},
            {"op": "connect", "fromId": start, "toId": f"tr_{name}", "arc": "flow"},
            {"op": "connect", "fromId": f"tr_{name}", "toId": f"pl_{name}", "arc": "success"},
        ]  # fmt: skip
        start = f"pl_{name}"
    return ops


CONTRACT: Op = {
    "whyNow": "because",
    "action": "act",
    "expectedEvidence": ["it works"],
    "exitCondition": "done",
    "failureCondition": "not done",
    "owner": "main",
}


def test_observed_only_is_decent(worlds: PageWorld, see: Callable[..., Any]) -> None:
    """Without a declared path: the request as goal, NOW as observed, Unknown for the rest."""
    worlds.open("make the login work", session="observed")
    worlds.episode("inspect", calls=4, filesRead=3)
    worlds.episode("test", "failed", calls=9)
    seen = see(worlds)
    seen.page.locator("#brief .goal").get_by_text("make the login work").wait_for()
    assert seen.page.locator(".star .mark.is-inferred").count() == 1
    assert "testing" in seen.page.locator(".card.is-now .says").inner_text()
    assert seen.page.locator(".card.is-now .mark.is-observed").count() == 1
    for name in ("why", "next"):
        assert "Unknown" in seen.page.locator(f".card.is-{name}").inner_text()
        assert seen.page.locator(f".card.is-{name} .mark.is-unknown").count() == 1
    seen.page.get_by_text("No path is declared").wait_for()
    assert seen.page.locator(".observed li").count() == 2
    seen.shot("observed-only")


def test_what_happened_since_you_looked(worlds: PageWorld, see: Callable[..., Any]) -> None:
    """Hidden and seen again: lines say what was met meanwhile, until a key says they are seen."""
    worlds.open("ship the change", session="since")
    worlds.patch(*chain("first", "second", **CONTRACT),
                 {"op": "activate_transition", "transitionId": "tr_first"})  # fmt: skip
    seen = see(worlds)
    seen.page.locator(".card.is-now").get_by_text("do first").wait_for()
    with seen.page.expect_response(lambda r: r.url.endswith("/api/focus")):
        seen.page.evaluate(VISIBILITY, "hidden")
    worlds.patch({"op": "complete_transition", "transitionId": "tr_first"},
                 {"op": "activate_transition", "transitionId": "tr_second"})  # fmt: skip
    other = see(worlds)  # what it shows, the server has told
    other.page.locator(".card.is-now").get_by_text("do second").wait_for()
    seen.page.evaluate(VISIBILITY, "visible")
    since = seen.page.locator(".notice.since")
    since.get_by_text("first").wait_for()
    seen.shot("since")
    seen.page.locator('[data-key="seen"]').focus()
    seen.press("Enter")
    since.wait_for(state="detached")


VISIBILITY = """state => {
  Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""


def test_a_proposal_is_decided_by_keys(worlds: PageWorld, see: Callable[..., Any]) -> None:
    """It waits at the top with what it would change; accepted, its nodes are on the path."""
    worlds.open("ship it", session="proposal")
    worlds.patch(*chain("base"))
    worlds.patch(*chain("better", start="pl_base"), proposal=True)
    seen = see(worlds)
    notice = seen.page.locator(".notice").filter(has_text="A proposal waits for you")
    notice.get_by_text("do better").wait_for()
    seen.shot("proposal")
    notice.get_by_role("button", name="Accept").focus()
    seen.press("Enter")
    seen.page.locator('[data-key="tr_better"]').wait_for()
    notice.wait_for(state="detached")


def test_looking_is_no_activity(worlds: PageWorld) -> None:
    """What a viewer pins and has seen does not make a session the latest, nor younger."""
    worlds.open("looked at", session="looked")
    before = row(worlds)
    worlds.sign_in()
    status, said = worlds.post("/api/focus", {"session": "pi-looked", "seenUpTo": 1})
    assert (status, said["answer"]) == (200, {"reply": "done"})
    after = row(worlds)
    assert after.last_seq == before.last_seq + 1
    assert after.last_ts == before.last_ts


def row(worlds: PageWorld) -> SessionRow:
    reader = Reader.open(worlds.paths.database)
    try:
        found = reader.session(worlds.session_id)
    finally:
        reader.close()
    assert found is not None
    return found


def test_a_pin_is_kept(worlds: PageWorld, see: Callable[..., Any]) -> None:
    """A pinned step is near for this person, in this page and in the next."""
    worlds.open("far away", session="pin")
    worlds.patch(*chain("a", "b", "c", "d", "e"))
    seen = see(worlds)
    node = seen.page.locator('.node[data-key="tr_e"]')
    node.wait_for()
    assert "Mid" in (node.get_attribute("aria-label") or "")
    node.focus()
    seen.press("Enter")
    seen.page.locator('#drawer [data-key="pin"]').focus()
    seen.press("Enter")
    seen.until("document.querySelector('.node[data-key=tr_e]').ariaLabel.includes('pinned')")
    again = see(worlds)
    again.page.locator('.node[data-key="tr_e"][aria-label*="pinned"]').wait_for()


def test_a_finished_inside_is_folded(worlds: PageWorld, see: Callable[..., Any]) -> None:
    """A step's inside is drawn while it is worked on, folded when over, opened by a key."""
    worlds.open("in stages", session="fold")
    inside = {
        "places": [
            {"op": "create_place", "placeId": "in_a", "type": "Condition", "label": "entered"},
            {"op": "create_place", "placeId": "in_b", "type": "Condition", "label": "left"},
        ],
        "transitions": [
            {"op": "create_transition", "transitionId": "tr_in", "type": "Implement",
             "intent": "the work inside", **CONTRACT},
        ],
        "arcs": [
            {"op": "connect", "fromId": "in_a", "toId": "tr_in", "arc": "flow"},
            {"op": "connect", "fromId": "tr_in", "toId": "in_b", "arc": "success"},
        ],
    }  # fmt: skip
    worlds.patch(
        *chain("stage", hierarchical=True, **CONTRACT),
        {"op": "refine_transition", "transitionId": "tr_stage", "subnet": inside,
         "entryMap": {"pl_start": "in_a"}, "successExitMap": {"pl_stage": "in_b"}},
        {"op": "activate_transition", "transitionId": "tr_stage"},
        {"op": "activate_transition", "transitionId": "tr_in"},
    )  # fmt: skip
    seen = see(worlds)
    inner = seen.page.locator('.node[data-key="tr_in"]')
    inner.wait_for()
    worlds.patch({"op": "complete_transition", "transitionId": "tr_in"})
    inner.wait_for(state="detached")
    seen.page.locator('.node[data-key="tr_stage"]').focus()
    seen.press("Enter")
    seen.page.locator('#drawer [data-key="fold"]').focus()
    seen.press("Enter")
    inner.wait_for()
    seen.shot("unfolded")
