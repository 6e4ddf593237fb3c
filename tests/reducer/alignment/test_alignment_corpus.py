"""Real sessions: who would have been told what. Prints tensions and WATCH items per session."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from wayfinder.adapters.normalise.clean import Cleaner
from wayfinder.adapters.reader import Source, Stream
from wayfinder.adapters.segmenter.segment import Segmenter, segments
from wayfinder.daemon.reconciler.change import Change
from wayfinder.daemon.reconciler.segments import take_segment
from wayfinder.daemon.redact.hmacs import References
from wayfinder.reducer.alignment.loops import Watch, WatchKind
from wayfinder.reducer.alignment.tension import Tension
from wayfinder.reducer.alignment.tensions import tensions, watches
from wayfinder.reducer.alignment.words import say
from wayfinder.reducer.session.state import Session

AGENTS = ("pi", "claude", "codex", "gemini", "opencode")
MUST_NOT_ALARM = (
    "cc-2.1.30-sibling-cascade",
    "codex-0.121-long",
    "cc-2.1.12-plan-rejected",
    "cc-lint-loop",
    "cc-2.1.12-test-fails-5x",
    "v1-dec-compact",
)

pytestmark = pytest.mark.corpus


class AsItIs:
    """Masking changes texts, and no count here reads one."""

    def redact_many(self, texts: Sequence[str], level: int) -> list[str]:
        return list(texts)


@pytest.fixture(scope="module")
def sessions(corpus: Path) -> dict[str, Session]:
    """File stem → its session, read, cut into episodes and committed as the daemon would."""
    refs = References(b"k" * 32)
    readers = [importlib.import_module(f"wayfinder.adapters.{agent}.file") for agent in AGENTS]
    found: dict[str, Session] = {}
    for path in sorted((corpus / "sessions").rglob("*.json*")):
        with path.open("rb") as file:
            head = file.read(65_536)
        reader = next((each for each in readers if each.recognises(head)), None)
        if reader is not None:
            source = reader.open_session(Source(reader.AGENT, path), refs)
            found[path.stem] = _session(source)
    return found


def _session(source: object) -> Session:
    segmenter = Segmenter()
    stream = Stream(source, Cleaner(AsItIs()))  # type: ignore[arg-type]
    steps = [
        step
        for batch in stream.read()
        for observation in batch
        for step in segmenter.feed(observation)
    ]
    steps += segmenter.finish()
    info = source.info  # type: ignore[attr-defined]
    session = Session(info.session_id)
    for segment in segments(info, 1, steps, live=False):
        take_segment(Change(session, 0), segment)
    return session


def after_each_episode(session: Session) -> Iterator[list[Watch | Tension]]:
    """What stood to be seen after each episode, as it went."""
    episodes, session.episodes = dict(session.episodes), {}
    for episode_id, record in episodes.items():
        session.episodes[episode_id] = record
        yield [*tensions(session), *watches(session)]


def said(item: Watch | Tension) -> str:
    return say(item.words) if isinstance(item, Watch) else say(item.observed.words)


def test_what_each_session_would_have_said(sessions: dict[str, Session]) -> None:
    """Undeclared sessions raise no tension; watch items are few and each is said once."""
    for name, session in sessions.items():
        ids: dict[str, str] = {}
        for standing in after_each_episode(session):
            for item in standing:
                assert isinstance(item, Watch), f"{name}: a tension without a declared path"
                ids.setdefault(item.watch_id, said(item))
        print(f"{name}: {len(session.episodes)} episodes, {len(ids)} said: {list(ids.values())}")
        assert len(ids) <= 1 + len(session.episodes) // 10, f"{name} is noisy: {ids}"


@pytest.mark.parametrize("name", MUST_NOT_ALARM)
def test_progress_and_refusals_stay_silent(sessions: dict[str, Session], name: str) -> None:
    """Cascades, polling, a user's refusals and repairs with new edits never alarm."""
    for standing in after_each_episode(sessions[name]):
        assert standing == []


def test_a_gate_is_raised_by_the_third_refusal_and_once(sessions: dict[str, Session]) -> None:
    """The session that is stuck at one gate: one item, from the third refusal to the end."""
    counts: list[int] = []
    ids: set[str] = set()
    session = sessions["v3-gjc-blocked-ko"]
    for standing in after_each_episode(session):
        gates = [each for each in standing if isinstance(each, Watch)]
        assert all(each.kind is WatchKind.GATE for each in gates)
        ids |= {each.watch_id for each in gates}
        counts += [each.count for each in gates]
    assert len(ids) == 1
    assert counts[0] == 3
    assert counts[-1] >= 20
