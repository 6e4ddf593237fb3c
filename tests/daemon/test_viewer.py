"""The viewer as a real process, and the Clone pattern from both ends."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from wayfinder.daemon.bus import Published, Welcome
from wayfinder.daemon.eventlog.writer import Writer
from wayfinder.daemon.follow import Follower
from wayfinder.daemon.messages import (
    AnySnapReply,
    Delta,
    NoSuchSession,
    ReadSessions,
    ReadView,
    SessionList,
    Snapshot,
    SubmitLiveNote,
    SubmitSegment,
)
from wayfinder.daemon.paths import Paths
from wayfinder.daemon.viewer.clone import Clone
from wayfinder.daemon.viewer.merge import apply, diff
from wayfinder.reducer.vocabulary.codec import encode
from wayfinder.reducer.vocabulary.episode import FactItem, Segment
from wayfinder.reducer.vocabulary.observation import LiveNote, Opened, Prompted, SessionInfo

INFO = SessionInfo("pi-1", agent="pi")
names = st.text("abc", min_size=1, max_size=2)
objects = st.recursive(
    st.dictionaries(names, st.one_of(st.integers(0, 2), st.booleans(), st.text("xy", max_size=1)),
                    max_size=3),
    lambda inner: st.dictionaries(names, st.one_of(inner, st.integers(0, 2), st.lists(inner)),
                                  max_size=3),
)  # fmt: skip


@settings(deadline=None)
@given(objects, objects)
def test_a_patch_takes_the_old_to_the_new(old: dict[str, Any], new: dict[str, Any]) -> None:
    """`apply` is the inverse of `diff`; equal objects need no patch; types are told apart."""
    assert encode(apply(old, diff(old, new))) is not None
    assert apply(old, diff(old, new)) == new
    assert diff(new, new) == {}


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["tell", "tell", "tell", "miss", "join"]), objects)))
def test_a_follower_is_right_or_knows_that_it_is_not(steps: list[tuple[str, Any]]) -> None:
    """Whatever deltas are lost and whenever it joins: after anything it hears, a delta or a pulse,
    in step means equal to the publisher."""
    clone, follower, now = Clone(), Follower(), {}
    follower.welcome()
    for step, frame in steps:
        if step == "join":
            n = clone.snapshot("k", now)
            follower.snapshot(Snapshot("e", n, "pi-1", 1, Raw(encode(now))))
            continue
        number = clone.update("k", frame)
        now = frame
        if step == "miss":
            continue
        if number is not None:
            follower.delta(Delta("e", number[0], "pi-1", 1, Raw(encode(number[1]))))
        for _, n in clone.numbers():
            follower.delta(Delta("e", n, "pi-1", 1, Raw(b"{}"), pulse=True))
        assert not follower.in_step or follower.frame == now
    n = clone.snapshot("k", now)
    assert follower.snapshot(Snapshot("e", n, "pi-1", 1, Raw(encode(now))))
    assert follower.frame == now


def test_a_late_snapshot_does_not_turn_the_clock_back() -> None:
    """A second answer to an impatient client is older than what it has: dropped."""
    follower = Follower()
    follower.welcome()
    follower.snapshot(Snapshot("one", 5, "pi-1", 1, Raw(b'{"a":1}')))
    follower.delta(Delta("one", 6, "pi-1", 1, Raw(b'{"a":2}')))
    follower.snapshot(Snapshot("one", 5, "pi-1", 1, Raw(b'{"a":1}')))
    assert follower.frame == {"a": 2} and follower.in_step
    assert follower.delta(Delta("one", 7, "pi-1", 1, Raw(b'{"a":3}')))


def test_another_epoch_makes_a_follower_ask_again() -> None:
    """Numbers of another viewer's life mean nothing, even if they would fit."""
    follower = Follower()
    follower.welcome()
    follower.snapshot(Snapshot("one", 5, "pi-1", 1, Raw(b'{"a":1}')))
    assert not follower.delta(Delta("two", 6, "pi-1", 1, Raw(b'{"a":2}')))
    assert follower.wants_snapshot and follower.resyncs == 1


class Watcher:
    """A client: follows one topic over the real sockets."""

    def __init__(self, peer: Any, topic: bytes, request: Any) -> None:
        self.follower = Follower()
        self.deltas = 0
        self._peer, self._topic, self._request = peer, topic, request
        self._subscriber = peer.bus.subscriber("view.ipc", topic)
        self._caller = peer.bus.caller("snap.ipc")
        peer.loop.watch(self._subscriber.socket, self._heard)
        peer.loop.watch(self._caller.socket, self._answered)

    def _heard(self) -> None:
        while (got := self._subscriber.receive()) is not None:
            if isinstance(got, Welcome):
                self.follower.welcome()
            elif isinstance(got, Published) and got.topic == self._topic:
                self.deltas += 1
                self.follower.delta(msgspec.json.decode(got.body, type=Delta))
            if self.follower.wants_snapshot:
                self._peer.until(lambda: self._caller.send(b"1", encode(self._request)))

    def _answered(self) -> None:
        while (got := self._caller.receive()) is not None:
            reply = msgspec.json.decode(got[1], type=AnySnapReply)
            if isinstance(reply, Snapshot | SessionList):
                self.follower.snapshot(reply)

    def until(self, done) -> None:
        self._peer.until(lambda: self.follower.in_step and done(self.follower.frame))


def submit(peer: Any, position: int) -> None:
    """One more prompt, at this position."""
    item = Prompted(position, position, f"line {position}")
    first = (FactItem(Opened(1, 1, INFO)),) if position == 2 else ()
    segment = Segment(INFO, 1 if first else position, position, (*first, FactItem(item)))
    peer.ask("stream.ipc", encode(SubmitSegment(segment)))


def snap(peer: Any, request: Any) -> Any:
    return msgspec.json.decode(peer.ask("snap.ipc", encode(request)), type=AnySnapReply)


@pytest.fixture
def started(child, peer):
    processes = [child(f"wayfinder.daemon.{name}").ready() for name in ("reconciler", "viewer")]
    submit(peer, 2)
    return processes


def test_a_watcher_follows_every_commit(started, peer) -> None:
    """From the welcome on, frame and list are the newest, live notes included."""
    watcher = Watcher(peer, b"pi-1", ReadView("pi-1"))
    listed = Watcher(peer, b"~sessions", ReadSessions())
    for position in range(3, 30):
        submit(peer, position)
    seq = 4 + 2 * 27
    watcher.until(lambda frame: frame["seq"] == seq)
    listed.until(lambda frame: frame["pi-1"]["lastSeq"] == seq)
    note = LiveNote("pi-1", "tool_started", at=7, after=29, name="bash")
    peer.ask("stream.ipc", encode(SubmitLiveNote(note)))
    watcher.until(lambda frame: frame["live"].get("tool") == "bash")
    assert watcher.follower.resyncs == 0


def test_a_snapshot_says_what_is_known_and_what_is_not(started, peer) -> None:
    """The list, a view, a view of the past, an unknown session and noise are each answered."""
    submit(peer, 3)
    peer.until(lambda: b'"lastSeq":6' in bytes(snap(peer, ReadSessions()).sessions))
    assert snap(peer, ReadView("pi-1")).seq == 6
    past = snap(peer, ReadView("pi-1", at_seq=4))
    assert (past.seq, msgspec.json.decode(past.frame)["seq"]) == (4, 4)
    assert snap(peer, ReadView("pi-9")) == NoSuchSession("pi-9")
    assert b'"refused"' in peer.ask("snap.ipc", b"[1")


def test_it_goes_on_when_others_die(started, child, peer) -> None:
    """A new reconciler is noticed and nothing is missed; a new viewer makes clients ask again."""
    reconciler, viewer = started
    watcher = Watcher(peer, b"pi-1", ReadView("pi-1"))
    watcher.until(lambda frame: frame["seq"] == 4)
    reconciler.popen.kill()
    reconciler.popen.wait()
    child("wayfinder.daemon.reconciler").ready()
    submit(peer, 3)
    watcher.until(lambda frame: frame["seq"] == 6)
    viewer.popen.kill()
    viewer.popen.wait()
    submit(peer, 4)
    child("wayfinder.daemon.viewer").ready()
    watcher.until(lambda frame: frame["seq"] == 8)


def test_a_slow_subscriber_gets_the_newest_not_every(started, peer) -> None:
    """However many commits come at once, deltas are coalesced and the last state arrives."""
    watcher = Watcher(peer, b"pi-1", ReadView("pi-1"))
    watcher.until(lambda frame: frame["seq"] == 4)
    last = 300
    ids = []
    for position in range(3, last + 1):
        item = FactItem(Prompted(position, position, "x"))
        body = encode(SubmitSegment(Segment(INFO, position, position, (item,))))
        ids.append(peer.send("stream.ipc", body))
    for request_id in ids:
        peer.answer(request_id)
    watcher.until(lambda frame: frame["seq"] == 4 + 2 * (last - 2))
    assert watcher.deltas < last - 2


def test_the_viewer_cannot_write(paths: Paths, writer: Writer) -> None:
    """Its connection to the log is read-only, whatever it is asked to execute."""
    import apsw

    from wayfinder.daemon.eventlog.connection import open_reader

    reader = open_reader(paths.database)
    with pytest.raises((apsw.ReadOnlyError, apsw.SQLError)):
        reader.execute("DELETE FROM sessions")
    reader.close()
