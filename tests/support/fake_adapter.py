"""Stands in for the daemon where a test needs one that misbehaves: speaks, or refuses to.

Moods: `healthy` acknowledges and answers; `silent` reads and never answers; `deaf` accepts and
never reads; `dies` closes after `after` frames and is gone; `drops` closes the connection once,
after `after` frames, the last of them unacknowledged; `deferred` answers patches only when
`release()` is called; `wrong_version` refuses the hello.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

Frame = dict[str, Any]
WHERE = {"tokenId": "tok_main", "placeId": "pl_start", "enabled": []}


def applied(frame: Frame, revision: int) -> Frame:
    return {
        "status": "applied",
        "revision": revision,
        "idMap": {},
        "eventIds": [],
        "snapshotHash": "sha256:" + "0" * 64,
        "where": WHERE,
    }


class FakeAdapter:
    def __init__(self, path: Path, mood: str = "healthy", after: int = 6) -> None:
        self.path = path
        self.mood = mood
        self.after = after
        self.frames: list[Frame] = []
        self.connections: list[list[Frame]] = []
        self.hellos: list[Frame] = []
        self._accepted: dict[str, int] = {}
        self.revision = 0
        self.constraints: list[Frame] = []
        self.declared = True
        self.answer: Callable[[Frame, int], Frame] = applied
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: list[asyncio.Task[Any]] = []
        self._held: list[tuple[asyncio.StreamWriter, Frame]] = []
        self._ready = threading.Event()
        self._call: Callable[[Callable[[], None]], None] = lambda _: None
        self._over: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    def __enter__(self) -> FakeAdapter:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        over = self._over
        if over is not None:
            with contextlib.suppress(RuntimeError):  # it died, as it should have
                self._call(over.set)
        self._thread.join()

    def events(self, name: str) -> list[Frame]:
        return [f for f in self.frames if f["t"] == "obs" and f["ev"] == name]

    def patches(self) -> list[Frame]:
        return [f for f in self.frames if f["t"] in ("patch", "propose")]

    def release(self) -> None:
        """Answers every held patch now."""
        self._call(self._release)

    def _release(self) -> None:
        for writer, frame in self._held:
            self._say(writer, self._answer(frame))
        self._held.clear()

    async def _serve(self) -> None:
        self._over = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._call = lambda f: loop.call_soon_threadsafe(f)
        server = await asyncio.start_unix_server(self._guarded, self.path, limit=4 << 20)
        self._ready.set()
        await self._over.wait()
        server.close()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _guarded(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._writers.append(writer)
        self._tasks.append(task)
        with contextlib.suppress(ConnectionError):  # the agent was killed
            await self._connected(reader, writer)
        writer.transport.abort()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        over = self._over
        assert over is not None
        if self.mood == "deaf":
            await over.wait()
            return
        spoken: list[Frame] = []
        self.connections.append(spoken)
        instance = ""
        while line := await reader.readline():
            frame = json.loads(line)
            if frame["t"] == "hello":
                instance = frame["instance"]
                self.hellos.append(frame)
            else:
                spoken.append(frame)
                self.frames.append(frame)
            if self.mood == "silent":
                continue
            if self.mood == "dies" and len(self.frames) >= self.after:
                self.path.unlink(missing_ok=True)
                over.set()
                break
            if self.mood == "drops" and len(self.frames) == self.after:
                self.mood = "healthy"
                break
            if frame["t"] != "hello":
                self._accepted[instance] = max(frame["seq"], self._accepted.get(instance, 0))
            self._react(writer, frame)

    def _react(self, writer: asyncio.StreamWriter, frame: Frame) -> None:
        if frame["t"] == "hello":
            if self.mood == "wrong_version":
                self._say(writer, {"t": "error", "code": "version", "expected": "2"})
                writer.close()
            else:
                self._say(writer, self._welcome(frame["instance"]))
            return
        self._say(writer, {"t": "ack", "seq": frame["seq"]})
        if frame["t"] == "obs":
            return
        if self.mood == "deferred":
            self._held.append((writer, frame))
        else:
            self._say(writer, self._answer(frame))

    def _welcome(self, instance: str) -> Frame:
        return {
            "t": "welcome",
            "v": 1,
            "ack": self._accepted.get(instance, 0),
            "revision": self.revision,
            "declared": self.declared,
            "constraints": self.constraints,
            "bound": True,
            "reason": None,
        }

    def _answer(self, frame: Frame) -> Frame:
        self.revision += 1
        return {
            "t": "answer",
            "callId": frame["callId"],
            "answer": self.answer(frame, self.revision),
        }

    @staticmethod
    def _say(writer: asyncio.StreamWriter, frame: Frame) -> None:
        if not writer.is_closing():
            writer.write(json.dumps(frame).encode() + b"\n")
