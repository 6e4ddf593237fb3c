"""Sessions followed once, told to every page that looks at them.

    viewer ── view.ipc, snap.ipc ──▶ Channel (one per session, and one for the list) ──▶ Page …

A channel numbers its own changes: the page's resume number is (epoch, n), and what a page missed
while it was away is sent again from a short memory, else the whole frame is. A page gets at most
30 batches a second; one that reads too slowly loses its backlog and gets the frame instead, so
nothing here grows with time or with a slow reader.

Lines of the stream, one JSON object each:

    {"t":"list","n":4,"frame":{…}}   {"t":"list+","n":5,"change":{…}}          merge patches
    {"t":"view","epoch":"…","n":9,"frame":{…}}   {"t":"view+","n":10,"change":{…}}
    {"t":"gone"}   {"t":"waiting","items":[…]}   {"t":"signin","mayCorrect":true}   {"t":"beat"}
"""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

import msgspec
import zmq

from ...daemon.paths import Paths
from ...daemon.viewer.merge import Json, diff
from ..follow import Feed

BATCH_EVERY_S: Final = 1 / 30
BEAT_EVERY_S: Final = 10.0
TURN_EVERY_S: Final = 0.5
REMEMBERED: Final = 128  # changes a page may have missed and still catch up on
BACKLOG_BYTES_MAX: Final = 1 << 20
CHANNELS_MAX: Final = 4  # sessions followed though nobody looks at them now

LIST: Final = None  # the channel of the list of sessions


class Channel:
    """One followed frame: its number, its last changes, the pages that look at it."""

    def __init__(self, paths: Paths, session_id: str | None, epoch: str) -> None:
        self.kind = "list" if session_id is None else "view"
        self.epoch = epoch
        self.n = 0
        self.frame: Json | None = None
        self.gone = False
        self.pages: set[Page] = set()
        self._changes: deque[tuple[int, bytes]] = deque(maxlen=REMEMBERED)
        self._feed = Feed(paths, session_id)
        self._timer: asyncio.TimerHandle | None = None
        self._fds = [int(s.getsockopt(zmq.FD)) for s in self._feed.sockets]
        self._loop = asyncio.get_running_loop()
        for fd in self._fds:
            self._loop.add_reader(fd, self._turn)
        self._turn()

    def close(self) -> None:
        for fd in self._fds:
            self._loop.remove_reader(fd)
        if self._timer is not None:
            self._timer.cancel()
        self._feed.close()

    def whole(self) -> bytes:
        head = {"t": self.kind, "epoch": self.epoch, "n": self.n}
        return _line({**head, "frame": self.frame})

    def since(self, epoch: str, n: int) -> list[bytes] | None:
        """What came after n, if all of it is still remembered."""
        if epoch != self.epoch or not 0 <= self.n - n <= len(self._changes):
            return None
        return [line for number, line in self._changes if number > n]

    def _turn(self) -> None:
        """Edge-triggered descriptors: everything is drained, and a look is taken now and then."""
        if self._timer is not None:
            self._timer.cancel()
        while True:
            if (frame := self._feed.turn()) is not None:
                self._changed(frame)
            elif not any(socket.poll(0) for socket in self._feed.sockets):
                break
        if self._feed.gone and not self.gone:
            self.gone = True
            self._tell(_line({"t": "gone"}))
        self._timer = self._loop.call_later(TURN_EVERY_S, self._turn)

    def _changed(self, frame: Json) -> None:
        before, self.frame = self.frame, dict(frame)
        if before is None:
            self._tell(self.whole())
            return
        change = diff(before, frame)
        if change:
            self.n += 1
            line = _line({"t": f"{self.kind}+", "n": self.n, "change": change})
            self._changes.append((self.n, line))
            self._tell(line)

    def _tell(self, line: bytes) -> None:
        for page in self.pages:
            page.put(line)


class Page:
    """One open stream. Its backlog is bounded: what does not fit is replaced by whole frames."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._bytes = 0
        self._ready = asyncio.Event()
        self._channels: list[Channel] = []

    def join(self, channel: Channel, epoch: str = "", n: int = -1) -> None:
        channel.pages.add(self)
        self._channels.append(channel)
        missed = channel.since(epoch, n)
        if missed is not None:
            for line in missed:
                self.put(line)
        elif channel.frame is not None:
            self.put(channel.whole())

    def put(self, line: bytes) -> None:
        self._lines.append(line)
        self._bytes += len(line)
        if self._bytes > BACKLOG_BYTES_MAX and len(self._lines) > len(self._channels):
            self._lines = [c.whole() for c in self._channels if c.frame is not None]
            self._bytes = sum(map(len, self._lines))
        self._ready.set()

    def leave(self) -> None:
        for channel in self._channels:
            channel.pages.discard(self)

    async def batches(self) -> AsyncIterator[bytes]:
        """What to send, at most 30 times a second; a beat when there is nothing for long."""
        while True:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._ready.wait(), BEAT_EVERY_S)
            if not self._lines:
                yield _line({"t": "beat"})
                continue
            lines, self._lines, self._bytes = self._lines, [], 0
            self._ready.clear()
            yield b"".join(lines)
            await asyncio.sleep(BATCH_EVERY_S)


class Feeds:
    """The channels that are open, and the pages."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._epoch = secrets.token_hex(8)
        self._channels: OrderedDict[str | None, Channel] = OrderedDict()
        self.pages: set[Page] = set()

    def close(self) -> None:
        for channel in self._channels.values():
            channel.close()

    def channel(self, session_id: str | None) -> Channel:
        found = self._channels.get(session_id)
        if found is not None and found.gone and not found.pages:
            del self._channels[session_id]
            found.close()
            found = None
        if found is None:
            found = self._channels[session_id] = Channel(self._paths, session_id, self._epoch)
        self._channels.move_to_end(session_id)
        self._forget_unwatched()
        return found

    def frame(self, session_id: str) -> dict[str, Any] | None:
        """The newest frame, if the session is being followed."""
        channel = self._channels.get(session_id)
        return channel.frame if channel is not None else None

    def tell_all(self, message: dict[str, Any]) -> None:
        line = _line(message)
        for page in self.pages:
            page.put(line)

    async def stream(
        self, session_id: str | None, epoch: str, n: int, first: dict[str, Any]
    ) -> AsyncIterator[bytes]:
        """`first` goes out before anything else."""
        page = Page()
        self.pages.add(page)
        try:
            page.put(_line(first))
            page.join(self.channel(LIST))
            if session_id is not None:
                page.join(self.channel(session_id), epoch, n)
            async for batch in page.batches():
                yield batch
        finally:
            self.pages.discard(page)
            page.leave()

    def _forget_unwatched(self) -> None:
        unwatched = [k for k, c in self._channels.items() if not c.pages and k is not LIST]
        for key in unwatched[: max(0, len(unwatched) - CHANNELS_MAX)]:
            self._channels.pop(key).close()


def _line(value: dict[str, Any]) -> bytes:
    return msgspec.json.encode(value) + b"\n"
