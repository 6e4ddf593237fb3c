"""The derived tables follow the events, and can be thrown away."""

from __future__ import annotations

from typing import Any

import apsw
import pytest
from msgspec import Raw

from wayfinder.daemon.eventlog.derived import Derived
from wayfinder.daemon.eventlog.schema import DERIVED_TABLES
from wayfinder.daemon.eventlog.writer import Writer
from wayfinder.daemon.messages import SubmitPatch, SubmitSegment
from wayfinder.daemon.reconciler.service import HandlerFailed, LogFailed, Service
from wayfinder.daemon.sessions import Sessions
from wayfinder.daemon.settings import Settings
from wayfinder.reducer.vocabulary.codec import encode
from wayfinder.reducer.vocabulary.episode import Episode, EpisodeItem, FactItem, Segment
from wayfinder.reducer.vocabulary.observation import Opened, Prompted, SessionInfo
from wayfinder.reducer.vocabulary.people import CorrectionType, HumanIntentPatch
from wayfinder.reducer.vocabulary.terms import Boundary, Coverage, EpisodeKind, Outcome

INFO = SessionInfo("pi-1", agent="pi")


def first_patch() -> SubmitPatch:
    ops = [
        {"op": "create_place", "placeId": "pl_goal", "type": "Goal", "label": "login works"},
        {"op": "create_transition", "transitionId": "tr_find", "type": "Investigate",
         "intent": "find it", "expectedEvidence": ["a test"], "exitCondition": "one place"},
        {"op": "connect", "fromId": "pl_start", "toId": "tr_find", "arc": "flow"},
        {"op": "connect", "fromId": "tr_find", "toId": "pl_goal", "arc": "success"},
        {"op": "activate_transition", "transitionId": "tr_find"},
        {"op": "attach_evidence", "targetId": "tr_find", "evidence": {"summary": "seen once"}},
    ]  # fmt: skip
    body = {"patchId": "p1", "baseRevision": 0, "idempotencyKey": "k1", "ops": ops}
    return SubmitPatch(INFO, "main", 3, Raw(encode(body)))


def segment() -> SubmitSegment:
    episode = Episode("ep_4", 4, 6, EpisodeKind.TEST, Outcome.FAILED, Boundary.CALLS_CAP,
                      Coverage.FULL, ended_at=5_000, calls=3)  # fmt: skip
    facts = (FactItem(Opened(1, 1, INFO)), FactItem(Prompted(2, 2, "mend the login")))
    return SubmitSegment(Segment(INFO, 1, 6, (*facts, EpisodeItem(episode))))


@pytest.fixture
def service(writer: Writer) -> Service:
    return Service(writer, Settings(), now_ms=lambda: 10_000)


def tell(writer: Writer, service: Service, *requests: Any) -> None:
    for request in requests:
        with writer.transaction():
            service.handle(request)


def rows(writer: Writer) -> dict[str, list[Any]]:
    return {
        table: writer.connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
        for table in DERIVED_TABLES
    }


def test_rows_say_what_the_events_say(writer: Writer, service: Service) -> None:
    """Nodes, token, episode, evidence and correction each have their row once caught up."""
    derived = Derived(writer, service.sessions)
    tell(writer, service, first_patch(), segment())
    with writer.transaction():
        service.correct(HumanIntentPatch("c1", "pi-1", CorrectionType.TEXT, text="slowly"))
    assert derived.catch_up() > 0
    assert derived.catch_up() == 0
    found = rows(writer)
    assert {row[1] for row in found["places"]} == {"pl_start", "pl_goal"}
    assert [(row[1], row[4]) for row in found["transitions"]] == [("tr_find", "active")]
    assert [row[1:] for row in found["tokens"]] == [
        ("tok_main", "main", "pl_start", "tr_find", "active")
    ]
    assert [(row[1], row[7]) for row in found["episodes"]] == [("ep_4", "tr_find")]
    assert [row[3] for row in found["evidence"]] == ["tr_find"]
    assert [row[5] for row in found["human_corrections"]] == ["slowly"]


def test_built_anew_they_are_the_same(writer: Writer, service: Service) -> None:
    """However many steps it took, and with other sessions in memory, a rebuild gives equal rows."""
    derived = Derived(writer, service.sessions)
    tell(writer, service, first_patch())
    while derived.catch_up(events_max=2):
        pass
    tell(writer, service, segment())
    while derived.catch_up(events_max=1):
        pass
    before = rows(writer)
    again = Derived(writer, Sessions(writer.read))
    assert again.rebuild() == writer.read.last_seq("pi-1")
    assert rows(writer) == before


def test_a_failing_handler_costs_its_message_alone(
    writer: Writer, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of ours in one message writes nothing, and the session stands as it was committed."""
    tell(writer, service, first_patch())
    from wayfinder.daemon.reconciler import segments

    def broken(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(segments, "stamp", broken)
    with writer.transaction(), pytest.raises(HandlerFailed):
        service.handle(segment())
    assert writer.read.stream("pi-1") == (0, "{}")
    monkeypatch.undo()
    tell(writer, service, segment())
    assert service.sessions.get("pi-1").stream_position == 6
    assert service.sessions.folded == 2


def test_a_failing_log_undoes_everything(
    writer: Writer, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the log refuses, nothing of the transaction happened, in the file and in memory."""
    tell(writer, service, first_patch())

    def full(*_: Any) -> None:
        raise apsw.FullError("disk full")

    monkeypatch.setattr(writer, "advance_stream", full)
    with pytest.raises(LogFailed), writer.transaction():
        service.handle(segment())
    service.forget()
    monkeypatch.undo()
    session = service.sessions.get("pi-1")
    assert (session.revision, session.stream_position) == (1, 0)
    tell(writer, service, segment())
    assert service.sessions.get("pi-1").stream_position == 6
