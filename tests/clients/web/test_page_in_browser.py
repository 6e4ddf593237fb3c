"""The page in real Chromium: what is seen, and that everything is done by keyboard alone."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from live_world import RULES_CACHE
from page_world import LIGHT, PageWorld

from wayfinder.clients.demo.feed import Feed
from wayfinder.clients.demo.recording import load
from wayfinder.clients.human import HumanLine
from wayfinder.daemon.eventlog.reader import Reader
from wayfinder.daemon.messages import Correct, Taken
from wayfinder.daemon.paths import Paths
from wayfinder.reducer.vocabulary.people import CorrectionType, HumanIntentPatch

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[3]
AXE = ROOT / "tests" / "e2e" / "node_modules" / "axe-core" / "axe.min.js"
WHOLE = (*LIGHT, "wayfinder.adapters", "wayfinder.adapters.segmenter")
SPEED = 12.0
NOW_AT_END = "Run the regression suite and look for side effects"


class Demo(PageWorld):
    """The recorded session, played through the whole daemon while a page looks on."""

    def __init__(self, rules: Path) -> None:
        super().__init__(modules=())
        shutil.copytree(rules, self.paths.state / RULES_CACHE)
        self.start(*WHOLE)
        self.story = load()
        self.session_id = self.story.session_id

    def play(self) -> None:
        began = int(time.time() * 1000) - self.story.head.duration_ms
        Feed(self.paths.socket("agent.sock"), self.story, base_ms=began, speed=SPEED).play()


@pytest.fixture(scope="module")
def demo(rules: Path) -> Iterator[Demo]:
    made = Demo(rules)
    yield made
    made.close()


@pytest.fixture(scope="module")
def played(demo: Demo) -> Demo:
    demo.play()
    return demo


def log_of(paths: Paths, session_id: str) -> list[Any]:
    reader = Reader.open(paths.database)
    try:
        return list(reader.events(session_id))
    finally:
        reader.close()


@pytest.fixture
def tab(see: Callable[..., Any], played: Demo) -> Any:
    seen = see(played)
    seen.page.get_by_text(NOW_AT_END).first.wait_for()
    return seen


def focus_is_in(seen: Any, selector: str) -> bool:
    return bool(seen.page.evaluate("s => Boolean(document.activeElement?.closest(s))", selector))


def test_a_session_is_seen_while_it_is_played(see: Callable[..., Any], demo: Demo) -> None:
    """The page opened before the agent starts shows goal, step, token and tension as they come."""
    seen = see(demo)
    demo.play()
    seen.page.get_by_role("heading", name="Login survives a token refresh, with proof").wait_for()
    seen.page.get_by_text(NOW_AT_END).first.wait_for()
    nodes = seen.page.locator("#path .node")
    assert nodes.count() == 14  # twenty-three calls, fourteen nodes
    assert seen.page.locator("#path .token").count() == 1
    seen.shot("demo-light")


def test_the_evidence_is_one_key_away(tab: Any) -> None:
    """G goes to the path, arrows move along it, Enter opens the drawer, Esc returns to the node."""
    tab.press("g", "Enter")
    drawer = tab.page.locator("#drawer")
    drawer.wait_for()
    assert NOW_AT_END in drawer.inner_text()
    assert "All login and refresh tests pass" in drawer.inner_text()
    assert focus_is_in(tab, "#drawer")
    tab.shot("drawer")
    tab.press("Escape")
    drawer.wait_for(state="hidden")
    assert focus_is_in(tab, ".node")
    tab.press("ArrowLeft", "ArrowLeft", "Enter")
    drawer.wait_for()
    assert NOW_AT_END not in drawer.locator("h2").inner_text()


def test_troubles_are_counted_not_drawn(tab: Any) -> None:
    """The same failure three times is one line with a count in the drawer, and no node."""
    tab.press("g")
    tab.page.locator('[data-key="tr_client_fix"]').focus()
    tab.press("Enter")
    drawer = tab.page.locator("#drawer")
    drawer.wait_for()
    assert "×2" in drawer.inner_text()


def test_a_line_corrects_the_agent(tab: Any, played: Demo) -> None:
    """C, a line, Enter: what it is taken as is shown first, and a receipt stands after."""
    tab.press("c")
    tab.page.keyboard.type("do not touch the public API")
    tab.page.locator("#say-meaning").get_by_text("your words").wait_for()
    tab.press("Enter")
    tab.page.locator("#say-told").get_by_text("Taken").wait_for()
    said = [e for e in log_of(played.paths, played.session_id) if e.kind == "human.corrected"]
    assert said[-1].actor.type == "human"
    assert b"do not touch the public API" in bytes(said[-1].payload)
    tab.shot("corrected")
    tab.page.locator("#say-told button").press("Enter")
    tab.page.locator("#say-told").get_by_text("taken back").wait_for()


def test_any_past_point_can_be_seen(tab: Any) -> None:
    """R enters, ← goes back in time, P plays, Esc comes back to now; the past is marked as such."""
    tab.press("r")
    tab.until("document.body.classList.contains('is-past')")
    tab.press("Home")
    tab.until("!document.querySelector('#brief').innerText.includes('look for side effects')")
    for _ in range(9):
        tab.press("ArrowRight")
    tab.until("document.querySelector('#replay .moment').innerText.startsWith('10/')")
    tab.shot("replay")
    assert tab.page.locator("#say-line").is_disabled()
    before = tab.page.locator("#replay .moment").inner_text()
    tab.press("p")
    tab.until(f"document.querySelector('#replay .moment').innerText !== {before!r}")
    tab.press("p", "Escape")
    tab.until("!document.body.classList.contains('is-past')")
    tab.page.get_by_text(NOW_AT_END).first.wait_for()


def test_the_language_is_one_key(tab: Any) -> None:
    """L turns every word of the page into Chinese, and back."""
    tab.press("l")
    tab.page.locator("#brief").get_by_text("北极星目标").wait_for()
    assert tab.page.evaluate("document.documentElement.lang").startswith("zh")
    tab.shot("demo-zh")
    tab.press("l")
    tab.page.locator("#brief").get_by_text("North Star").wait_for()


def test_sessions_are_found(tab: Any, played: Demo) -> None:
    """S lists all sessions; what is typed is searched in labels, reasons and errors."""
    tab.press("s")
    tab.page.locator("#sessions[open]").wait_for()
    assert played.session_id in tab.page.locator("#found").inner_text()
    tab.page.keyboard.type("refresh handler")
    tab.page.locator("#found").get_by_text(
        "Save the session after the refresh handler ran"
    ).wait_for()
    tab.shot("sessions")
    tab.press("Escape", "Escape")  # the first empties the search field
    tab.page.locator("#sessions").wait_for(state="hidden")


def test_help_lists_the_keys(tab: Any) -> None:
    """? opens what every key and mark means."""
    tab.press("?")
    tab.page.locator("#help[open] kbd").first.wait_for()
    tab.shot("help")


def test_no_patch_moves_a_node(see: Callable[..., Any], played: Demo) -> None:
    """From moment to moment of the whole session, every node stands where it was born."""
    seen = see(played)
    seen.page.get_by_text(NOW_AT_END).first.wait_for()
    where = """() => Object.fromEntries([...document.querySelectorAll('#path .node')]
                 .map(n => [n.dataset.key, n.getAttribute('transform')]))"""
    seen.press("r")
    seen.until("document.body.classList.contains('is-past')")
    seen.press("Home")
    born: dict[str, str] = {}
    last = seen.page.locator("#scrub").get_attribute("max")
    for index in range(int(last or 0) + 1):
        seen.until(f"document.querySelector('#scrub')?.value === '{index}'")
        seen.until(
            f"document.querySelector('#replay .moment').innerText.startsWith('{index + 1}/')"
        )
        for node, spot in seen.page.evaluate(where).items():
            assert born.setdefault(node, spot) == spot
        seen.press("ArrowRight")
    assert len(born) == 14


def test_a_hidden_tab_closes_its_stream(see: Callable[..., Any], played: Demo) -> None:
    """Hidden: the stream ends. Seen again: it comes back, and with it what was missed."""
    seen = see(played)
    seen.page.get_by_text(NOW_AT_END).first.wait_for()
    hide = """hidden => {
      const value = hidden ? 'hidden' : 'visible';
      Object.defineProperty(document, 'visibilityState', {value, configurable: true});
      document.dispatchEvent(new Event('visibilitychange'));
    }"""
    with seen.page.expect_event("requestfailed", lambda r: "/api/stream" in r.url):
        seen.page.evaluate(hide, True)
    with seen.page.expect_request("**/api/stream*"):
        seen.page.evaluate(hide, False)


def test_who_is_not_surely_a_person_waits_for_a_click(
    see: Callable[..., Any], played: Demo
) -> None:
    """What a process without a terminal says is asked about in the page, and taken there."""
    seen = see(played)
    seen.page.get_by_text(NOW_AT_END).first.wait_for()
    correction = HumanIntentPatch("cor_waits", played.session_id, CorrectionType.TEXT, "is it me?")
    with HumanLine(played.paths) as line:
        answer = line.ask(Correct(correction))
    assert isinstance(answer, Taken) and not answer.confirmed
    seen.page.get_by_text("is it me?").wait_for()
    seen.shot("waiting")
    seen.page.locator('[data-key="yes-cor_waits"]').press("Enter")
    seen.page.locator('[data-key="yes-cor_waits"]').wait_for(state="detached")
    said = [e for e in log_of(played.paths, played.session_id) if e.kind == "human.corrected"]
    assert any(b"is it me?" in bytes(e.payload) for e in said)


def test_a_link_works_once_and_a_stranger_sees_nothing(
    see: Callable[..., Any], played: Demo, chromium: Any
) -> None:
    """The code leaves the address bar at once; without a sign-in the page says what to type."""
    seen = see(played)
    seen.page.get_by_text(NOW_AT_END).first.wait_for()
    assert "#" not in seen.page.url
    stranger = chromium.new_context()
    page = stranger.new_page()
    page.goto(seen.page.url)
    page.get_by_text("wayfinder open").first.wait_for()
    assert "Login survives" not in page.locator("body").inner_text()
    stranger.close()


@pytest.mark.node
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_for_who_cannot_see_it(
    see: Callable[..., Any], played: Demo, scheme: str
) -> None:
    """axe-core finds nothing serious: page, drawer, overview, sessions, help, replay, Chinese."""
    seen = see(played, color_scheme=scheme)
    seen.page.get_by_text(NOW_AT_END).first.wait_for()
    seen.page.evaluate(AXE.read_text("utf-8"))
    steps = [
        (),
        ("g", "Enter"),
        ("Escape", "o"),
        ("Escape", "s"),
        ("Escape", "?"),
        ("Escape", "r"),
        ("Escape", "l"),
    ]
    found = {}
    for keys in steps:
        seen.press(*keys)
        seen.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done(1)))")
        result = seen.page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
        for violation in result["violations"]:
            if violation["impact"] in ("serious", "critical"):
                targets = [node["target"] for node in violation["nodes"]][:4]
                found[f"{keys} {violation['id']}"] = (violation["help"], targets)
        seen.shot(f"axe-{scheme}-{'-'.join(keys).replace('?', 'help') or 'page'}")
    assert found == {}


def test_on_a_narrow_screen_all_is_there(see: Callable[..., Any], played: Demo) -> None:
    """At 390 pixels nothing is cut off sideways."""
    seen = see(played, viewport={"width": 390, "height": 844})
    seen.page.get_by_text(NOW_AT_END).first.wait_for()
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
    seen.shot("narrow")


def test_a_page_left_open_does_not_grow(see: Callable[..., Any], demo: Demo) -> None:
    """Hundreds of changes later the page holds as many elements as before."""
    world = demo
    shown = world.session_id
    world.open("a long day", session="day")
    try:
        seen = see(world)
        seen.page.get_by_text("a long day").first.wait_for()
        count = "document.querySelectorAll('*').length"
        for n in range(50):
            world.prompt(f"morning {n}")
        seen.page.get_by_text("morning 49").first.wait_for()
        before = seen.page.evaluate(count)
        for n in range(300):
            world.prompt(f"evening {n}")
        seen.page.get_by_text("evening 299").first.wait_for()
        assert seen.page.evaluate(count) <= before + 5
    finally:
        world.session_id = shown
