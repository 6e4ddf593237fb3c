"""From an agent's patch to its durable answer, and to the delta at a client.

Real reconciler and viewer. In the same rounds, each after as long a pause: a raw apsw commit of as
many bytes, and a bare ZeroMQ round trip to an echo process, which together are what no design
could do without.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import apsw
import msgspec
import zmq

from wayfinder.daemon.bus import Welcome
from wayfinder.daemon.eventlog.connection import WRITER_PRAGMAS
from wayfinder.daemon.messages import Delta

from .parts import Client, patch, started
from .result import Result, beside, percentile

ROUNDS, WARM = 150, 30
PATCHES_PER_SESSION = 30  # a long session declares about that often
PACE_S = 0.04  # the viewer tells a session at most every 33 ms; agents declare far less often
IN_FLIGHT, SESSIONS, MANY = 64, 16, 2_000
ECHO = """
import sys, zmq
socket = zmq.Context().socket(zmq.ROUTER)
socket.bind(sys.argv[1])
print("bound", flush=True)
while True:
    socket.send_multipart(socket.recv_multipart())
"""


class Echo:
    """The bare round trip: DEALER → ROUTER → DEALER between two processes over ipc."""

    def __init__(self, folder: Path) -> None:
        endpoint = f"ipc://{folder / 'echo'}"
        self._process = subprocess.Popen(
            [sys.executable, "-c", ECHO, endpoint], stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.connect(endpoint)

    def trip(self, body: bytes) -> float:
        begun = time.perf_counter()
        self._socket.send_multipart([b"1", body])
        self._socket.recv_multipart()
        return time.perf_counter() - begun

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._context.destroy(linger=0)


class Commit:
    """The bare commit: as many rows as a patch makes, one sync."""

    def __init__(self, folder: Path) -> None:
        self._connection = apsw.Connection(str(folder / "bare.db"))
        for pragma in WRITER_PRAGMAS:
            name, _, value = pragma.partition(" = ")
            self._connection.pragma(name, int(value) if value.isdigit() else value)
        self._connection.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, body TEXT) STRICT")

    def once(self, rows: list[tuple[str]]) -> float:
        begun = time.perf_counter()
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("INSERT INTO t (body) VALUES (?)", rows)
        self._connection.execute("COMMIT")
        return time.perf_counter() - begun


def latencies() -> list[Result]:
    seen: dict[str, list[float]] = {name: [] for name in ("ack", "delta", "trip", "commit")}
    with started("reconciler", "viewer") as paths:
        client, echo, commit = Client(paths), Echo(paths.run), Commit(paths.state)
        subscriber = client.bus.subscriber("view.ipc", b"pi-")
        deltas: list[Delta] = []
        welcome: list[Welcome] = []

        def hear() -> None:
            while (got := subscriber.receive()) is not None:
                if isinstance(got, Welcome):
                    welcome.append(got)
                    continue
                delta = msgspec.json.decode(got.body, type=Delta)
                if not delta.pulse:
                    deltas.append(delta)

        client.loop.watch(subscriber.socket, hear)
        client.until(lambda: welcome)
        for number in range(WARM + ROUNDS):
            session, nth = divmod(number, PATCHES_PER_SESSION)
            body = patch(f"pi-{session}", nth)
            deltas.clear()
            request_id = b"%d" % number
            begun = time.perf_counter()
            client.send(request_id, body)
            client.until(lambda request_id=request_id: request_id in client.answered)
            acked = time.perf_counter() - begun
            assert b'"applied"' in client.answered[request_id], client.answered[request_id]
            client.until(lambda: deltas)
            seen_at = time.perf_counter() - begun
            time.sleep(PACE_S)
            trip = echo.trip(body)
            time.sleep(PACE_S)
            bare = commit.once([("x" * 650,)] * 7)
            if number >= WARM:
                for name, value in zip(seen, (acked, seen_at, trip, bare), strict=True):
                    seen[name].append(value * 1_000)
            time.sleep(PACE_S)
        client.bus.close()
        echo.close()
    return [*_told("patch → durable ack", seen, "ack"), *_told("patch → delta", seen, "delta")]


def _told(name: str, seen: dict[str, list[float]], key: str) -> list[Result]:
    bare = [trip + commit for trip, commit in zip(seen["trip"], seen["commit"], strict=True)]
    found = []
    for percent in (50, 99):
        ours = percentile(seen[key], percent)
        peers = (("bare ZeroMQ round trip", seen["trip"]), ("raw apsw commit", seen["commit"]),
                 ("both together", bare))  # fmt: skip
        for peer, values in peers:
            value = percentile(values, percent)
            found.append(beside(f"{name}, p{percent}", "ms", ours, peer, value))
    return found


def throughput() -> list[Result]:
    """Many agents at once: what group commit gives."""
    with started("reconciler") as paths:
        client = Client(paths)
        todo = [patch(f"pi-{n % SESSIONS}", n // SESSIONS) for n in range(MANY)]
        begun = time.perf_counter()
        for number, body in enumerate(todo):
            client.until(lambda number=number: number - len(client.answered) < IN_FLIGHT)
            client.send(b"%d" % number, body)
        client.until(lambda: len(client.answered) == MANY)
        spent = time.perf_counter() - begun
        applied = sum(b'"applied"' in answer for answer in client.answered.values())
        assert applied == MANY, f"{applied} of {MANY} applied"
        client.bus.close()
    return [
        Result(f"patches through the reconciler, {IN_FLIGHT} in flight", "patches/s", MANY / spent),
        Result(f"events through the reconciler, {IN_FLIGHT} in flight", "events/s",
               (7 * MANY + SESSIONS) / spent),
    ]  # fmt: skip


def run() -> list[Result]:
    return [*latencies(), *throughput()]
