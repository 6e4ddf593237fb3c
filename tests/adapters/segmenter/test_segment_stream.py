"""Observations become the same episodes however they arrive and wherever the stream is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from wayfinder.adapters.segmenter.boundaries import CALLS_MAX, SPAN_MAX_MS
from wayfinder.adapters.segmenter.segment import OutOfOrder, Segmenter, Step, segments
from wayfinder.reducer.vocabulary.codec import canonical, decode, encode
from wayfinder.reducer.vocabulary.episode import EpisodeItem, Resume, Segment
from wayfinder.reducer.vocabulary.observation import (
    AnyObservation,
    Called,
    Fact,
    Gap,
    NoteCode,
    Noted,
    Opened,
    Patched,
    PlanItem,
    Planned,
    PlanState,
    Prompted,
    Refusal,
    SessionInfo,
    Settled,
    SettleReason,
    Signature,
)
from wayfinder.reducer.vocabulary.terms import (
    Boundary,
    Coverage,
    EpisodeKind,
    FactKind,
    FactResult,
    Outcome,
)

INFO = SessionInfo(session_id="pi-s1", agent="pi")


def ref(n: int) -> str:
    return f"hmac-sha256:{n:032x}"


def call(position: int, kind: EpisodeKind = EpisodeKind.RUN, at: int = 0, **more: object) -> Called:
    outcome = more.pop("outcome", Outcome.OK)
    return Called(
        position=position, at=at or position * 1000, call_id=f"c{position}", tool="bash",
        kind=kind, outcome=outcome, **more,  # type: ignore[arg-type]
    )  # fmt: skip


def failing(position: int, trouble: int = 1, command: int | None = None, at: int = 0) -> Called:
    return call(
        position, EpisodeKind.TEST, at, outcome=Outcome.FAILED,
        signature=Signature(ref(trouble), EpisodeKind.TEST, Outcome.FAILED, "it failed"),
        command_ref=None if command is None else ref(command),
    )  # fmt: skip


def edit(position: int, at: int = 0) -> Called:
    return call(position, EpisodeKind.EDIT, at, files_changed=(ref(900 + position),))


_small = st.integers(1, 3)
_shapes = st.one_of(
    st.builds(lambda k: lambda p, t: call(p, k, t), st.sampled_from(list(EpisodeKind))),
    st.builds(lambda s, c: lambda p, t: failing(p, s, c, t), _small, _small | st.none()),
    st.just(lambda p, t: edit(p, t)),
    st.builds(
        lambda s: (
            lambda p, t: call(
                p, at=t, outcome=Outcome.BLOCKED_BY_POLICY, refusal=Refusal(ref(50 + s), "no")
            )
        ),
        _small,
    ),
    st.just(lambda p, t: call(p, at=t, outcome=Outcome.ABORTED)),
    st.just(lambda p, t: Prompted(p, t, "do it")),
    st.just(lambda p, t: Patched(p, t, f"c{p}")),
    st.just(lambda p, t: Planned(p, t, f"c{p}", (PlanItem("i1", "step", PlanState.ACTIVE),))),
    st.builds(lambda r: lambda p, t: Settled(p, t, r), st.sampled_from(list(SettleReason))),
    st.just(lambda p, t: Noted(p, t, NoteCode.COMPACTION)),
    st.builds(
        lambda c: lambda p, t: Gap(p, t, c, "lost", 2),
        st.sampled_from([Coverage.PARTIAL, Coverage.UNKNOWN]),
    ),
)


@st.composite
def streams(draw: st.DrawFn) -> list[AnyObservation]:
    at = 1_000
    found: list[AnyObservation] = [Opened(1, at, INFO)]
    shapes = draw(st.lists(st.tuples(_shapes, st.integers(0, 90_000)), max_size=60))
    for position, (shape, pause) in enumerate(shapes, start=2):
        at += pause
        found.append(shape(position, at))
    return found


def run(stream: list[AnyObservation], segmenter: Segmenter | None = None) -> list[Step]:
    segmenter = segmenter or Segmenter()
    steps = [step for observation in stream for step in segmenter.feed(observation)]
    return steps + segmenter.finish()


def items_bytes(steps: list[Step]) -> list[bytes]:
    return [canonical(item) for step in steps for item in step.items]


def episodes(steps: list[Step]) -> list[EpisodeItem]:
    return [item for step in steps for item in step.items if isinstance(item, EpisodeItem)]


@given(streams(), st.data())
def test_cut_anywhere_and_resume(stream: list[AnyObservation], data: st.DataObject) -> None:
    """Cut after any step, continue from its position and resume alone: the same bytes."""
    whole = run(stream)
    cut = data.draw(st.integers(0, len(whole) - 1))
    step = whole[cut]
    resume = decode(encode(step.resume), Resume)
    rest = run(stream[step.to_position :], Segmenter(step.to_position, resume))
    assert items_bytes(whole[: cut + 1]) + items_bytes(rest) == items_bytes(whole)
    assert rest[-1].resume == whole[-1].resume if rest else True


@given(streams(), st.data())
def test_repeats_change_nothing(stream: list[AnyObservation], data: st.DataObject) -> None:
    """Observations delivered again, in any overlapping batches, leave the episodes as they are."""
    segmenter, steps, at = Segmenter(), [], 0
    while at < len(stream):
        start = data.draw(st.integers(max(0, at - 5), at))
        end = data.draw(st.integers(at + 1, min(len(stream), at + 20)))
        for observation in stream[start:end]:
            steps += segmenter.feed(observation)
        at = end
    steps += segmenter.finish()
    assert items_bytes(steps) == items_bytes(run(stream))


@given(streams())
def test_every_position_once(stream: list[AnyObservation]) -> None:
    """Steps cover all positions in order; each call is in one episode, each fact stands once."""
    steps = run(stream)
    assert [s.to_position for s in steps] == sorted({s.to_position for s in steps})
    assert steps[-1].to_position == len(stream)
    assert sum(item.episode.calls for item in episodes(steps)) == sum(
        isinstance(seen, Called) for seen in stream
    )
    facts = [i.fact.position for s in steps for i in s.items if not isinstance(i, EpisodeItem)]
    assert facts == [o.position for o in stream if not isinstance(o, Called | Gap)]
    for item in episodes(steps):
        assert item.episode.calls <= CALLS_MAX
        assert item.episode.from_position <= item.episode.to_position


@given(streams(), st.integers(1, 4))
def test_segments_are_contiguous_and_small(stream: list[AnyObservation], _: int) -> None:
    """Segments follow each other without holes, survive the wire and hold every item in order."""
    steps = run(stream)
    found = list(segments(INFO, 1, steps, live=True))
    expected = 1
    for segment in found:
        assert segment.from_position == expected
        expected = segment.to_position + 1
        assert decode(encode(segment), Segment) == segment
    assert expected == len(stream) + 1
    assert [canonical(i) for s in found for i in s.items] == items_bytes(steps)


def test_a_hole_is_refused() -> None:
    """A missing position is never papered over: the caller is told which one to pull."""
    segmenter = Segmenter()
    segmenter.feed(Opened(1, 1, INFO))
    try:
        segmenter.feed(call(3))
    except OutOfOrder as hole:
        assert hole.wanted == 2
    else:
        raise AssertionError("a hole went through")


def closed(stream: list[AnyObservation]) -> list[tuple[int, int, Boundary]]:
    return [
        (e.episode.from_position, e.episode.to_position, e.episode.boundary)
        for e in episodes(run(stream))
    ]


def test_boundaries_of_the_agent() -> None:
    """A patch, a prompt and settling each close what is open, and stand behind it themselves."""
    stream = [
        Opened(1, 1, INFO), call(2), Patched(3, 3000, "p"), call(4), Prompted(5, 5000, "hi"),
        call(6), Settled(7, 7000, SettleReason.STOP),
        call(8), Settled(9, 9000, SettleReason.ABORTED),
        call(10), Settled(11, 11000, SettleReason.ENDED), call(12),
    ]  # fmt: skip
    assert closed(stream) == [
        (2, 2, Boundary.PATCH), (4, 4, Boundary.PROMPT), (6, 6, Boundary.SETTLED),
        (8, 8, Boundary.ABORTED), (10, 10, Boundary.ENDED), (12, 12, Boundary.ENDED),
    ]  # fmt: skip


def test_new_trouble_closes_and_the_third_repeat_closes() -> None:
    """The first time a signature is seen and its third time in a row end an episode."""
    stream = [call(1), failing(2), call(3), failing(4), call(5), failing(6), failing(7)]
    found = episodes(run(stream))
    assert closed(stream) == [
        (1, 2, Boundary.NEW_SIGNATURE), (3, 6, Boundary.THIRD_REPEAT), (7, 7, Boundary.ENDED),
    ]  # fmt: skip
    assert [(s.count, s.failing_streak) for e in found for s in e.episode.signatures] == [
        (1, 1), (2, 3), (1, 4),
    ]  # fmt: skip


def test_an_edit_changes_the_approach() -> None:
    """Test, edit, test with the same failure is repair: no third repeat, the streak stays 1."""
    stream = [failing(1), edit(2), failing(3), edit(4), failing(5), edit(6), failing(7)]
    assert Boundary.THIRD_REPEAT not in [boundary for *_, boundary in closed(stream)]
    last = episodes(run(stream))[-1].episode.signatures[0]
    assert (last.count, last.failing_streak) == (3, 1)


def test_another_command_changes_the_approach() -> None:
    """The same trouble from another command starts counting anew; so does a pass between."""
    stream = [failing(1, 1, 7), failing(2, 1, 7), failing(3, 1, 8), failing(4, 1, 7)]
    assert Boundary.THIRD_REPEAT not in [boundary for *_, boundary in closed(stream)]
    passed = call(3, EpisodeKind.TEST, command_ref=ref(7))
    stream = [failing(1, 1, 7), failing(2, 1, 7), passed, failing(4, 1, 7)]
    assert Boundary.THIRD_REPEAT not in [boundary for *_, boundary in closed(stream)]


def test_one_gate_closes_once() -> None:
    """A refusal met again and again changes the gate once; later ones are only counted."""
    refused = [
        call(n, outcome=Outcome.BLOCKED_BY_POLICY, refusal=Refusal(ref(50), "mode"))
        for n in range(1, 23)
    ]
    found = episodes(run([*refused]))
    assert [e.episode.boundary for e in found].count(Boundary.GATE) == 1
    assert sum(r.count for e in found for r in e.episode.refusals) == 22


def test_caps() -> None:
    """Twelve calls, or five minutes from the first call's end to the next one's, are the most."""
    stream = [call(n) for n in range(1, 26)]
    assert [end for _, end, _ in closed(stream)] == [12, 24, 25]
    late = [call(1, at=1000), call(2, at=1000 + SPAN_MAX_MS), call(3, at=1001 + SPAN_MAX_MS)]
    assert closed(late) == [(1, 2, Boundary.TIME_CAP), (3, 3, Boundary.ENDED)]


def test_twenty_looks_are_two_episodes() -> None:
    """Twenty reads in a row are no twenty episodes."""
    stream = [call(n, EpisodeKind.INSPECT) for n in range(1, 21)]
    assert len(episodes(run(stream))) == 2


def test_aborted_calls_close_together() -> None:
    """Parallel calls aborted at once close one episode, whatever comes behind."""
    stream = [
        call(1), call(2, outcome=Outcome.ABORTED), call(3, outcome=Outcome.ABORTED),
        Prompted(4, 4000, "again"),
    ]  # fmt: skip
    assert closed(stream) == [(1, 3, Boundary.ABORTED)]


def test_kind_ignores_looking_around() -> None:
    """An episode is called by what it did; only pure looking is called looking."""
    kinds = [EpisodeKind.INSPECT] * 5 + [EpisodeKind.EDIT, EpisodeKind.TEST, EpisodeKind.EDIT]
    assert episodes(run([call(n, k) for n, k in enumerate(kinds, 1)]))[0].episode.kind == "edit"
    looks = [EpisodeKind.SEARCH, EpisodeKind.INSPECT, EpisodeKind.INSPECT]
    assert episodes(run([call(n, k) for n, k in enumerate(looks, 1)]))[0].episode.kind == "inspect"


def test_a_gap_taints_what_it_touches_and_no_more() -> None:
    """Missing facts make the episode they fall in, or else the next one, less than full."""
    gap = Gap(3, 3000, Coverage.PARTIAL, "dropped", 4)
    inside = episodes(run([call(1), call(2), gap, call(4), Prompted(5, 5000, "x"), call(6)]))
    assert [(e.episode.coverage, e.episode.coverage_reason) for e in inside] == [
        (Coverage.PARTIAL, "dropped"), (Coverage.FULL, None),
    ]  # fmt: skip
    between = episodes(run([call(1), Prompted(2, 2000, "x"), gap, call(4), Patched(5, 5, "p"),
                            call(6)]))  # fmt: skip
    assert [e.episode.coverage for e in between] == ["full", "partial", "full"]


def test_plans_wait_for_their_episode() -> None:
    """What stands inside an open episode comes out in order of position, none before its time."""
    plan = Planned(2, 2000, "c2", (PlanItem("i", "x", PlanState.ACTIVE),))
    steps = run([call(1), plan, call(3), replace(plan, position=4), Prompted(5, 5000, "x")])
    order = [(getattr(i, "fact", None) and i.fact.position) or "episode" for i in steps[0].items]
    assert order == [2, "episode", 4]


def test_big_plans_never_outgrow_a_frame() -> None:
    """However large the plans inside one open episode are, every segment fits one frame."""
    items = tuple(PlanItem(f"i{n}", "字" * 200, PlanState.PENDING, "字" * 600) for n in range(128))
    stream: list[AnyObservation] = [call(1)]
    stream += [Planned(n, n * 1000, f"c{n}", items) for n in range(2, 30)]
    for segment in segments(INFO, 1, run(stream), live=False):
        assert len(encode(segment)) < 1 << 20


def test_facts_are_kept_once_newest_last() -> None:
    """A fact seen twice stands once, and a pass after a fail stands behind it."""
    red, green = (Fact(FactKind.TEST, "t", r) for r in (FactResult.FAIL, FactResult.PASS))
    stream = [call(1, facts=(red,)), call(2, facts=(green,)), call(3, facts=(red, green))]
    assert episodes(run(stream))[0].episode.facts == (red, green)
