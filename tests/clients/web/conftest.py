"""A browser that reports every trouble: dialogs, policy reports, foreign requests, errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from live_world import rules
from page_world import PageWorld

__all__ = ["rules"]

ROOT = Path(__file__).parents[3]
ARTEFACTS = ROOT / "artefacts" / "page"
WAIT_S = 20.0
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
WATCH = """
window.wayfinderTrouble = [];
document.addEventListener('securitypolicyviolation', (e) =>
  window.wayfinderTrouble.push(`${e.violatedDirective} ${e.blockedURI} ${e.sourceFile}`));
"""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        yield browser
        browser.close()


class Seen:
    """One tab, signed in. `trouble()` lists whatever should not have happened."""

    def __init__(self, chromium: Any, link: str, **options: Any) -> None:
        self._problems: list[str] = []
        self._origin = link.partition("/#")[0]
        viewport = {"width": 1400, "height": 900}
        self.context = chromium.new_context(**{"viewport": viewport, "locale": "en-GB", **options})
        self.context.add_init_script(WATCH)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.page.on("pageerror", lambda error: self._problems.append(f"error: {error}"))
        self.page.on("console", self._console)
        self.page.on("dialog", self._dialog)
        self.page.on("request", self._request)
        self.page.goto(link)

    def _console(self, message: Any) -> None:
        # A request that was refused or cut off is reported by the browser itself.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self._problems.append(f"console: {message.text}")

    def _dialog(self, dialog: Any) -> None:
        self._problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Any) -> None:
        if not request.url.startswith(f"{self._origin}/"):
            self._problems.append(f"request: {request.url}")

    def trouble(self) -> list[str]:
        return self._problems + list(self.page.evaluate("window.wayfinderTrouble"))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def shot(self, name: str) -> None:
        """Kept as an artefact of the run, for people."""
        ARTEFACTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=ARTEFACTS / f"{name}.png")

    def until(self, script: str) -> None:
        """Polled from here: the page's policy forbids the browser to evaluate strings by itself."""
        deadline = time.monotonic() + WAIT_S
        while not self.page.evaluate(script):
            assert time.monotonic() < deadline, f"never: {script}"
            self.page.wait_for_timeout(30)


@pytest.fixture
def see(chromium: Any) -> Iterator[Callable[..., Seen]]:
    """`see(world)`: the world's page in a fresh browser profile; troubles fail the test."""
    seen: list[Seen] = []

    def open_(world: PageWorld, **options: Any) -> Seen:
        seen.append(Seen(chromium, world.page().url, **options))
        return seen[-1]

    yield open_
    troubles = [trouble for one in seen for trouble in one.trouble()]
    for one in seen:
        one.context.close()
    assert troubles == []
