"""A recorded session: the frames one agent sent on agent.sock, with their times.

    {"recording":1,"agent":"pi","agentVersion":"1.6.0","durationMs":27000,"frames":95}
    {"ms":0,"frame":{"t":"hello","v":1,"agent":"pi", …}}
    {"ms":431,"frame":{"seq":1,"t":"obs","at":398,"ev":"prompt","text":"…","source":"…"}}

`ms` is when the frame was sent and `at` the event time it tells, both from the start of the
recording. Paths and ids in it are neutral. Made anew by tests/e2e/record_demo.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

PACKAGE: Final = __name__.rpartition(".")[0]
STORY: Final = "login-refresh.jsonl"
Ms = Annotated[int, Meta(ge=0, le=86_400_000)]


class Head(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    recording: Literal[1]
    agent: str
    agent_version: str
    duration_ms: Ms
    frames: int


class Sent(Struct, frozen=True, forbid_unknown_fields=True):
    """One frame. `frame` is exactly what goes on the wire but for `at` and the identity."""

    ms: Ms
    frame: dict[str, Any]


class Recording(Struct, frozen=True):
    head: Head
    hello: dict[str, Any]
    sent: tuple[Sent, ...]

    @property
    def session_id(self) -> str:
        return f"{self.hello['agent']}-{self.hello['session']}"

    def frames(self, base_ms: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """(when, frame) with event times counted from `base_ms`."""
        for sent in self.sent:
            yield sent.ms, {**sent.frame, "at": base_ms + sent.frame["at"]}


def load(path: Path | None = None) -> Recording:
    """The packaged story, or another file. Raises ValueError for a file that is no recording."""
    data = path.read_bytes() if path else (files(PACKAGE) / STORY).read_bytes()
    first, *rest = data.splitlines()
    head = msgspec.json.decode(first, type=Head)
    sent = [msgspec.json.decode(line, type=Sent) for line in rest]
    if len(sent) != head.frames or not sent or sent[0].frame["t"] != "hello":
        raise ValueError(f"a recording of {head.frames} frames that begins with hello")
    return Recording(head, sent[0].frame, tuple(sent[1:]))


def dump(recording: Recording) -> bytes:
    lines: list[object] = [recording.head, Sent(0, recording.hello), *recording.sent]
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
