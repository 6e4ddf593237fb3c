"""The stream: whole frames, numbered changes, resuming, slow readers, many pages at once."""

from __future__ import annotations

import json
import socket
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from page_world import WAIT_S, PageWorld, request

from wayfinder.clients.web.feeds import BACKLOG_BYTES_MAX, Channel, Page
from wayfinder.daemon.viewer.merge import apply

Line = dict[str, Any]


@pytest.fixture(scope="module")
def world() -> Iterator[PageWorld]:
    made = PageWorld()
    made.open("restore the login")
    made.sign_in()
    yield made
    made.close()


class Reading:
    """One open stream, its lines applied as the page applies them."""

    def __init__(self, world: PageWorld, query: str = "") -> None:
        self._socket = socket.create_connection(("127.0.0.1", world.port), timeout=WAIT_S)
        headers = [("Host", world.host), ("Authorization", f"Bearer {world.token}")]
        path = f"/api/stream?session={world.session_id}{query}"
        self._socket.sendall(request("GET", path, headers))
        self._file = self._socket.makefile("rb")
        while self._file.readline().strip():
            pass
        self._rest = b""
        self.frame: Line = {}
        self.list: Line = {}
        self.epoch, self.n = "", -1
        self.seen: list[str] = []

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def line(self) -> Line:
        while b"\n" not in self._rest:
            size = int(self._file.readline(), 16)
            assert size, "the stream ended"
            self._rest += self._file.read(size)
            self._file.readline()
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def take(self) -> Line:
        line = self.line()
        self.seen.append(line["t"])
        if line["t"] == "list":
            self.list = line["frame"]
        elif line["t"] == "list+":
            self.list = apply(self.list, line["change"])
        elif line["t"] == "view":
            self.frame, self.epoch, self.n = line["frame"], line["epoch"], line["n"]
        elif line["t"] == "view+":
            assert line["n"] == self.n + 1
            self.frame, self.n = apply(self.frame, line["change"]), line["n"]
        return line

    def until_seq(self, seq: int) -> None:
        while self.frame.get("seq", 0) < seq:
            self.take()


def test_a_page_is_kept_in_step(world: PageWorld) -> None:
    """First what waits, then list and frame whole, then numbered changes only."""
    reading = Reading(world)
    reading.until_seq(4)
    for n in range(20):
        world.prompt(f"line {n}")
    reading.until_seq(4 + 40)
    assert reading.frame["view"]["latestAsk"]["text"] == "line 19"
    assert reading.seen.count("view") == 1
    while reading.list[world.session_id]["lastSeq"] < 44:
        reading.take()
    reading.close()


def test_what_was_missed_is_sent_again(world: PageWorld) -> None:
    """A page that comes back with its number gets the changes since; an unknown one the frame."""
    reading = Reading(world)
    while reading.n < 0:
        reading.take()
    reading.close()
    seq = reading.frame["seq"]
    world.prompt("while it was away")
    keeper = Reading(world)  # somebody else has the newest already
    keeper.until_seq(seq + 2)
    back = Reading(world, f"&epoch={reading.epoch}&n={reading.n}")
    back.frame, back.n = reading.frame, reading.n
    back.until_seq(seq + 2)
    assert "view" not in back.seen
    assert back.frame == keeper.frame
    for query in (f"&epoch=other&n={reading.n}", f"&epoch={reading.epoch}&n=99999", "&n=x"):
        stranger = Reading(world, query)
        stranger.until_seq(seq + 2)
        assert "view" in stranger.seen
        stranger.close()
    keeper.close()
    back.close()


def test_twenty_pages_agree(world: PageWorld) -> None:
    """Twenty pages at once all end with the same frame."""
    pages = [Reading(world) for _ in range(20)]
    for page in pages:
        while page.n < 0:
            page.take()
    seq = pages[0].frame["seq"]
    for n in range(10):
        world.prompt(f"all see {n}")
    for page in pages:
        page.until_seq(seq + 20)
    assert len({json.dumps(page.frame, sort_keys=True) for page in pages}) == 1
    for page in pages:
        page.close()


def test_pages_that_left_cost_nothing(world: PageWorld) -> None:
    """When every page is gone the server holds none."""
    pages = [Reading(world) for _ in range(5)]
    for page in pages:
        while page.n < 0:
            page.take()
        page.close()
    import psutil

    process = psutil.Process(world.processes["wayfinder.clients.web"].popen.pid)
    for _ in range(400):
        left = [c for c in process.net_connections("inet") if c.status == "ESTABLISHED"]
        if not left:
            return
        world.prompt("so that it writes to them")
    raise AssertionError(f"{len(left)} connections stay")


class FakeChannel(Channel):
    def __init__(self) -> None:
        self.kind, self.epoch, self.n = "view", "e", 3
        self.frame = {"whole": True}
        self.pages = set()
        self._changes = deque(maxlen=4)


def test_a_slow_page_gets_the_frame_instead_of_its_backlog() -> None:
    """What piles up beyond the bound is thrown away for one whole frame: nothing grows."""
    import asyncio

    async def story() -> None:
        page, channel = Page(), FakeChannel()
        page.join(channel)
        for _ in range(1000):
            page.put(b"x" * 10_000)
            assert page._bytes <= BACKLOG_BYTES_MAX
        batch = await anext(page.batches())
        assert b'"whole":true' in batch

    # In a thread of its own: another test's browser may have a loop in this one.
    with ThreadPoolExecutor(1) as own:
        own.submit(asyncio.run, story()).result()
