"""Whatever is written to agent.sock: an error frame, that connection at worst closed, nobody else
notices, and the process does not grow. The adapter is the real process."""

from __future__ import annotations

import contextlib
import json
import random
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from wayfinder.adapters.server import CONNECTIONS_MAX

GROWTH_MAX_BYTES = 20 << 20


def line(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def numbered(tail: bytes, seq: int = 1) -> bytes:
    return b'{"seq":%d,"t":"obs","at":1,"ev":"prompt","text":%s}\n' % (seq, tail)


# name → (bytes, whether after a good hello, codes that may answer)
BAD: dict[str, tuple[bytes, bool, set[str]]] = {
    "garbage": (bytes(random.Random(1).randbytes(4000)) + b"\n", False, {"malformed"}),
    "not json": (b"hello there\n", False, {"malformed"}),
    "not an object": (b"[1,2,3]\n", False, {"malformed"}),
    "no hello first": (numbered(b'"x"'), False, {"hello"}),
    "wrong version": (line({"t": "hello", "v": 99}), False, {"version"}),
    "another agent": (
        line({"t": "hello", "v": 1, "agent": "hal", "instance": "i", "session": "s"}),
        False,
        {"agent"},
    ),
    "huge hello": (b'{"t":"hello","cwd":"' + b"x" * 300_000, False, {"hello"}),
    "ten megabytes in one line": (b'{"seq":1,"text":"' + b"x" * (10 << 20), True, {"too_large"}),
    "ten megabytes before hello": (b"x" * (10 << 20), False, {"too_large", "hello"}),
    "deep nesting": (numbered(b"[" * 2000 + b"]" * 2000), True, {"too_deep"}),
    "deep nesting unclosed": (numbered(b"[" * 100_000), True, {"too_deep"}),
    "a bomb of empty objects": (numbered(b"[" + b"{}," * 300_000 + b"0]"), True, {"too_large"}),
    "duplicate keys": (numbered(b'"x","text":"y"'), True, {"malformed"}),
    "not a number": (numbered(b"NaN"), True, {"malformed"}),
    "five thousand digits": (numbered(b"9" * 5000), True, {"malformed"}),
    "a lone surrogate": (numbered(b'"\\ud800"'), True, {"malformed"}),
    "broken utf-8": (numbered(b'"\xff\xfe"'), True, {"malformed"}),
    "an unknown event": (line({"seq": 1, "t": "obs", "at": 1, "ev": "boom"}), True, {"malformed"}),
    "two hellos": (line({"t": "hello", "v": 1, "agent": "pi", "instance": "i", "session": "s"}),
                   True, {"hello"}),
}  # fmt: skip


def codes_until_end(agent: Any, *, ends: bool) -> list[str]:
    """Codes of the error frames that come; `ends`: until the connection is closed."""
    found: list[str] = []
    while (frame := agent.frame()) is not None:
        if frame["t"] == "error":
            found.append(frame["code"])
            if not ends:
                break
    return found


@pytest.fixture
def bystander(world: Any) -> Iterator[Any]:
    """An agent that works on while others misbehave, and loses nothing."""
    with world.agent() as agent:
        agent.hello(session=f"good-{world.session}")
        yield agent
        agent.obs("prompt", 2, text="still here")
        agent.acked()
        last = agent.seq + 1
        world.reconciler.until(
            lambda: world.reconciler.to_position.get(f"pi-good-{world.session}", 0) == last
        )


def test_bad_lines_are_answered_and_hurt_nobody(world: Any, bystander: Any) -> None:
    """Each kind of bad input is answered with its code; a good agent beside it is served on."""
    bystander.obs("prompt", 1, text="before")
    bystander.acked()
    before = world.adapter.rss_bytes()
    for name, (data, after_hello, codes) in BAD.items():
        with world.agent() as agent:
            if after_hello:
                agent.hello(session="bad", instance=f"bad-{name.replace(' ', '-')}")
            agent.raw(data)
            found = codes_until_end(agent, ends=False)
            assert set(found) <= codes, name
            assert found, name
        bystander.obs("prompt", 1, text="in between")
        bystander.acked()
    assert world.adapter.rss_bytes() - before < GROWTH_MAX_BYTES


def test_the_stream_goes_on_behind_a_bad_frame(world: Any) -> None:
    """A frame that cannot be understood is acknowledged and leaves a gap; the next one counts."""
    with world.agent() as agent:
        agent.hello()
        agent.raw(b'{"seq":1,"t":"obs","at":1,"ev":"call_end","callId":"c"}\n')
        agent.seq = 1
        agent.obs("call_end", 5, callId="c", tool="read", isError=False)
        agent.obs("reply", 6, stopReason="stop")
        agent.acked()
        world.reconciler.until(lambda: world.reconciler.to_position.get(world.sid, 0) == 4)
    cores = [json.loads(core) for core in world.reconciler.episodes(world.sid)]
    (episode,) = [core for core in cores if "calls" in core]
    assert (episode["coverage"], episode["coverageReason"]) == ("partial", "bad frame")


def test_half_a_frame_is_lost_with_its_connection_only(world: Any, bystander: Any) -> None:
    """Half a frame before the end of a connection was never taken, and is taken when it is sent
    again whole."""
    whole = numbered(b'"the whole text"')
    with world.agent() as agent:
        agent.hello()
        agent.raw(whole[:30])
    with world.agent() as again:
        assert again.hello()["ack"] == 0
        again.raw(whole)
        again.acked(1)


def test_slow_connections_are_parted_with(world: Any, bystander: Any) -> None:
    """Connections that say nothing, or dribble, are closed with an error; more than the most are
    told so at once; memory stays as it was."""
    before = world.adapter.rss_bytes()
    with contextlib.ExitStack() as stack:
        many = [stack.enter_context(world.agent()) for _ in range(CONNECTIONS_MAX + 8)]
        for agent in many:
            agent.raw(b'{"t":"hel')
        told = {code for agent in many for code in codes_until_end(agent, ends=True)}
    assert told == {"hello", "busy"}
    assert world.adapter.rss_bytes() - before < GROWTH_MAX_BYTES


def test_greedy_connections_share_one_bound(world: Any, bystander: Any) -> None:
    """Many agents that each hold back the end of a long line lose the longest of them, no more."""
    before = world.adapter.rss_bytes()
    with contextlib.ExitStack() as stack:
        for n in range(24):
            agent = stack.enter_context(world.agent())
            agent.hello(session=f"greedy{n}", instance=f"greedy{n}")
            agent.raw(b'{"seq":1,"t":"obs","text":"' + b"x" * 900_000)
        bystander.obs("prompt", 1, text="in between")
        bystander.acked()
        assert world.adapter.rss_bytes() - before < GROWTH_MAX_BYTES


def test_an_agent_that_never_reads_is_cut_off(world: Any, bystander: Any) -> None:
    """Answers pile up to a bound for a peer that does not read; then it is closed."""
    before = world.adapter.rss_bytes()
    with world.agent() as agent:
        agent.hello(session="deaf", instance="deaf")
        agent.socket.settimeout(2)
        bad = b'{"seq":9,"t":"obs","at":1,"ev":"boom"}\n' * 2000
        with contextlib.suppress(OSError):
            for _ in range(200):
                agent.socket.sendall(bad)
    assert world.adapter.rss_bytes() - before < GROWTH_MAX_BYTES


def mutations(dice: random.Random) -> Iterator[bytes]:
    """Good frames with bytes flipped, cut, doubled, glued."""
    good = [
        line({"seq": 1, "t": "obs", "at": 1, "ev": "prompt", "text": "a"}),
        line({"seq": 2, "t": "obs", "at": 2, "ev": "reply", "stopReason": "stop", "calls": ["c"]}),
        line({"seq": 3, "t": "obs", "at": 3, "ev": "call_end", "callId": "c", "tool": "bash",
              "isError": True, "text": "E", "args": {"command": "ls"}}),
        line({"seq": 4, "t": "patch", "at": 4, "callId": "c", "patch": {"ops": [{"op": "x"}]}}),
    ]  # fmt: skip
    acts: list[Callable[[bytearray], object]] = [
        lambda b: b.__setitem__(dice.randrange(len(b)), dice.randrange(256)),
        lambda b: b.__delitem__(slice(dice.randrange(len(b)), None)),
        lambda b: b.extend(b[dice.randrange(len(b)) :]),
        lambda b: b.insert(dice.randrange(len(b)), dice.choice(b'{}[]",:\\\n')),
    ]
    while True:
        data = bytearray(dice.choice(good))
        for _ in range(dice.randrange(4)):
            if data:
                dice.choice(acts)(data)
        yield bytes(data)


def test_mutated_frames_never_stop_the_adapter(world: Any, bystander: Any) -> None:
    """Thousands of broken variations of good frames: the process lives and serves on."""
    dice = random.Random(7)
    stream = mutations(dice)
    before = world.adapter.rss_bytes()
    for n in range(60):
        with world.agent() as agent:
            agent.hello(session="fuzz", instance=f"fuzz-{n}")
            agent.raw(b"".join(next(stream) for _ in range(60)))
            with contextlib.suppress(OSError):
                agent.socket.shutdown(socket.SHUT_WR)
            codes_until_end(agent, ends=True)
    assert world.adapter.popen.poll() is None
    assert world.adapter.rss_bytes() - before < GROWTH_MAX_BYTES
