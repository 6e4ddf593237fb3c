"""What a real Pi told live, and what its own session file says: the same bytes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pi_harness
import pytest
import refresh_story
from pi_harness import Home, Pi
from scripted_model import ScriptedModel

from wayfinder.adapters.normalise.clean import Cleaner
from wayfinder.adapters.pi.file import open_session
from wayfinder.adapters.privacy import KEY_FILE, RULES_CACHE
from wayfinder.adapters.reader import Source, Stream
from wayfinder.adapters.segmenter.segment import Segmenter
from wayfinder.clients.demo.own_daemon import OwnDaemon
from wayfinder.daemon.eventlog.reader import Reader
from wayfinder.daemon.paths import Paths
from wayfinder.daemon.redact.client import RedactorClient, TextOnly
from wayfinder.daemon.redact.hmacs import References, load_key
from wayfinder.reducer.vocabulary.codec import canonical, decode
from wayfinder.reducer.vocabulary.episode import EpisodeItem
from wayfinder.reducer.vocabulary.observation import Opened, SessionInfo
from wayfinder.reducer.vocabulary.payload import EpisodeCompleted

pytestmark = pytest.mark.node

FACTS = ("episode.completed", "prompt.received", "session.settled", "session.noted",
                "plan.published")  # fmt: skip


@pytest.fixture(scope="module")
def daemon() -> Iterator[OwnDaemon]:
    with OwnDaemon() as running:
        pi_harness.await_adapter(running.sock)
        yield running


def committed(paths: Paths, session_id: str) -> list[bytes]:
    """Canonical bytes of the episodes, as the log holds them."""
    reader = Reader.open(paths.database)
    try:
        return [
            canonical(decode(bytes(envelope.payload), EpisodeCompleted).episode)
            for envelope in reader.events(session_id)
            if envelope.kind == "episode.completed"
        ]
    finally:
        reader.close()


def positions(paths: Paths, session_id: str) -> list[tuple[str, int]]:
    """(kind, position) of every fact that stands in the log with its position."""
    reader = Reader.open(paths.database)
    try:
        told = [(e.kind, json.loads(bytes(e.payload))) for e in reader.events(session_id)]
    finally:
        reader.close()
    return [(kind, body["position"]) for kind, body in told
            if kind in FACTS and "position" in body]  # fmt: skip


def read_file(paths: Paths, file: Path) -> tuple[SessionInfo, list[Any]]:
    """The session file through reader, last gate and segmenter, with this installation's key."""
    key = load_key(paths.state / KEY_FILE)
    session = open_session(Source("pi", file), References(key))
    with RedactorClient(cache_dir=paths.state / RULES_CACHE, key=key) as client:
        stream = Stream(session, Cleaner(TextOnly(client)))
        observations = [seen for batch in stream.read() for seen in batch]
    segmenter = Segmenter()
    steps = [step for seen in observations for step in segmenter.feed(seen)] + segmenter.finish()
    return session.info, [item for step in steps for item in step.items]


def settle(daemon: OwnDaemon, session_id: str, last_position: int) -> None:
    """Returns when everything up to a position is committed."""
    until = time.monotonic() + 60
    while True:
        reader = Reader.open(daemon.paths.database)
        try:
            at = max((json.loads(bytes(e.payload))["toPosition"]
                      for e in reader.events(session_id) if e.kind == "stream.advanced"),
                     default=0)  # fmt: skip
        finally:
            reader.close()
        if at >= last_position:
            return
        assert time.monotonic() < until, f"committed {at} of {last_position}"
        time.sleep(0.05)


def compare(daemon: OwnDaemon, home: Home) -> None:
    (file,) = home.agent.glob("sessions/**/*.jsonl")
    info, items = read_file(daemon.paths, file)
    episodes = [item.episode for item in items if isinstance(item, EpisodeItem)]
    facts = [item.fact for item in items if not isinstance(item, EpisodeItem)]
    last = max(facts[-1].position, episodes[-1].to_position)
    settle(daemon, info.session_id, last)
    assert committed(daemon.paths, info.session_id) == [canonical(e) for e in episodes]
    told = positions(daemon.paths, info.session_id)
    said = [f.position for f in facts if not isinstance(f, Opened)]
    assert {at for _, at in told} <= set(said)


def test_live_is_file(pi: Pi, home: Home, repo: Path, daemon: OwnDaemon) -> None:
    """The story, with patches, failures and two prompts: episodes byte for byte as the file's."""
    turns = refresh_story.turns(to_the_end=True)
    with ScriptedModel(turns) as model:
        home.speak_to(model.base_url)
        env = {"WAYFINDER_AGENT_SOCK": str(daemon.sock)}
        prompts = (refresh_story.PROMPT, refresh_story.PROMPT_ON)
        run = pi_harness.run(pi, home, repo, *prompts, env=env)
    assert (run.code, model.failures) == (0, [])
    compare(daemon, home)


def test_a_resumed_session_is_caught_up(pi: Pi, home: Home, repo: Path, daemon: OwnDaemon) -> None:
    """Begun without us, gone on with us: what was missed comes from the file, once, in order."""
    turns = refresh_story.turns(to_the_end=True)
    with ScriptedModel(turns) as model:
        home.speak_to(model.base_url)
        away = {"WAYFINDER_AGENT_SOCK": str(repo / "nobody.sock")}
        first = pi_harness.run(pi, home, repo, refresh_story.PROMPT, env=away)
        here = {"WAYFINDER_AGENT_SOCK": str(daemon.sock)}
        then = pi_harness.run(pi, home, repo, "-c", refresh_story.PROMPT_ON, env=here)
    assert (first.code, then.code) == (0, 0)
    compare(daemon, home)
