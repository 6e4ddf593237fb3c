"""The reconciler as a real process: answered means durable, published means committed."""

from __future__ import annotations

import socket
from collections.abc import Callable

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from wayfinder.daemon.bus import Published, Welcome
from wayfinder.daemon.eventlog.reader import Reader
from wayfinder.daemon.messages import (
    Correct,
    Greet,
    ListWaiting,
    Purge,
    ReadStanding,
    ReadStream,
    Refused,
    Standing,
    StreamAt,
    SubmitLiveNote,
    SubmitPatch,
    SubmitSegment,
    Taken,
    TellAgents,
    read_reply,
)
from wayfinder.daemon.paths import Paths
from wayfinder.reducer.session.fold import replay
from wayfinder.reducer.vocabulary.answer import Applied, Proposed, Rejected, Unchanged
from wayfinder.reducer.vocabulary.codec import encode
from wayfinder.reducer.vocabulary.episode import Episode, EpisodeItem, FactItem, Resume, Segment
from wayfinder.reducer.vocabulary.event import Envelope
from wayfinder.reducer.vocabulary.observation import (
    LiveNote,
    Opened,
    Prompted,
    SessionInfo,
    Settled,
    SettleReason,
)
from wayfinder.reducer.vocabulary.people import CorrectionType, HumanIntentPatch
from wayfinder.reducer.vocabulary.terms import Boundary, Coverage, EpisodeKind, Outcome

INFO = SessionInfo("pi-1", agent="pi", project="shop", started_at=1_000)
FIRST_PATCH = {
    "patchId": "patch_1", "baseRevision": 0, "idempotencyKey": "call_1",
    "ops": [
        {"op": "create_place", "placeId": "pl_goal", "type": "Goal", "label": "login works"},
        {"op": "create_transition", "transitionId": "tr_find", "type": "Investigate",
         "intent": "find where the token is lost", "whyNow": "it fails every time",
         "expectedEvidence": ["a failing test"], "exitCondition": "one place is known"},
        {"op": "connect", "fromId": "pl_start", "toId": "tr_find", "arc": "flow"},
        {"op": "connect", "fromId": "tr_find", "toId": "pl_goal", "arc": "success"},
        {"op": "activate_transition", "transitionId": "tr_find"},
    ],
}  # fmt: skip


def submit(peer, patch: object, position: int = 2, *, proposal: bool = False):
    ask = SubmitPatch(INFO, "main", position, Raw(encode(patch)), proposal)
    return read_reply(peer.ask("patch.ipc", encode(ask)))


def ask(peer, request):
    return read_reply(peer.ask("stream.ipc", encode(request)))


def episode(first: int, last: int) -> EpisodeItem:
    return EpisodeItem(
        Episode(f"ep_{first}", first, last, EpisodeKind.TEST, Outcome.FAILED, Boundary.CALLS_CAP,
                Coverage.FULL, ended_at=5_000, calls=last - first + 1)
    )  # fmt: skip


def opening() -> Segment:
    return Segment(
        INFO, 1, 2,
        (FactItem(Opened(1, 1_000, INFO)), FactItem(Prompted(2, 2_000, "mend the login"))),
        Resume(edits=1),
    )  # fmt: skip


def start(child: Callable) -> object:
    return child("wayfinder.daemon.reconciler").ready()


def test_an_applied_patch_is_durable_when_it_is_answered(child, peer, paths: Paths) -> None:
    """The answer's event ids are in the log, in a batch whose digest a refold arrives at."""
    start(child)
    answer = submit(peer, FIRST_PATCH)
    assert isinstance(answer, Applied)
    assert (answer.revision, answer.where.active) == (1, "tr_find")
    reader = Reader.open(paths.database)
    events = list(reader.events("pi-1"))
    assert [e.event_id for e in events[1:]] == list(answer.event_ids)
    session = replay(events, "pi-1", verify=True)
    assert session.revision == 1
    reader.close()


def test_the_same_key_gets_the_first_answer_and_other_ops_a_conflict(child, peer) -> None:
    """A retry is answered byte for byte like the first; a key is never bound to other ops."""
    start(child)
    first = submit(peer, FIRST_PATCH)
    assert submit(peer, FIRST_PATCH) == first
    other = submit(peer, {**FIRST_PATCH, "ops": FIRST_PATCH["ops"][:1]})
    assert isinstance(other, Rejected)
    assert other.faults[0].code == "idempotency_conflict"


def test_a_rejected_patch_may_be_mended_under_its_key(child, peer, paths: Paths) -> None:
    """Only applied patches bind a key; rejections, empty updates and proposals are rows apart."""
    start(child)
    broken = {**FIRST_PATCH, "ops": FIRST_PATCH["ops"][1:]}
    assert isinstance(submit(peer, broken), Rejected)
    assert isinstance(submit(peer, "not a patch"), Rejected)
    assert isinstance(submit(peer, FIRST_PATCH), Applied)
    op = {"op": "set_transition_contract", "transitionId": "tr_find",
          "whyNow": "it fails every time"}  # fmt: skip
    same = {**FIRST_PATCH, "baseRevision": 1, "idempotencyKey": "call_2", "ops": [op]}
    assert isinstance(submit(peer, same), Unchanged)
    later = {**same, "idempotencyKey": "call_3"}
    assert isinstance(submit(peer, later, proposal=True), Proposed)
    reader = Reader.open(paths.database)
    assert reader.counts("pi-1") == {
        "answers": 1, "rejections": 2, "empty_updates": 1, "patch_proposals": 1,
    }  # fmt: skip
    assert reader.session("pi-1").revision == 1
    reader.close()


def test_segments_are_taken_in_order_once_and_acknowledged_after_commit(
    child, peer, paths: Paths
) -> None:
    """Only what follows the last committed position is taken; a repeat and a gap change nothing
    and are told where the stream stands."""
    start(child)
    one = opening()
    two = Segment(INFO, 3, 5, (episode(3, 5),), Resume(edits=2))
    assert ask(peer, SubmitSegment(two)) == StreamAt("pi-1", 0, Resume())
    assert ask(peer, SubmitSegment(one)) == StreamAt("pi-1", 2, Resume(edits=1))
    assert ask(peer, SubmitSegment(one)) == StreamAt("pi-1", 2, Resume(edits=1))
    assert ask(peer, SubmitSegment(two)) == StreamAt("pi-1", 5, Resume(edits=2))
    assert ask(peer, ReadStream("pi-1")) == StreamAt("pi-1", 5, Resume(edits=2))
    assert ask(peer, ReadStream("pi-9")) == StreamAt("pi-9", 0, Resume())
    reader = Reader.open(paths.database)
    assert [e.kind for e in reader.events("pi-1")] == [
        "session.started", "prompt.received", "root_intent.set", "stream.advanced",
        "episode.completed", "stream.advanced",
    ]  # fmt: skip
    row = reader.session("pi-1")
    assert (row.title, row.title_level, row.project) == ("mend the login", "inferred", "shop")
    reader.close()


def test_an_episode_is_stamped_by_its_position_not_by_its_arrival(child, peer, paths) -> None:
    """An episode that arrives after a patch but happened before it belongs to nothing yet."""
    start(child)
    assert isinstance(submit(peer, FIRST_PATCH, position=6), Applied)
    ask(peer, SubmitSegment(opening()))
    ask(peer, SubmitSegment(Segment(INFO, 3, 5, (episode(3, 5),))))
    ask(peer, SubmitSegment(Segment(INFO, 6, 9, (episode(7, 9),))))
    reader = Reader.open(paths.database)
    session = replay(reader.events("pi-1"), "pi-1", verify=True)
    assert [r.transition_id for r in session.episodes.values()] == [None, "tr_find"]
    reader.close()


def test_what_is_published_is_what_was_committed(child, peer) -> None:
    """Subscribers get each event's own bytes, numbered, in order; live notes under their topic."""
    start(child)
    events = peer.bus.subscriber("events.ipc", b"")
    got: list[Welcome | Published] = []
    peer.loop.watch(events.socket, lambda: got.append(events.receive()))
    peer.until(lambda: got)
    assert isinstance(got.pop(), Welcome)
    ask(peer, SubmitSegment(opening()))
    ask(peer, SubmitLiveNote(LiveNote("pi-1", "tool_started", at=1, after=2, name="bash")))
    peer.until(lambda: len(got) == 5)
    assert [(e.topic, e.number) for e in got] == [
        (b"pi-1", 1), (b"pi-1", 2), (b"pi-1", 3), (b"pi-1", 4), (b"~live", 0),
    ]  # fmt: skip
    envelopes = [msgspec.json.decode(e.body, type=Envelope) for e in got[:-1]]
    assert replay(envelopes, "pi-1").stream_position == 2


def test_an_imported_past_is_dated_by_itself(child, peer, paths: Paths) -> None:
    """Events of a segment that is not live carry the time at which it happened."""
    start(child)
    ask(peer, SubmitSegment(replace(opening(), live=False)))
    reader = Reader.open(paths.database)
    assert {e.ts for e in reader.events("pi-1")} == {"1970-01-01T00:00:02.000Z"}
    reader.close()


def test_what_cannot_be_read_is_refused_and_harms_nobody(child, peer) -> None:
    """Noise on the bus is answered with what was expected; the next message is served."""
    start(child)
    reply = read_reply(peer.ask("stream.ipc", b'{"ask":"dance"}'))
    assert isinstance(reply, Refused) and reply.code == "malformed"
    assert isinstance(ask(peer, ReadStream("pi-1")), StreamAt)


def test_a_stopped_reconciler_is_found_again_as_it_was(child, peer, paths: Paths) -> None:
    """After a kill -9 a new process stands where the old one had committed."""
    first = start(child)
    submit(peer, FIRST_PATCH)
    ask(peer, SubmitSegment(opening()))
    first.popen.kill()
    first.popen.wait()
    second = start(child)
    standing = ask(peer, ReadStanding("pi-1"))
    assert isinstance(standing, Standing)
    assert (standing.revision, standing.to_position) == (1, 2)
    assert second.stop() == 0
    assert list(paths.run.glob("*.ipc")) == [], "a clean stop leaves no socket behind"


def test_a_second_reconciler_says_why_it_cannot_start(child, peer) -> None:
    """Two writers never meet: the second one fails with a sentence, and the first goes on."""
    start(child)
    second = child("wayfinder.daemon.reconciler")
    report = second.report()
    assert report is not None and "another process" in report.failed
    assert second.popen.wait() == 70
    assert isinstance(ask(peer, ReadStream("pi-1")), StreamAt)


def human(paths: Paths) -> tuple[socket.socket, Callable]:
    link = socket.socket(socket.AF_UNIX)
    link.connect(str(paths.socket("human.sock")))
    lines = link.makefile("rb")

    def say(request) -> object:
        link.sendall((request if isinstance(request, bytes) else encode(request)) + b"\n")
        return read_reply(lines.readline())

    return link, say


def correction(number: int = 1) -> HumanIntentPatch:
    return HumanIntentPatch(
        f"corr_{number}", "pi-1", CorrectionType.TEXT, text="first find the cause"
    )


def test_a_click_in_the_page_is_a_persons_word(child, peer, paths: Paths) -> None:
    """With the key of this run a correction is committed at once, once, and receipted."""
    start(child)
    submit(peer, FIRST_PATCH)
    link, say = human(paths)
    assert isinstance(say(Greet("wrong")), Refused)
    say(Greet("k" * 64))
    assert say(Correct(correction())) == Taken("corr_1", 1)
    assert say(Correct(correction())) == Taken("corr_1", 1)
    standing = ask(peer, ReadStanding("pi-1"))
    assert [c.text for c in standing.constraints] == ["first find the cause"]
    note = LiveNote("pi-1", "receipt", at=9, after=4, ref="corr_1")
    for _ in range(2):
        ask(peer, SubmitLiveNote(note))
    reader = Reader.open(paths.database)
    session = replay(reader.events("pi-1"), "pi-1")
    (record,) = session.corrections.values()
    assert [str(r.stage) for r in record.receipts] == ["in_turn"]
    assert record.correction.confirmed
    reader.close()
    link.close()


def test_a_caller_who_may_be_an_agent_waits_for_a_click(child, peer, paths: Paths) -> None:
    """Without a terminal a correction waits outside the log; other commands are refused; the page
    confirms it. A descendant of a connected agent is refused whatever it asks."""
    import os

    start(child)
    submit(peer, FIRST_PATCH)
    link, say = human(paths)
    page_link, page = human(paths)
    page(Greet("k" * 64))
    taken = say(Correct(correction()))
    if isinstance(taken, Taken) and not taken.confirmed:  # a test run has no terminal of its own
        assert isinstance(say(Purge("pi-1")), Refused)
        waiting = page(ListWaiting())
        assert [w.correction.correction_id for w in waiting.items] == ["corr_1"]
        assert isinstance(say(b'{"ask":"confirm","correctionId":"corr_1"}'), Refused)
        assert page(b'{"ask":"confirm","correctionId":"corr_1"}') == Taken("corr_1", 1)
    ask(peer, TellAgents((os.getpid(),)))
    refused = say(Correct(correction(2)))
    assert isinstance(refused, Refused) and refused.code == "not_a_person"
    link.close()
    page_link.close()


def test_a_purge_takes_everything_of_a_session(child, peer, paths: Paths) -> None:
    """After a purge the session is unknown, its stream begins anew, and others stand."""
    start(child)
    submit(peer, FIRST_PATCH)
    ask(peer, SubmitSegment(opening()))
    link, say = human(paths)
    say(Greet("k" * 64))
    say(Purge("pi-1"))
    assert ask(peer, ReadStream("pi-1")) == StreamAt("pi-1", 0, Resume())
    assert ask(peer, ReadStanding("pi-1")).revision == 0
    settled = FactItem(Settled(3, 3_000, SettleReason.STOP))
    anew = replace(opening(), to_position=3, items=(*opening().items, settled))
    assert ask(peer, SubmitSegment(anew)).to_position == 3
    link.close()
