"""What the spool holds: its tables, and its rows as structs. The rules are `spool.py`'s."""

from __future__ import annotations

from typing import Final, Literal

import msgspec
from msgspec import Struct

from ..reducer.vocabulary.observation import AnyObservation, Gap, Patched, SessionInfo

ErrandKind = Literal["patch", "propose", "receipt"]

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS sessions (
  session_id TEXT PRIMARY KEY, info BLOB NOT NULL, last_position INTEGER NOT NULL,
  last_at INTEGER NOT NULL, live INTEGER NOT NULL, open INTEGER NOT NULL,
  last_key TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS observations (
  session_id TEXT NOT NULL, position INTEGER NOT NULL, body BLOB NOT NULL,
  UNIQUE (session_id, position)) STRICT;
CREATE TABLE IF NOT EXISTS instances (
  instance TEXT PRIMARY KEY, session_id TEXT NOT NULL, accepted INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS calls (
  session_id TEXT NOT NULL, call_id TEXT NOT NULL, position INTEGER NOT NULL,
  UNIQUE (session_id, call_id)) STRICT;
CREATE TABLE IF NOT EXISTS purged (session_id TEXT PRIMARY KEY) STRICT;
CREATE TABLE IF NOT EXISTS plans (session_id TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS told (
  session_id TEXT NOT NULL, key TEXT NOT NULL, UNIQUE (session_id, key)) STRICT;
CREATE TABLE IF NOT EXISTS errands (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, instance TEXT NOT NULL,
  kind TEXT NOT NULL, call_id TEXT NOT NULL, position INTEGER NOT NULL,
  body BLOB NOT NULL, answer BLOB) STRICT;
CREATE INDEX IF NOT EXISTS errands_of ON errands (instance);
CREATE INDEX IF NOT EXISTS errands_in ON errands (session_id, id);
"""


_observations: Final[msgspec.json.Decoder[AnyObservation]] = msgspec.json.Decoder(AnyObservation)


def decode_observation(body: bytes) -> AnyObservation:
    return _observations.decode(body)


def key_of(observation: AnyObservation) -> str:
    """What names one fact in live feed and session file alike; "" for a gap, which has no name."""
    if isinstance(observation, Gap):
        return ""
    tag = observation.__struct_config__.tag
    if isinstance(observation, Patched):
        return f"{tag}|{observation.call_id}"
    named = getattr(observation, "call_id", getattr(observation, "code", ""))
    return f"{tag}|{named}|{observation.at}"


class Errand(Struct, frozen=True):
    """A patch, a proposal or a receipt on its way. `body` is the redacted JSON, or the note;
    `answer` set: it is done, but the agent was not there to be told."""

    session_id: str
    instance: str
    kind: ErrandKind
    call_id: str
    position: int
    body: bytes
    answer: bytes | None = None
    id: int = 0


class Known(Struct, frozen=True):
    """One session's counter. `open`: more may come."""

    info: SessionInfo
    last_position: int
    last_at: int
    live: bool
    open: bool
    last_key: str = ""  # of the newest observation that was no gap
