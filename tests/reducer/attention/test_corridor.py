"""Nodes stand where they were born: no later patch moves one, and no two share a spot."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from story import Story, goal, step

from wayfinder.reducer.session.corridor import Spot
from wayfinder.reducer.session.fold import replay


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(0, 12), st.booleans(), st.booleans()), max_size=24))
def test_no_patch_moves_a_node(growth: list[tuple[int, bool, bool]]) -> None:
    """Growing a net in any shape leaves every node that stood where it stands."""
    story = Story().started()
    story.patch(goal())
    ends = ["pl_start"]
    for number, (at, fails, alone) in enumerate(growth):
        before = dict(story.session.corridor.spots)
        start = ends[at % len(ends)]
        ops = step(f"s{number}", start=start, end=f"pl_{number}", activate=False)
        if alone:
            ops = ops[:2]
        elif fails:
            ops.append({"op": "create_place", "placeId": f"pl_f{number}", "type": "Condition",
                        "label": "failed"})  # fmt: skip
            ops.append({"op": "connect", "fromId": f"tr_s{number}", "toId": f"pl_f{number}",
                        "arc": "failure"})  # fmt: skip
            ends.append(f"pl_f{number}")
        story.patch(*ops)
        ends.append(f"pl_{number}")
        spots = story.session.corridor.spots
        assert {node: spots[node] for node in before} == before
        assert len(set(spots.values())) == len(spots)
    again = replay(story.envelopes, story.session.session_id)
    assert again.corridor.spots == story.session.corridor.spots


def test_a_path_stands_in_its_order() -> None:
    """Success goes straight on to the right; the failure branch turns off below."""
    story = Story().started()
    story.patch(
        *step("one", end="pl_one"),
        {"op": "create_place", "placeId": "pl_no", "type": "Condition", "label": "no"},
        {"op": "connect", "fromId": "tr_one", "toId": "pl_no", "arc": "failure"},
        *step("two", start="pl_one", end="pl_two", activate=False),
    )
    spots = story.session.corridor.spots
    assert spots["pl_start"] == Spot(0, 0)
    assert [spots[n].column for n in ("tr_one", "pl_one", "tr_two", "pl_two")] == [1, 2, 3, 4]
    assert {spots[n].lane for n in ("tr_one", "pl_one", "tr_two", "pl_two")} == {0}
    assert (spots["pl_no"].column, spots["pl_no"].lane) == (2, 1)
