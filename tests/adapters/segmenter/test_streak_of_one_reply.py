"""What one reply fails at together is one failure."""

from __future__ import annotations

from wayfinder.adapters.segmenter.segment import Segmenter
from wayfinder.reducer.vocabulary.episode import EpisodeItem
from wayfinder.reducer.vocabulary.observation import Called, Signature
from wayfinder.reducer.vocabulary.terms import Boundary, EpisodeKind, Outcome

TROUBLE = Signature("hmac-sha256:" + "a" * 32, EpisodeKind.EDIT, Outcome.TOOL_ERROR, "not read yet")


def episodes(replies: list[str | None]) -> list[EpisodeItem]:
    segmenter, steps = Segmenter(), []
    for position, reply in enumerate(replies, start=1):
        call = Called(position, position, f"c{position}", "Edit", EpisodeKind.EDIT,
                      Outcome.TOOL_ERROR, reply, signature=TROUBLE,
                      command_ref="hmac-sha256:" + "b" * 32)  # fmt: skip
        steps += segmenter.feed(call)
    steps += segmenter.finish()
    return [item for step in steps for item in step.items if isinstance(item, EpisodeItem)]


def streaks(replies: list[str | None]) -> list[int]:
    return [item.episode.signatures[0].failing_streak for item in episodes(replies)]


def test_a_batch_of_identical_failures_is_no_loop() -> None:
    """Calls of one reply were decided together: the agent had no chance to change its approach."""
    assert max(streaks(["m1"] * 5)) == 1


def test_the_same_failure_in_the_next_reply_counts() -> None:
    """Three replies are three times, and the third closes the episode once."""
    found = episodes(["m1", "m2", "m2", "m3", "m3"])
    assert max(item.episode.signatures[0].failing_streak for item in found) == 3
    assert [i.episode.boundary for i in found].count(Boundary.THIRD_REPEAT) == 1


def test_without_a_reply_each_call_counts() -> None:
    """Agents that do not say which reply made a call are counted as before."""
    assert max(streaks([None] * 3)) == 3
