"""A feed between spool and reconciler: lost, doubled and reordered messages change no byte."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from wayfinder.adapters.segmenter.feed import Ask, Feed
from wayfinder.adapters.segmenter.segment import Segmenter
from wayfinder.daemon.messages import Pull, Pulled, ReadStream, StreamAt, SubmitSegment
from wayfinder.reducer.vocabulary.codec import canonical, decode, encode
from wayfinder.reducer.vocabulary.episode import EpisodeItem, Resume
from wayfinder.reducer.vocabulary.observation import (
    AnyObservation,
    Called,
    Opened,
    Prompted,
    SessionInfo,
    Settled,
    SettleReason,
)
from wayfinder.reducer.vocabulary.terms import EpisodeKind, Outcome

INFO = SessionInfo(session_id="pi-s1", agent="pi")
S = INFO.session_id


def stream(kinds: Sequence[int]) -> list[AnyObservation]:
    found: list[AnyObservation] = [Opened(1, 1, INFO)]
    for position, kind in enumerate(kinds, start=2):
        at = position * 1000
        if kind == 0:
            found.append(Prompted(position, at, "go"))
        elif kind == 1:
            found.append(Settled(position, at, SettleReason.STOP))
        else:
            found.append(Called(position, at, f"c{position}", "bash", EpisodeKind.RUN, Outcome.OK))
    return found


class World:
    """A spool and a reconciler that obey their contracts, and a wire that need not."""

    def __init__(self, observations: list[AnyObservation]) -> None:
        self.observations = observations
        self.written = 1  # how much the agent has done so far
        self.over = False
        self.to_position, self.resume = 0, Resume()
        self.committed: list[bytes] = []
        self.trimmed = 0

    def reconcile(self, ask: ReadStream | SubmitSegment) -> StreamAt:
        if isinstance(ask, SubmitSegment):
            segment = decode(encode(ask), SubmitSegment).segment
            if segment.from_position == self.to_position + 1:
                self.to_position, self.resume = segment.to_position, segment.resume
                for item in segment.items:
                    core = item.episode if isinstance(item, EpisodeItem) else item.fact
                    self.committed.append(canonical(core))
        return StreamAt(S, self.to_position, self.resume)

    def pull(self, ask: Pull, at_most: int) -> Pulled:
        assert ask.from_position - 1 <= self.to_position, "trims what is not committed"
        self.trimmed = max(self.trimmed, ask.from_position - 1)
        batch = self.observations[ask.from_position - 1 : self.written][:at_most]
        behind = bool(batch) and batch[-1].position < self.written
        return Pulled(
            info=INFO, observations=tuple(batch), open=behind or not self.over,
            last_position=self.written,
        )  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=80), st.data())
def test_whatever_gets_lost_the_episodes_are_the_same(
    kinds: list[int], data: st.DataObject
) -> None:
    """Messages dropped or doubled, feeds killed, batches cut anywhere: the same bytes committed."""
    observations = stream(kinds)
    world = World(observations)
    feed = Feed(INFO)
    asks: list[Ask] = feed.begin()
    for _ in range(4 * len(observations) + 60):
        act = data.draw(st.sampled_from(["go", "go", "go", "lose", "twice", "more", "kill"]))
        if act == "kill":
            feed, asks = Feed(INFO), []
            asks = feed.begin()
        elif act == "more":
            world.written = min(world.written + 7, len(observations))
            if world.trimmed < world.written and data.draw(st.booleans()):
                first = data.draw(st.integers(world.trimmed + 1, world.written))
                batch = tuple(observations[first - 1 : world.written])
                asks += feed.take_pulled(Pulled(INFO, batch, True, last_position=world.written))
        elif asks:
            ask = asks.pop(0)
            if act == "lose":
                continue
            asks += answer(world, feed, ask, data.draw(st.integers(20, 60)))
            if act == "twice" and isinstance(ask, Pull):
                asks += answer(world, feed, ask, 30)
        else:
            owed = feed.again()
            asks = [owed] if owed is not None else feed.nudge()
    finish(world, feed)
    expected = Segmenter()
    steps = [step for seen in observations for step in expected.feed(seen)] + expected.finish()
    whole = [
        canonical(item.episode if isinstance(item, EpisodeItem) else item.fact)
        for step in steps
        for item in step.items
    ]
    assert world.committed == whole
    assert world.to_position == len(observations)


def answer(world: World, feed: Feed, ask: Ask, at_most: int) -> list[Ask]:
    if isinstance(ask, Pull):
        if ask.from_position - 1 > world.to_position:
            raise AssertionError("pulled beyond what is committed")
        return feed.take_pulled(world.pull(ask, at_most))
    owed = feed.again()
    reply = world.reconcile(ask)
    # The process drops answers to anything but what is owed, by request id.
    return feed.take_stream_at(reply) if owed == ask else []


def finish(world: World, feed: Feed) -> None:
    world.written, world.over = len(world.observations), True
    for _ in range(10 * len(world.observations) + 50):
        ask = feed.again()
        asks = [ask] if ask is not None else feed.nudge()
        while asks:
            asks += answer(world, feed, asks.pop(0), 40)
        if feed.done:
            return
    raise AssertionError("the session was over and its feed never got done")


def test_durations_stand_beside_the_episode_and_not_in_it() -> None:
    """Live durations become the item's timing; the episode's bytes do not know them."""
    world = World(stream([3, 3, 0]))
    world.written = 4
    feed = Feed(INFO)
    (ask,) = feed.begin()
    assert isinstance(ask, ReadStream)
    (pull,) = feed.take_stream_at(world.reconcile(ask))
    assert isinstance(pull, Pull)
    timings = (("c2", 500), ("c3", 100))
    pulled = Pulled(INFO, tuple(world.observations), True, timings, last_position=4)
    (first,) = feed.take_pulled(pulled)
    assert isinstance(first, SubmitSegment)
    episode = next(i for i in first.segment.items if isinstance(i, EpisodeItem))
    assert episode.timing is not None
    assert (episode.timing.started_at, episode.timing.duration_ms) == (1500, 1500)
    assert b"500" not in canonical(episode.episode)
