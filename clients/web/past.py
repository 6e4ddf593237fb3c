"""The past, read from the log itself: the moments of a session, proposals, a search over all.

Everything here opens the log read-only, works in a thread of its own and closes it again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

import msgspec
import zmq
from msgspec import Struct

from ...daemon.bus import Bus, Caller
from ...daemon.eventlog.reader import Reader
from ...daemon.messages import AnySnapReply, ReadView, Snapshot
from ...daemon.paths import Paths
from ...reducer.remarks.proposals import opened
from ...reducer.session.fold import fold
from ...reducer.session.state import Session
from ...reducer.vocabulary import event as ev
from ...reducer.vocabulary.codec import decode, encode
from ..human import DaemonAway
from ..searching import Hit, texts_of

MOMENTS_MAX: Final = 2_000
HITS_MAX: Final = 50
SEARCHED_MAX: Final = 200  # the newest sessions
ANSWER_TIMEOUT_S: Final = 10.0
_replies: Final[msgspec.json.Decoder[AnySnapReply]] = msgspec.json.Decoder(
    cast("type[AnySnapReply]", AnySnapReply)
)


class Moment(Struct, frozen=True, rename="camel", omit_defaults=True):
    """A point a person may go back to. `what` is a key of the page's own words."""

    seq: int
    ts: str
    what: str
    text: str = ""


class Waiting(Struct, frozen=True, rename="camel"):
    """A proposal in plain parts: one entry per op, with the words it brings."""

    proposal_id: str
    agent_id: str
    at: int
    base_revision: int
    ops: tuple[dict[str, Any], ...]
    decision: str | None


def frame_at(paths: Paths, session_id: str, at_seq: int) -> bytes | None:
    """The frame as it was after that event, from the viewer. None: no such session.

    Raises DaemonAway if the viewer stays silent.
    """
    bus = Bus(paths, name="page")
    try:
        caller = bus.caller("snap.ipc")
        ask = encode(ReadView(session_id, at_seq))
        deadline = time.monotonic() + ANSWER_TIMEOUT_S
        while not caller.send(b"past", ask):
            _wait(caller, zmq.POLLOUT, deadline)
        while (answered := caller.receive()) is None:
            _wait(caller, zmq.POLLIN, deadline)
    finally:
        bus.close()
    reply = _replies.decode(answered[1])
    return bytes(reply.frame) if isinstance(reply, Snapshot) else None


def _wait(caller: Caller, what: int, deadline: float) -> None:
    left_ms = int((deadline - time.monotonic()) * 1000)
    if left_ms <= 0:
        raise DaemonAway("the viewer does not answer; `wayfinderd status` tells more")
    caller.socket.poll(min(left_ms, 50), what)


def moments(database: Path, session_id: str) -> list[Moment]:
    """Oldest first; of a very long session the newest."""
    reader = Reader.open(database)
    try:
        found = list(_moments(reader.events(session_id)))
    finally:
        reader.close()
    return found[-MOMENTS_MAX:]


def _moments(events: Iterator[ev.Envelope]) -> Iterator[Moment]:
    intents: dict[str, str] = {}
    news = ""
    for envelope in events:
        kind, seq, ts = envelope.kind, envelope.session_seq, envelope.ts
        if kind == "transition.proposed":
            created = decode(bytes(envelope.payload), ev.TransitionProposed).transition
            intents[created.transition_id] = created.intent
        elif kind == "transition.activated":
            activated = decode(bytes(envelope.payload), ev.TransitionActivated)
            news = intents.get(activated.transition_id, "")
        elif kind == "patch.committed":
            yield Moment(seq, ts, "path", news)
            news = ""
        elif kind == "episode.completed":
            episode = decode(bytes(envelope.payload), ev.EpisodeCompleted).episode
            yield Moment(seq, ts, "episode", f"{episode.kind} {episode.outcome}")
        elif kind == "prompt.received":
            asked = decode(bytes(envelope.payload), ev.PromptReceived)
            yield Moment(seq, ts, "prompt", asked.line)
        elif kind == "human.corrected" and _stands_alone(envelope):
            yield Moment(seq, ts, "correction")
        elif kind == "session.settled":
            yield Moment(seq, ts, "settled")


def _stands_alone(envelope: ev.Envelope) -> bool:
    return envelope.graph_revision_after == envelope.graph_revision_before


def proposals(database: Path, session_id: str) -> list[Waiting]:
    """Undecided ones, oldest first."""
    reader = Reader.open(database)
    try:
        rows = reader.waiting_proposals(session_id)
    finally:
        reader.close()
    return [
        Waiting(
            proposal_id=row.proposal_id,
            agent_id=row.agent_id,
            at=row.at_ms,
            base_revision=row.base_revision,
            ops=tuple(map(msgspec.to_builtins, opened(row.agent_id, row.body.encode()).ops)),
            decision=row.decision,
        )
        for row in rows
    ]


def search(database: Path, text: str) -> list[Hit]:
    """In any case, in the newest sessions first."""
    wanted = text.casefold()
    hits: list[Hit] = []
    reader = Reader.open(database)
    try:
        for row in reader.sessions(SEARCHED_MAX):
            session = Session(row.session_id)
            for envelope in reader.events(row.session_id):
                fold(session, envelope)
            hits += [hit for hit in texts_of(session) if wanted in hit.text.casefold()]
            if len(hits) >= HITS_MAX:
                break
    finally:
        reader.close()
    return hits[:HITS_MAX]
