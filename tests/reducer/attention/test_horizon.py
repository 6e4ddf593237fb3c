"""Near, mid and far: distances from the token, and what pulls a node nearer (RULES 31)."""

from __future__ import annotations

from story import Story, goal, step

from wayfinder.reducer.attention.horizon import FAR, MID, NEAR, Horizon


def chain(length: int, *, activate: bool = True) -> Story:
    """pl_start → s0 → c0 → s1 → c1 …, the first step active."""
    story = Story().started()
    ops = [goal("pl_goal", "all of it")]
    for n in range(length):
        start = "pl_start" if n == 0 else f"pl_c{n - 1}"
        ops += step(f"s{n}", start=start, end=f"pl_c{n}", activate=activate and n == 0)
    story.patch(*ops)
    return story


def test_bands_follow_the_distance() -> None:
    """Active and the next two are near, three to six are mid, beyond is far."""
    horizon = Horizon(chain(9).session.net)
    bands = [horizon.band(f"tr_s{n}") for n in range(9)]
    assert bands == [NEAR] * 3 + [MID] * 4 + [FAR] * 2
    assert [horizon.distance(f"tr_s{n}") for n in range(3)] == [0, 1, 2]


def test_idle_counts_from_the_tokens_place() -> None:
    """With nothing active, what may start at the token's place has distance one."""
    horizon = Horizon(chain(9, activate=False).session.net)
    assert horizon.distance("tr_s0") == 1
    assert [horizon.band(f"tr_s{n}") for n in (0, 1, 2, 5, 6)] == [NEAR, NEAR, MID, MID, FAR]


def test_a_gate_holds_what_it_guards_at_mid() -> None:
    """A near step whose gate is closed is mid; its gate stands at near's edge, and opening it
    brings the step near."""
    story = chain(3)
    story.patch(
        {"op": "create_place", "placeId": "pl_gate", "type": "Gate", "label": "review",
         "gateState": "closed"},
        {"op": "connect", "fromId": "pl_gate", "toId": "tr_s1", "arc": "read"},
    )  # fmt: skip
    horizon = Horizon(story.session.net)
    assert (horizon.band("tr_s1"), horizon.distance("tr_s1")) == (MID, 1)
    story.patch({"op": "mark_gate", "placeId": "pl_gate", "gateState": "open", "evidenceIds": []})
    horizon = Horizon(story.session.net)
    assert (horizon.band("tr_s1"), horizon.band("pl_gate")) == (NEAR, NEAR)


def test_reads_are_no_distance() -> None:
    """A step that only reads what the active one makes is not nearer for it."""
    story = chain(1)
    story.patch(
        {"op": "create_place", "placeId": "pl_other", "type": "Condition", "label": "elsewhere"},
        *step("reader", start="pl_other", end="pl_read", activate=False),
        {"op": "connect", "fromId": "pl_c0", "toId": "tr_reader", "arc": "read"},
    )
    horizon = Horizon(story.session.net)
    assert (horizon.distance("tr_reader"), horizon.band("tr_reader")) == (None, FAR)


def test_the_failure_branch_is_near_whatever_it_reads() -> None:
    """The direct failure branch of the active step is near even if it could not start yet."""
    story = chain(1)
    story.patch(
        {"op": "create_place", "placeId": "pl_failed", "type": "Condition", "label": "it failed"},
        {"op": "connect", "fromId": "tr_s0", "toId": "pl_failed", "arc": "failure"},
        *step("mend", start="pl_failed", end="pl_mended", activate=False),
        {"op": "create_place", "placeId": "pl_need", "type": "Condition", "label": "a fixture"},
        {"op": "connect", "fromId": "pl_need", "toId": "tr_mend", "arc": "read"},
    )
    assert Horizon(story.session.net).band("tr_mend") == NEAR


def test_what_was_set_aside_is_far() -> None:
    """A retired step has no distance, however close it stands."""
    story = chain(3)
    story.patch({"op": "retire_transition", "transitionId": "tr_s1", "reason": "not needed"})
    horizon = Horizon(story.session.net)
    assert horizon.band("tr_s1") == FAR
    assert horizon.distance("tr_s2") is None


def test_a_loop_ends() -> None:
    """A path that leads back to itself is walked once."""
    story = chain(2)
    story.patch(
        {
            "op": "create_transition",
            "transitionId": "tr_back",
            "type": "Recover",
            "intent": "again",
        },
        {"op": "connect", "fromId": "pl_c1", "toId": "tr_back", "arc": "flow"},
        {"op": "connect", "fromId": "tr_back", "toId": "pl_start", "arc": "success"},
    )
    horizon = Horizon(story.session.net)
    assert horizon.distance("tr_back") == 2
    assert horizon.distance("tr_s0") == 0


def test_a_pin_brings_near_and_changes_no_net() -> None:
    """What a viewer pins is near for that viewer only."""
    net = chain(9).session.net
    assert Horizon(net, ["tr_s8"]).band("tr_s8") == NEAR
    assert Horizon(net).band("tr_s8") == FAR
    assert Horizon(net, ["tr_nobody"]).band("tr_nobody") == FAR
