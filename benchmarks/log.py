"""Durable appends: our log beside raw apsw and eventsourcing, in one interleaved run.

A patch is six events of about 650 bytes, from event objects to durable rows. All three write a
WAL with one sync per commit: eventsourcing by its own settings, raw apsw by ours.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import apsw
import msgspec
from eventsourcing.domain import DomainEvent
from eventsourcing.persistence import DatetimeAsISO, JSONTranscoder, Mapper
from eventsourcing.sqlite import SQLiteAggregateRecorder, SQLiteDatastore

from wayfinder.daemon.eventlog.connection import WRITER_PRAGMAS
from wayfinder.daemon.eventlog.writer import Writer
from wayfinder.reducer.session.seal import Cause, seal
from wayfinder.reducer.vocabulary import event as ev
from wayfinder.reducer.vocabulary.codec import encode
from wayfinder.reducer.vocabulary.event import Envelope
from wayfinder.reducer.vocabulary.patch import Actor, CreatePlace
from wayfinder.reducer.vocabulary.terms import ActorType, Channel, PlaceType

from .result import Result, beside, interleaved, median, spread

EVENTS_PER_PATCH = 6
DIGEST = "sha256:" + "0" * 64
COMMITS = {1: 300, 64: 12}  # patches per commit → commits per round


def patch_events(session: str, number: int) -> list[Envelope]:
    words = "a label long enough to make an event of the usual size, " * 4
    places = [
        ev.PlaceConfirmed(CreatePlace(f"pl_{number}_{n}", PlaceType.CONDITION, words[:190]), n)
        for n in range(EVENTS_PER_PATCH - 2)
    ]
    payloads = [
        ev.PathDeclared(f"patch_{number}", f"call_{number}", DIGEST, 4, number),
        *places,
        ev.PatchCommitted(f"patch_{number}", EVENTS_PER_PATCH, DIGEST),
    ]
    cause = Cause(Channel.DECLARED_PATH, Actor(ActorType.AGENT, "main"), f"patch_{number}")
    return seal(payloads, cause, session_id=session, last_seq=number * EVENTS_PER_PATCH,
                revision_before=number, revision_after=number + 1, now_ms=0)  # fmt: skip


class PlaceConfirmed(DomainEvent):
    """Theirs, with as much to say as ours."""

    payload: dict[str, object]


def ours(path: Path, group: int) -> Callable[[], float]:
    writer = Writer(path)
    position = 0

    def run() -> float:
        nonlocal position
        commits = COMMITS[group]
        todo = [patch_events("pi-bench", position + n) for n in range(commits * group)]
        position += len(todo)
        begun = time.perf_counter()
        for first in range(0, len(todo), group):
            with writer.transaction():
                for events in todo[first : first + group]:
                    writer.append("pi-bench", events)
        return len(todo) * EVENTS_PER_PATCH / (time.perf_counter() - begun)

    return run


def raw(path: Path, group: int) -> Callable[[], float]:
    """The least that could be done: the same bytes into one table, with the same settings."""
    connection = apsw.Connection(str(path))
    for pragma in WRITER_PRAGMAS:
        name, _, value = pragma.partition(" = ")
        connection.pragma(name, int(value) if value.isdigit() else value)
    connection.execute(
        "CREATE TABLE events (position INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER,"
        " seq INTEGER, body TEXT, UNIQUE (session, seq)) STRICT"
    )
    body = encode(patch_events("pi-bench", 0)[2]).decode()
    seq = 0

    def run() -> float:
        nonlocal seq
        commits, begun = COMMITS[group], time.perf_counter()
        for _ in range(commits):
            rows = [(1, seq + n, body) for n in range(group * EVENTS_PER_PATCH)]
            seq += len(rows)
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT INTO events (session, seq, body) VALUES (?, ?, ?)", rows)
            connection.execute("COMMIT")
        return commits * group * EVENTS_PER_PATCH / (time.perf_counter() - begun)

    return run


def eventsourcing(path: Path, group: int) -> Callable[[], float]:
    """Its recorder and its own mapper: from event object to durable row, as ours."""
    recorder = SQLiteAggregateRecorder(SQLiteDatastore(str(path)))
    recorder.create_table()
    transcoder = JSONTranscoder()
    transcoder.register(DatetimeAsISO())
    mapper: Mapper[UUID] = Mapper(transcoder)
    envelope = patch_events("pi-bench", 0)[2]
    payload = {**msgspec.json.decode(encode(envelope))}
    aggregate, version = uuid4(), 0

    def run() -> float:
        nonlocal version
        commits, count = COMMITS[group], group * EVENTS_PER_PATCH
        now = datetime.now(UTC)
        todo = [
            [
                PlaceConfirmed(originator_id=aggregate, originator_version=version + first + n,
                               timestamp=now, payload=payload)
                for n in range(count)
            ]
            for first in range(0, commits * count, count)
        ]  # fmt: skip
        version += commits * count
        begun = time.perf_counter()
        for events in todo:
            recorder.insert_events([mapper.to_stored_event(event) for event in events])
        return commits * count / (time.perf_counter() - begun)

    return run


def run() -> list[Result]:
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="wayfinder-bench-") as name:
        folder = Path(name)
        for group in COMMITS:
            seen = interleaved({
                "ours": ours(folder / f"ours{group}.db", group),
                "raw apsw": raw(folder / f"raw{group}.db", group),
                "eventsourcing": eventsourcing(folder / f"es{group}.db", group),
            })  # fmt: skip
            told = f"durable append, {group} patch{'es' if group > 1 else ''} per commit"
            for peer in ("raw apsw", "eventsourcing"):
                results.append(
                    beside(told, "events/s", median(seen["ours"]), peer, median(seen[peer]),
                           spread(seen["ours"]))
                )  # fmt: skip
    return results
