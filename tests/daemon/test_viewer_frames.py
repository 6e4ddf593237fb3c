"""A frame costs what changed, and is what a fresh look would draw."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from net_ops import any_op, wired_start
from story import AGENT, Story, step

from wayfinder.daemon.messages import Live
from wayfinder.daemon.viewer.frames import Frames
from wayfinder.daemon.viewer.merge import apply, diff
from wayfinder.reducer.net.decide import Committed
from wayfinder.reducer.vocabulary.event import ViewFocused
from wayfinder.reducer.vocabulary.terms import Channel

ACTS = st.one_of(
    any_op.map(lambda op: ("patch", op)),
    st.sampled_from(["edit", "test", "inspect"]).map(lambda kind: ("episode", kind)),
    st.sampled_from([(), ("tr_a",), ("tr_b", "pl_c")]).map(lambda pins: ("pin", pins)),
)


def act(story: Story, what: str, value: Any) -> None:
    if what == "patch":
        decision = story.decide(value)
        if isinstance(decision, Committed):
            story.commit(*decision.payloads, channel=Channel.DECLARED_PATH, actor=AGENT, batch=True)
    elif what == "episode":
        facts = [("test", "auth", "pass")] if value == "test" else []
        story.episode(value, facts=facts)
    else:
        story.commit(ViewFocused("page", pinned=value, seen_up_to=story.session.seq))


@given(st.lists(ACTS, min_size=1, max_size=25))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_shared_frame_is_a_fresh_frame(acts: list[tuple[str, Any]]) -> None:
    """Whatever happens, what is drawn step by step equals what is drawn at once, and the
    difference told leads from one frame to the next."""
    story = Story().started()
    story.patch(*wired_start())
    frames, before = Frames("page"), None
    for what, value in acts:
        act(story, what, value)
        frame = frames.frame(story.session, None, Live(), ())
        assert frame == Frames("page").frame(story.session, None, Live(), ())
        if before is not None:
            assert apply(before, diff(before, frame)) == frame
        before = frame


def test_what_is_the_same_is_the_same_object() -> None:
    """An edit leaves four hundred nodes untouched: they are not even looked into."""
    story = Story().started()
    for first in range(0, 200, 10):
        ops: list[Any] = []
        for n in range(first, first + 10):
            start = "pl_start" if n == 0 else f"pl_{n - 1}"
            ops += step(f"s{n}", start=start, end=f"pl_{n}", activate=n == 0)
        story.patch(*ops)
    frames = Frames("page")
    before = frames.frame(story.session, None, Live(), ())
    story.episode("edit")
    after = frames.frame(story.session, None, Live(), ())
    for kind in ("places", "steps", "arcs"):
        old, new = before["view"]["scene"][kind], after["view"]["scene"][kind]
        changed = [key for key in new if new[key] is not old[key]]
        assert changed == (["tr_s0"] if kind == "steps" else [])
    assert set(diff(before, after)["view"]["scene"]["steps"]) == {"tr_s0"}
