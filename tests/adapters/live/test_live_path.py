"""A live agent through real adapter and segmenter processes: order, delivery, corrections."""

from __future__ import annotations

import json
from typing import Any

from wayfinder.reducer.vocabulary.people import Constraint, CorrectionType

READ = {"schemaVersion": 1, "patchId": "patch_1", "baseRevision": 0, "idempotencyKey": "k1",
        "actor": {"type": "agent", "agentId": "main"}, "ops": []}  # fmt: skip


def work(agent: Any, first: int, count: int, *, fail: bool = False) -> None:
    for n in range(first, first + count):
        agent.obs(
            "call_end", n * 1000, callId=f"c{n}", tool="bash", isError=fail,
            text="E   assert refresh == token\nCommand exited with code 1" if fail else "fine",
            args={"command": "pytest tests/auth.py"}, durationMs=200, leaf="abcd1234",
        )  # fmt: skip


def seen(world: Any) -> list[dict[str, Any]]:
    return [json.loads(core) for core in world.reconciler.episodes(world.sid)]


def test_a_session_becomes_episodes(world: Any) -> None:
    """Prompt, calls and the end of the reply arrive as facts and one episode, in order."""
    with world.agent() as agent:
        welcome = agent.hello()
        assert (welcome["ack"], welcome["bound"], welcome["declared"]) == (0, True, True)
        agent.obs("prompt", 1000, text="repair the login")
        work(agent, 2, 3)
        agent.obs("reply", 6000, stopReason="stop")
        agent.acked()
        world.reconciler.until(lambda: world.reconciler.to_position.get(world.sid) == 6)
    kinds = [core.get("seen", "episode") for core in seen(world)]
    assert kinds == ["opened", "prompted", "episode", "settled"]
    episode = seen(world)[2]
    assert (episode["fromPosition"], episode["toPosition"], episode["calls"]) == (3, 5, 3)
    assert (episode["kind"], episode["boundary"]) == ("test", "settled")


def test_a_patch_goes_at_once_with_its_place_in_the_order(world: Any) -> None:
    """The patch's position is that of the reply that made it, before the results behind it."""
    with world.agent() as agent:
        agent.hello()
        work(agent, 2, 2)
        agent.obs("reply", 4000, stopReason="toolUse", calls=["c9", "p1"], patches=["p1"])
        work(agent, 9, 1)
        agent.patch("p1", READ, 4000)
        answer = agent.until("answer")
        assert (answer["callId"], answer["answer"]["status"]) == ("p1", "unchanged")
        assert world.reconciler.patches[0].position == 4
        agent.obs("reply", 10_000, stopReason="stop")
        world.reconciler.until(lambda: world.reconciler.to_position.get(world.sid) == 6)
    assert [core.get("boundary", core.get("seen")) for core in seen(world)] == [
        "opened", "patch", "patched", "settled", "settled",
    ]  # fmt: skip


def test_an_unannounced_patch_is_placed_where_it_comes(world: Any) -> None:
    """A patch whose call was in no reply closes what is open and takes the next position."""
    with world.agent() as agent:
        agent.hello()
        work(agent, 2, 2)
        agent.patch("p1", READ, 3500)
        agent.until("answer")
        assert world.reconciler.patches[0].position == 4
        world.reconciler.until(lambda: world.reconciler.to_position.get(world.sid) == 4)


def test_resending_changes_nothing(world: Any) -> None:
    """Everything said again after a reconnect is recognised by its number."""
    with world.agent() as agent:
        agent.hello()
        work(agent, 2, 3)
        agent.patch("p1", READ)
        agent.until("answer")
    with world.agent() as again:
        assert again.hello()["ack"] == 4
        work(again, 2, 3)
        again.patch("p1", READ)
        again.obs("reply", 9000, stopReason="stop")
        again.acked()
        world.reconciler.until(lambda: world.reconciler.to_position.get(world.sid) == 6)
    assert sum(core.get("calls", 0) for core in seen(world)) == 3


def test_an_answer_finds_the_agent_that_came_back(world: Any) -> None:
    """The reconciler's answer waits for the instance it belongs to."""
    world.reconciler.mute = True
    with world.agent() as agent:
        agent.hello()
        agent.patch("p1", READ)
        agent.acked()
        world.reconciler.until(lambda: bool(world.reconciler.patches))
    world.reconciler.mute = False
    with world.agent() as again:
        again.hello()
        answer = again.until("answer")
    assert answer["callId"] == "p1"
    assert {bytes(p.patch) for p in world.reconciler.patches} == {
        json.dumps(READ, separators=(",", ":")).encode()
    }


def test_a_second_instance_is_watched_and_refused(world: Any) -> None:
    """Two live instances of one session: the second's acts count, its patches do not."""
    with world.agent() as first, world.agent() as second:
        first.hello()
        welcome = second.hello(instance="i2")
        assert (welcome["bound"], welcome["reason"]) == (False, "second instance")
        work(second, 2, 1)
        second.patch("p1", READ)
        answer = second.until("answer")["answer"]
        assert answer["status"] == "rejected"
        assert answer["faults"][0]["code"] == "second_instance"
        second.acked()
        first.patch("p2", READ)
        assert first.until("answer")["answer"]["status"] == "unchanged"
    assert len(world.reconciler.patches) == 1


def test_secrets_in_a_patch(world: Any) -> None:
    """A secret in a text is masked before anything is stored; in an id it is refused."""
    fake = "gh" + "p_" + "A1b2C3d4E5f6" * 3
    ops = [{"op": "create_place", "placeId": "pl_a", "type": "Condition", "label": f"have {fake}"}]
    with world.agent() as agent:
        agent.hello()
        agent.patch("p1", {**READ, "ops": ops})
        agent.until("answer")
        assert fake.encode() not in bytes(world.reconciler.patches[0].patch)
        agent.patch("p2", {**READ, "ops": [{**ops[0], "placeId": fake[:60], "label": "x"}]})
        fault = agent.until("answer")["answer"]["faults"][0]
        assert (fault["code"], fault["path"]) == ("id_like_secret", "$.ops[0].placeId")
        agent.obs("prompt", 1000, text=f"use {fake}")
        agent.acked()
    for path in world.paths.state.rglob("*"):
        assert path.is_dir() or fake.encode() not in path.read_bytes(), path


def test_corrections_reach_a_connected_agent(world: Any) -> None:
    """Standing constraints come with the welcome, and again when a person corrects."""
    first = Constraint("k1", CorrectionType.TEXT, 1, text="only the root cause")
    world.reconciler.constraints = (first,)
    with world.agent() as agent:
        assert [c["correctionId"] for c in agent.hello()["constraints"]] == ["k1"]
        second = Constraint("k2", CorrectionType.TEXT, 2, text="no refactoring")
        world.reconciler.constraints = (first, second)
        world.reconciler.publish(world.sid, "human.corrected")
        items = agent.until("constraints")["items"]
        assert [c["correctionId"] for c in items] == ["k1", "k2"]
        world.reconciler.until(lambda: len(receipts(world, "sent")) == 2)
    assert receipts(world, "sent") == ["k1", "k2"]  # each told once, when it was handed over


def receipts(world: Any, stage: str) -> list[str]:
    mine = (n.note for n in world.reconciler.notes if n.note.session_id == world.sid)
    return [note.ref for note in mine if (note.what, note.name) == ("receipt", stage)]


def test_receipts_are_passed_on(world: Any) -> None:
    """That a constraint stood in a request is told to the reconciler, not put in the stream."""
    with world.agent() as agent:
        agent.hello()
        agent.obs("receipt", 5000, correctionId="k1")
        agent.acked()
        world.reconciler.until(lambda: receipts(world, "in_turn") == ["k1"])


def test_live_notes(world: Any) -> None:
    """A running tool, an open question and a vanished agent are told as they happen."""
    with world.agent() as agent:
        agent.hello()
        agent.obs("call_start", 1000, callId="c1", tool="bash", args={})
        agent.obs("ui", 2000, open=True, kind="confirm", title="Delete it?")
        agent.obs("ui", 3000, open=False, kind="confirm")
        agent.acked()
    mine = lambda: [n.note for n in world.reconciler.notes if n.note.session_id == world.sid]  # noqa: E731
    world.reconciler.until(lambda: any(note.what == "gone" for note in mine()))
    told = [(note.what, note.name) for note in mine()]
    assert told == [
        ("tool_started", "bash"), ("waiting", "Delete it?"), ("resumed", "confirm"), ("gone", None)
    ]  # fmt: skip


def test_a_lost_connection_is_no_end(world: Any) -> None:
    """A vanished agent leaves its episode open; a shutdown closes it."""
    with world.agent() as agent:
        agent.hello()
        work(agent, 2, 2)
        agent.acked()
    with world.agent() as again:
        again.hello()
        again.seq = 2
        work(again, 4, 1)
        again.obs("shutdown", 5000, reason="quit")
        again.acked()
    world.reconciler.until(lambda: world.reconciler.to_position.get(world.sid) == 4)
    (episode,) = [core for core in seen(world) if "calls" in core]
    assert (episode["calls"], episode["boundary"]) == (3, "ended")


def test_what_was_dropped_is_a_gap(world: Any) -> None:
    """Records the extension had to drop make the episode around them partial, with the reason."""
    with world.agent() as agent:
        agent.hello()
        work(agent, 2, 1)
        agent.obs("drop", 2500, count=7)
        work(agent, 3, 1)
        agent.obs("reply", 9000, stopReason="stop")
        agent.acked()
        world.reconciler.until(lambda: world.reconciler.to_position.get(world.sid) == 5)
    (episode,) = [core for core in seen(world) if "calls" in core]
    assert (episode["coverage"], episode["coverageReason"]) == ("partial", "dropped")


def test_joining_late_without_a_file_is_a_gap(world: Any) -> None:
    """A session that held messages before we met it, and has no file, is partial from the start."""
    with world.agent() as agent:
        agent.hello(entries=12, reason="resume")
        work(agent, 2, 1)
        agent.obs("reply", 9000, stopReason="stop")
        agent.acked()
        world.reconciler.until(lambda: world.reconciler.to_position.get(world.sid) == 4)
    (episode,) = [core for core in seen(world) if "calls" in core]
    assert (episode["coverage"], episode["coverageReason"]) == ("partial", "joined late")


def test_a_purged_session_starts_anew(world: Any) -> None:
    """After a purge nothing old is left or comes back; who is connected begins at position 1."""
    with world.agent() as agent:
        agent.hello()
        agent.obs("prompt", 1000, text="something embarrassing")
        work(agent, 2, 2)
        agent.acked()
        world.reconciler.until(lambda: world.reconciler.to_position.get(world.sid) == 2)
        world.reconciler.purge(world.sid)
        assert agent.until("error")["code"] == "purged"
        assert agent.frame() is None
    with world.agent() as again:
        assert again.hello(entries=3)["ack"] == 0
        again.seq = 3
        work(again, 5, 1)
        again.obs("reply", 9000, stopReason="stop")
        again.acked()
        world.reconciler.until(lambda: world.reconciler.to_position.get(world.sid, 0) >= 4)
    assert [core.get("seen", core.get("calls")) for core in seen(world)] == ["opened", 1, "settled"]
    for path in world.paths.state.glob("spool.db*"):
        assert b"embarrassing" not in path.read_bytes(), path


def test_a_hole_in_the_numbers_is_a_gap(world: Any) -> None:
    """Numbers that never came are missing facts; what follows them is taken."""
    with world.agent() as agent:
        agent.hello()
        work(agent, 2, 1)
        agent.seq += 5
        work(agent, 3, 1)
        agent.obs("reply", 9000, stopReason="stop")
        agent.acked()
        world.reconciler.until(lambda: world.reconciler.to_position.get(world.sid) == 5)
    (episode,) = [core for core in seen(world) if "calls" in core]
    assert (episode["calls"], episode["coverageReason"]) == (2, "hole")


def test_patches_never_overtake_each_other(world: Any) -> None:
    """While one patch has no answer the next one waits, so that none is judged out of order."""
    world.reconciler.mute = True
    with world.agent() as agent:
        agent.hello()
        for n in (1, 2, 3):
            agent.patch(f"p{n}", {**READ, "idempotencyKey": f"k{n}"})
        agent.acked()
        world.reconciler.until(lambda: len(world.reconciler.patches) >= 2)  # the first, again
        keys = {json.loads(bytes(p.patch))["idempotencyKey"] for p in world.reconciler.patches}
        assert keys == {"k1"}
        world.reconciler.mute = False
        assert [agent.until("answer")["callId"] for _ in range(3)] == ["p1", "p2", "p3"]
    order = [json.loads(bytes(p.patch))["idempotencyKey"] for p in world.reconciler.patches]
    assert order == sorted(order)
