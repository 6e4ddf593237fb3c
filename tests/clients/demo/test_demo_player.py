"""The recorded story and its player, beside a stand-in for the daemon."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fake_adapter import FakeAdapter, Frame

from wayfinder.adapters.wire import Hello, decode_line
from wayfinder.clients.demo.feed import Feed, NoDaemon
from wayfinder.clients.demo.recording import Recording, dump, load
from wayfinder.clients.demo.story import Story
from wayfinder.reducer.net.decide import Committed, apply
from wayfinder.reducer.net.fold import fold
from wayfinder.reducer.net.state import Net
from wayfinder.reducer.vocabulary.codec import decode_untrusted, encode
from wayfinder.reducer.vocabulary.event import SessionStarted
from wayfinder.reducer.vocabulary.observation import SessionInfo
from wayfinder.reducer.vocabulary.patch import GraphPatch

BASE_MS = 1_800_000_000_000
FAST = 1000.0


@pytest.fixture(scope="module")
def story() -> Recording:
    return load()


@pytest.fixture
def sock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("s") / "a.sock"


def events(recording: Recording, name: str) -> list[Frame]:
    return [sent.frame for sent in recording.sent if sent.frame.get("ev") == name]


def test_the_story_is_the_one_promised(story: Recording) -> None:
    """At least 20 calls, one failure three times, five declarations, under 40 seconds."""
    ends = events(story, "call_end")
    failing = [f for f in ends if f["isError"] and "logged out after refresh" in f["text"]]
    patches = [s.frame["patch"] for s in story.sent if s.frame["t"] == "patch"]
    assert len(ends) >= 20
    assert len(failing) == 3
    assert len(patches) == 5
    assert any(op["op"] == "supersede_transition" for patch in patches for op in patch["ops"])
    assert story.head.duration_ms < 40_000


def test_nothing_private_is_in_it(story: Recording) -> None:
    """Every absolute path lies under the made-up folder; no session file, no process id."""
    text = dump(story).decode()
    paths = set(re.findall(r"(?<![\w.:/])/[a-z]+/[\w./-]*", text))
    assert paths <= {"/demo/login-refresh", "/demo/login-refresh/test_refresh.py"}
    assert (story.hello["pid"], story.hello["file"]) == (0, None)
    assert len(text) < 64_000


def test_every_frame_is_a_frame(story: Recording) -> None:
    """What is stored is what the adapter's decoder accepts, numbered without holes."""
    assert isinstance(decode_line(encode(story.hello)), Hello)
    decoded = [decode_line(encode(frame)) for _, frame in story.frames(BASE_MS)]
    numbers = [frame.seq for frame in decoded if not isinstance(frame, Hello)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_every_declaration_applies(story: Recording) -> None:
    """The five patches fit a new net, each on the revision the agent had read."""
    net = Net()
    info = SessionInfo(session_id=story.session_id, agent="pi")
    fold(net, SessionStarted(info, 1, "pl_start", "tok_main"))
    for sent in story.sent:
        if sent.frame["t"] == "patch":
            patch = decode_untrusted(encode(sent.frame["patch"]), GraphPatch)
            assert patch.base_revision == net.revision
            assert isinstance(apply(net, patch), Committed)
    active = net.active_transition()
    assert active is not None
    assert active.transition_id == "tr_verify"


def test_played_in_order_with_times_of_its_own(story: Recording, sock: Path) -> None:
    """Each frame arrives once, in order, its event time counted from the given start."""
    with FakeAdapter(sock) as adapter:
        fed = Feed(sock, story, base_ms=BASE_MS, speed=FAST).play()
    assert adapter.frames == [frame for _, frame in story.frames(BASE_MS)]
    assert {a["status"] for a in fed.answers.values()} == {"applied"}
    assert fed.reconnects == 0


def test_a_broken_connection_loses_nothing(story: Recording, sock: Path) -> None:
    """What was not acknowledged is sent again on the next connection; nothing is missing."""
    with FakeAdapter(sock, "drops", after=20) as adapter:
        fed = Feed(sock, story, base_ms=BASE_MS, speed=FAST).play()
    assert fed.reconnects == 1
    seqs = [f["seq"] for f in adapter.frames]
    assert list(dict.fromkeys(seqs)) == list(range(1, len(story.sent) + 1))
    assert seqs.count(20) == 2


def test_nobody_there_is_said(story: Recording, sock: Path) -> None:
    """No daemon within the patience: an error that names the socket."""
    with pytest.raises(NoDaemon, match="nobody answers at"):
        Feed(sock, story, base_ms=BASE_MS, patience_s=0.1).play()


def test_a_person_sees_both_channels(story: Recording) -> None:
    """The lines that go by name what was declared and what was observed, each short."""
    telling = Story()
    lines = [line for sent in story.sent for line in telling.lines(sent.frame) if line[0]]
    whos = [who for who, _ in lines]
    texts = [text for _, text in lines]
    assert {"asked", "declared", "observed"} == set(whos)
    assert "goal: Login survives a token refresh, with proof" in texts
    assert "now: Reproduce the logout after refresh" in texts
    assert any(text.startswith("gave up, because: Two client changes") for text in texts)
    assert texts.count("failed: python3 -m unittest -v test_refresh") == 3
    assert all(len(text) <= 72 for text in texts)
