"""What the command, the adapter and its worker say to each other. JSON lines, one object each.

  command → adapter, on agent.sock, in place of a hello
    {"t":"import","v":1,"files":["/…/x.jsonl"],"agent":null,"discover":false,"follow":false}
  adapter → command
    {"t":"progress","file":"/…","done":1024,"size":4096}
    {"t":"result","result":{…Result…}}                              one per file
    {"t":"end"}                                                     nothing more follows

  adapter → worker, on its standard input
    {"run":…,"state":…,"request":{…the import frame…}}              once
    {"after":17} | {"refused":"why"}                                answers `open`
    {"more":true}                                                   answers `batch`
  worker → adapter, on its standard output
    {"t":"open","file":"/…","info":{…SessionInfo…}}
    {"t":"batch","sessionId":"…","observations":[…]}
    {"t":"closed","sessionId":"…"}                                  its file has been read
    {"t":"progress",…} {"t":"result",…} {"t":"end"}                 passed on as they are

Each side waits for the answer before it says more, so that nothing piles up.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from ...reducer.vocabulary.ids import Wire
from ...reducer.vocabulary.observation import AnyObservation, SessionInfo
from .result import Result

VERSION: Final = 1
FILES_MAX: Final = 10_000
LINE_BYTES_MAX: Final = 8 << 20  # of a worker, our own child
MARK: Final = b'{"t":"import"'

FilePath = Annotated[str, Meta(min_length=1, max_length=4096)]


class Import(Wire, frozen=True, omit_defaults=False):
    """Asks the running adapter to read files. Paths are absolute."""

    t: Literal["import"] = "import"
    v: int = VERSION
    files: Annotated[tuple[FilePath, ...], Meta(max_length=FILES_MAX)] = ()
    agent: Annotated[str, Meta(max_length=32)] | None = None
    discover: bool = False
    follow: bool = False


class FromWorker(Wire, frozen=True, tag_field="t"):
    """Also what the command hears, but for `open`, `batch` and `closed`."""


class Open(FromWorker, frozen=True, tag="open"):
    file: str
    info: SessionInfo


class Batch(FromWorker, frozen=True, tag="batch"):
    session_id: str
    observations: tuple[AnyObservation, ...]


class Closed(FromWorker, frozen=True, tag="closed"):
    session_id: str


class Progress(FromWorker, frozen=True, tag="progress"):
    file: str
    done: int
    size: int


class Told(FromWorker, frozen=True, tag="result"):
    result: Result


class End(FromWorker, frozen=True, tag="end"):
    why: str = ""


AnyFromWorker = Open | Batch | Closed | Progress | Told | End


class Birth(Struct, frozen=True):
    """The worker's first line."""

    run: str
    state: str
    request: Import


class ToWorker(Struct, frozen=True, omit_defaults=True):
    """Every later line."""

    after: int | None = None
    refused: str | None = None
    more: bool = False


from_worker: Final[msgspec.json.Decoder[AnyFromWorker]] = msgspec.json.Decoder(AnyFromWorker)
to_worker: Final = msgspec.json.Decoder(ToWorker)
births: Final = msgspec.json.Decoder(Birth)


def line(frame: Any) -> bytes:
    return msgspec.json.encode(frame) + b"\n"
