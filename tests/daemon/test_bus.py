"""The frames as drawn, the options as said, and who may come in: over real ZeroMQ sockets."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

import pytest
import zmq

from wayfinder.daemon import bus as module
from wayfinder.daemon.bus import SOCKETS, Bus, Published, Welcome, options
from wayfinder.daemon.loop import Loop
from wayfinder.daemon.paths import Paths

KEY = "k" * 64


@pytest.fixture
def server(paths: Paths) -> Iterator[Bus]:
    made = Bus(paths, name="reconciler", key=KEY)
    yield made
    made.close()


@pytest.fixture
def client(paths: Paths) -> Iterator[Bus]:
    made = Bus(paths, name="adapter", key=KEY)
    yield made
    made.close()


def until(loop: Loop, done, turns: int = 2_000) -> None:
    """Runs a loop until something has happened; the bound only turns a hang into a failure."""
    for _ in range(turns):
        if done():
            return
        loop.turn(5)
    raise AssertionError("it did not happen")


def test_frames_are_as_drawn(server: Bus, client: Bus) -> None:
    """What travels is exactly what the table at the head of bus.py shows, frame by frame."""
    loop = Loop()
    doorman = server.doorman()
    answerer = server.answerer("patch.ipc")
    caller = client.caller("patch.ipc")
    seen: list[list[bytes]] = []
    loop.watch(doorman.socket, doorman.serve)
    loop.watch(answerer.socket, lambda: seen.append(answerer.socket.recv_multipart()))
    until(loop, lambda: caller.send(b"7", b'{"ask":"stream"}'))
    until(loop, lambda: seen)
    route, *command = seen[0]
    assert command == [b"wf1", b"adapter", b"7", b'{"ask":"stream"}']
    answerer.socket.send_multipart([route, b"wf1", b"7", b"{}"])
    loop.watch(caller.socket, lambda: seen.append(caller.socket.recv_multipart()))
    until(loop, lambda: len(seen) == 2)
    assert seen[1] == [b"wf1", b"7", b"{}"]

    publisher = server.publisher("events.ipc")
    loop.watch(publisher.socket, publisher.drain)
    subscriber = client.subscriber("events.ipc", b"pi-1")
    heard: list[list[bytes]] = []
    loop.watch(subscriber.socket, lambda: heard.append(subscriber.socket.recv_multipart()))
    until(loop, lambda: heard)
    word, zero, epoch = heard[0]
    assert word.startswith(b"~welcome/") and len(word) == len(b"~welcome/") + 16
    assert (zero, epoch) == (bytes(8), server.epoch.encode())
    publisher.publish(b"pi-1", 258, b"{}")
    until(loop, lambda: len(heard) == 2)
    assert heard[1] == [b"pi-1", b"\0\0\0\0\0\0\1\2", b"{}"]

    drawing = module.__doc__ or ""
    for row in (
        "| wf1 | sender | request id | body |",
        "| wf1 | request id | body |",
        "| session id or ~live | number, 8 bytes big-endian | body |",
        "| ~welcome/<word, 16 hex> | 8 bytes zero | epoch, 32 hex |",
    ):
        assert row in drawing
    assert len(server.epoch) == 32


def test_the_ends_speak_what_was_drawn(server: Bus, client: Bus) -> None:
    """Caller and Answerer, Publisher and Subscriber understand each other; noise is counted."""
    loop = Loop()
    answerer = server.answerer("snap.ipc")
    caller = client.caller("snap.ipc")
    got = []
    loop.watch(answerer.socket, lambda: got.append(answerer.receive()))
    until(loop, lambda: caller.send(b"1", b"ask"))
    until(loop, lambda: got)
    (incoming,) = got
    assert (incoming.sender, incoming.request_id, incoming.body) == ("adapter", b"1", b"ask")
    assert answerer.answer(incoming, b"told")
    back = []
    loop.watch(caller.socket, lambda: back.append(caller.receive()))
    until(loop, lambda: back)
    assert back == [(b"1", b"told")]
    loop.watch(answerer.socket, answerer.receive)
    caller.socket.send_multipart([b"wf9", b"x", b"y", b"z"])
    caller.socket.send_multipart([b"alone"])
    until(loop, lambda: answerer.malformed == 2)

    publisher = server.publisher("view.ipc")
    loop.watch(publisher.socket, publisher.drain)
    subscriber = client.subscriber("view.ipc", b"")
    heard = []
    loop.watch(subscriber.socket, lambda: heard.append(subscriber.receive()))
    until(loop, lambda: heard)
    publisher.publish(b"pi-1", 3, b"delta")
    until(loop, lambda: len(heard) == 2)
    assert heard == [Welcome(server.epoch), Published(b"pi-1", 3, b"delta")]


def test_an_answer_to_a_peer_that_left_is_no_error(server: Bus, paths: Paths) -> None:
    """ROUTER_MANDATORY makes it visible as False; nothing is raised and nothing is queued."""
    loop = Loop()
    answerer = server.answerer("snap.ipc")
    leaving = Bus(paths, name="leaving")
    caller = leaving.caller("snap.ipc")
    got = []
    loop.watch(answerer.socket, lambda: got.append(answerer.receive()))
    until(loop, lambda: caller.send(b"1", b"ask"))
    until(loop, lambda: got)
    leaving.close()
    until(loop, lambda: not answerer.answer(got[0], b"told"))


@pytest.mark.parametrize("file", [f for f, spec in SOCKETS.items() if spec.guarded])
def test_a_guarded_socket_lets_in_only_who_holds_the_key(
    file: str, server: Bus, client: Bus, paths: Paths
) -> None:
    """A wrong key, a nearly right one and no PLAIN at all are shut out before any message."""
    loop = Loop()
    doorman = server.doorman()
    answerer = server.answerer(file)
    senders: list[str] = []

    def take() -> None:
        while (incoming := answerer.receive()) is not None:
            senders.append(incoming.sender)

    loop.watch(doorman.socket, doorman.serve)
    loop.watch(answerer.socket, take)
    wrong = Bus(paths, name="wrong", key="x" * 64)
    nearly = Bus(paths, name="nearly", key=KEY[:-1] + "K")
    bare = zmq.Context()
    plainless = bare.socket(zmq.DEALER)
    plainless.setsockopt(zmq.IMMEDIATE, 1)
    plainless.connect(f"ipc://{paths.socket(file)}")
    strangers = [wrong.caller(file), nearly.caller(file)]
    insider = client.caller(file)
    until(loop, lambda: doorman.refused >= 2)
    until(loop, lambda: insider.send(b"1", b"hello"))
    until(loop, lambda: senders)
    for stranger in strangers:
        assert not stranger.send(b"1", b"hello")
    with pytest.raises(zmq.Again):
        plainless.send_multipart([b"wf1", b"bare", b"1", b"hello"], zmq.NOBLOCK)
    assert senders == ["adapter"]
    plainless.close(0)
    bare.term()
    wrong.close()
    nearly.close()


@pytest.mark.parametrize("file", SOCKETS)
def test_no_option_is_left_to_chance(file: str, server: Bus, client: Bus) -> None:
    """Each option reads back as said; those whose defaults would hurt are all there."""
    spec = SOCKETS[file]
    if spec.guarded:
        server.doorman()
    bound = server._bind(file)
    connected = client._connect(file)
    for socket, binding in ((bound, True), (connected, False)):
        said = options(spec, binding=binding)
        assert {zmq.LINGER, zmq.SNDHWM, zmq.RCVHWM, zmq.MAXMSGSIZE, zmq.HEARTBEAT_IVL} <= set(said)
        for option, value in said.items():
            if option not in (zmq.ROUTER_MANDATORY, zmq.ROUTER_HANDOVER):  # write-only
                assert socket.getsockopt(option) == value, option


def test_sockets_are_private_whatever_the_umask(server: Bus, paths: Paths) -> None:
    """Under umask 000 the folder is still 0700 and every socket 0600."""
    before = os.umask(0)
    try:
        server.publisher("view.ipc")
        server.answerer("snap.ipc")
    finally:
        os.umask(before)
    assert stat.S_IMODE(paths.run.stat().st_mode) == 0o700
    for file in paths.run.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_a_message_over_the_limit_ends_that_connection_only(server: Bus, client: Bus) -> None:
    """Too big a message never reaches the receiver; others go on."""
    loop = Loop()
    answerer = server.answerer("snap.ipc")
    big, small = client.caller("snap.ipc"), client.caller("snap.ipc")
    got = []
    loop.watch(answerer.socket, lambda: got.append(answerer.receive()))
    until(loop, lambda: big.send(b"1", b"x" * (SOCKETS["snap.ipc"].bytes_max + 1)))
    until(loop, lambda: small.send(b"2", b"ok"))
    until(loop, lambda: any(got))
    assert [incoming.body for incoming in got if incoming] == [b"ok"]


def test_a_late_subscriber_who_waits_for_the_welcome_has_no_gap(server: Bus, paths: Paths) -> None:
    """Subscribe, welcome, snapshot, then deltas above it: nothing is missed and nothing twice,
    wherever in a running stream the subscriber joins."""
    publisher = server.publisher("view.ipc")
    answerer = server.answerer("snap.ipc")
    number = 0
    for _ in range(20):
        late = Bus(paths, name="late")
        subscriber = late.subscriber("view.ipc", b"pi-1")
        caller = late.caller("snap.ipc")
        heard: list[int] = []
        snapshot: list[int] = []
        asked = False
        while not snapshot or not heard or heard[-1] < snapshot[0] + 20:
            number += 1
            publisher.publish(b"pi-1", number, b"")
            publisher.drain()
            if (incoming := answerer.receive()) is not None:
                answerer.answer(incoming, str(number).encode())
            while (got := subscriber.receive()) is not None:
                if isinstance(got, Welcome):
                    while not caller.send(b"1", b""):
                        pass
                    asked = True
                else:
                    heard.append(got.number)
            if asked and (answer := caller.receive()) is not None:
                snapshot.append(int(answer[1]))
        following = [n for n in heard if n > snapshot[0]]
        assert following == list(range(snapshot[0] + 1, following[-1] + 1))
        late.close()
