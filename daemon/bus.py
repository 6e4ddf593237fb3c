"""Every ZeroMQ socket between our processes, with every option that matters, and every frame.

Frames (one row = one multipart message; bodies are the JSON structs of `messages.py`):

    command   DEALER → ROUTER   | wf1 | sender | request id | body |
    answer    ROUTER → DEALER   | wf1 | request id | body |
    event     XPUB   → SUB      | session id or ~live | number, 8 bytes big-endian | body |
    welcome   XPUB   → SUB      | ~welcome/<word, 16 hex> | 8 bytes zero | epoch, 32 hex |

* The ROUTER's own routing frame never leaves this module. The *sender's name is a frame*: a ZeroMQ
  identity may be handed to another peer (ROUTER_HANDOVER) and must mean nothing.
* An answer says only that the receiver is done; what is durable is said in its body, after COMMIT.
* A publisher drops at its high-water mark in silence. So everything published is numbered, and a
  subscriber that finds a gap reads anew (events: from the log; deltas: from a snapshot).
* The welcome tells a subscriber that its subscriptions are live: only then may it ask for the state
  before them. It subscribes to a word of its own after all else; whoever publishes reads that and
  publishes it back, so what was subscribed before it is in. A new epoch means a new publisher:
  numbers seen so far mean nothing.

Who may connect: sockets that change something are *guarded*: PLAIN with a key made for this run,
which only children of our supervisor get, over their inherited pipe. The others are open to the
same user: the run folder is 0700, every socket file 0600.

Alternatives that were measured and left: abstract sockets (no permissions at all), ROUTER_HANDOVER
(re-labels queued messages), XPUB_NODROP (one stuck reader stops everybody), a filter by peer pid
(cannot be changed after bind, so a restarted child would be shut out), XPUB_WELCOME_MSG (sent when
the connection is made, which may be before the subscriptions are in: a rare, real gap).
"""

from __future__ import annotations

import hmac
import secrets
from typing import Any, Final

import zmq
from msgspec import Struct

from ..reducer.vocabulary.ids import FRAME_BYTES_MAX
from .paths import Paths, private_umask

VERSION: Final = b"wf1"
LIVE_TOPIC: Final = b"~live"
# Sorts after every other topic: a reconnecting SUB repeats its subscriptions in byte order.
WELCOME_TOPIC: Final = b"~welcome/"
ZAP_ENDPOINT: Final = "inproc://zeromq.zap.01"
ZAP_DOMAIN: Final = b"wayfinder"
VIEW_BYTES_MAX: Final = 8 << 20


class Spec(Struct, frozen=True):
    """One socket: who binds, who connects, how much may wait, how big a message may be."""

    bind_type: int
    connect_type: int
    guarded: bool
    queue_max: int
    bytes_max: int


# 64 KiB above the frame limit: a patch at its limit plus what we wrap around it.
_COMMAND_BYTES_MAX: Final = FRAME_BYTES_MAX + (64 << 10)
SOCKETS: Final[dict[str, Spec]] = {
    "patch.ipc": Spec(zmq.ROUTER, zmq.DEALER, True, 1_000, _COMMAND_BYTES_MAX),
    "stream.ipc": Spec(zmq.ROUTER, zmq.DEALER, True, 1_000, _COMMAND_BYTES_MAX),
    "spool.ipc": Spec(zmq.ROUTER, zmq.DEALER, True, 1_000, _COMMAND_BYTES_MAX),
    "events.ipc": Spec(zmq.XPUB, zmq.SUB, False, 10_000, _COMMAND_BYTES_MAX),
    "view.ipc": Spec(zmq.XPUB, zmq.SUB, False, 1_000, VIEW_BYTES_MAX),
    "snap.ipc": Spec(zmq.ROUTER, zmq.DEALER, False, 1_000, VIEW_BYTES_MAX),
}


def options(spec: Spec, *, binding: bool) -> dict[zmq.SocketOption, int]:
    """Every option we rely on, so that none is what a version of libzmq happens to default to."""
    chosen = {
        zmq.LINGER: 0,  # never hold up an exit: what matters is kept until acknowledged
        zmq.SNDHWM: spec.queue_max,
        zmq.RCVHWM: spec.queue_max,
        zmq.MAXMSGSIZE: spec.bytes_max,
        zmq.SNDTIMEO: 0,  # a send never waits; senders handle "not now"
        zmq.RCVTIMEO: -1,
        zmq.BACKLOG: 128,
        # A hung (stopped) peer is found in 3 s; a dead one at once, by its closed socket.
        zmq.HEARTBEAT_IVL: 1_000,
        zmq.HEARTBEAT_TIMEOUT: 3_000,
        zmq.HEARTBEAT_TTL: 3_000,
        zmq.HANDSHAKE_IVL: 3_000,
        zmq.RECONNECT_IVL: 20,
        zmq.RECONNECT_IVL_MAX: 500,
    }
    kind = spec.bind_type if binding else spec.connect_type
    if kind == zmq.ROUTER:
        chosen[zmq.ROUTER_MANDATORY] = 1  # an answer to a peer that left is an error we see
        chosen[zmq.ROUTER_HANDOVER] = 0
    if kind == zmq.DEALER:
        chosen[zmq.IMMEDIATE] = 1  # queue to a completed connection only, never to a hope
    if spec.guarded and binding:
        chosen[zmq.PLAIN_SERVER] = 1
        chosen[zmq.ZAP_ENFORCE_DOMAIN] = 1
    return chosen


class Bus:
    """All sockets of one process. Not for several threads."""

    def __init__(self, paths: Paths, *, name: str, key: str = "") -> None:
        self._paths = paths
        self._name = name.encode()
        self._key = key.encode()
        self.context: zmq.Context[zmq.Socket[bytes]] = zmq.Context(io_threads=1)
        self._open: list[zmq.Socket[bytes]] = []
        self._bound: list[str] = []
        self.epoch = secrets.token_hex(16)

    def doorman(self) -> Doorman:
        """Must exist before a guarded socket is bound, and be served by the same loop."""
        return Doorman(self._track(zmq.ROUTER), self._key)

    def answerer(self, file: str) -> Answerer:
        return Answerer(self._bind(file))

    def caller(self, file: str) -> Caller:
        return Caller(self._connect(file), self._name)

    def publisher(self, file: str) -> Publisher:
        return Publisher(self._bind(file), self.epoch)

    def subscriber(self, file: str, *topics: bytes) -> Subscriber:
        """Subscribes before it connects, so that the welcome cannot be missed."""
        word = _new_word()
        return Subscriber(self._connect(file, topics=(*topics, word)), word)

    def close(self) -> None:
        """Also takes our socket files away, which libzmq leaves behind."""
        for socket in self._open:
            socket.close(linger=0)
        self.context.term()
        for file in self._bound:
            self._paths.socket(file).unlink(missing_ok=True)

    def _track(self, kind: int) -> zmq.Socket[bytes]:
        socket = self.context.socket(kind)
        self._open.append(socket)
        return socket

    def _endpoint(self, file: str) -> str:
        return f"ipc://{self._paths.socket(file)}"

    def _bind(self, file: str) -> zmq.Socket[bytes]:
        spec = SOCKETS[file]
        socket = self._track(spec.bind_type)
        for option, value in options(spec, binding=True).items():
            socket.setsockopt(option, value)
        if spec.guarded:
            socket.setsockopt(zmq.ZAP_DOMAIN, ZAP_DOMAIN)
        with private_umask():
            socket.bind(self._endpoint(file))
        self._bound.append(file)
        return socket

    def _connect(self, file: str, topics: tuple[bytes, ...] = ()) -> zmq.Socket[bytes]:
        spec = SOCKETS[file]
        socket = self._track(spec.connect_type)
        for option, value in options(spec, binding=False).items():
            socket.setsockopt(option, value)
        if spec.guarded:
            socket.setsockopt(zmq.PLAIN_USERNAME, self._name)
            socket.setsockopt(zmq.PLAIN_PASSWORD, self._key)
        for topic in topics:
            socket.setsockopt(zmq.SUBSCRIBE, topic)
        socket.connect(self._endpoint(file))
        return socket


class End:
    """One end of a socket, for a loop to watch."""

    def __init__(self, socket: zmq.Socket[bytes]) -> None:
        self.socket = socket

    def _receive(self) -> list[bytes] | None:
        try:
            return self.socket.recv_multipart(zmq.NOBLOCK)
        except zmq.Again:
            return None

    def _send(self, frames: list[bytes]) -> bool:
        """False: not now (no peer, or it reads too slowly). Nothing was sent."""
        try:
            self.socket.send_multipart(frames, zmq.NOBLOCK)
        except zmq.Again:
            return False
        except zmq.ZMQError as error:
            if error.errno == zmq.EHOSTUNREACH:  # ROUTER_MANDATORY: that peer is gone
                return False
            raise
        return True


class Incoming(Struct, frozen=True):
    """A command as received. `route` is only good for answering it."""

    route: bytes
    sender: str
    request_id: bytes
    body: bytes


class Answerer(End):
    """ROUTER: receives commands, answers each to where it came from."""

    malformed = 0  # messages that were not four frames of our version: counted, never answered

    def receive(self) -> Incoming | None:
        """The next well-formed command, or None if nothing waits."""
        while (frames := self._receive()) is not None:
            if len(frames) == 5 and frames[1] == VERSION and len(frames[2]) <= 64:
                route, _, sender, request_id, body = frames
                return Incoming(route, sender.decode("utf-8", "replace"), request_id, body)
            self.malformed += 1
        return None

    def answer(self, incoming: Incoming, body: bytes) -> bool:
        return self._send([incoming.route, VERSION, incoming.request_id, body])


class Caller(End):
    """DEALER: sends commands under its name, receives answers in any order."""

    def __init__(self, socket: zmq.Socket[bytes], name: bytes) -> None:
        super().__init__(socket)
        self._name = name

    def send(self, request_id: bytes, body: bytes) -> bool:
        return self._send([VERSION, self._name, request_id, body])

    def receive(self) -> tuple[bytes, bytes] | None:
        """(request id, body), or None if nothing waits."""
        while (frames := self._receive()) is not None:
            if len(frames) == 3 and frames[0] == VERSION:
                return frames[1], frames[2]
        return None


class Publisher(End):
    """XPUB: tells everybody who listens, waits for nobody.

    Must be watched, with `drain` as its callback: a newcomer is let in (and welcomed) only while
    this end is being polled.
    """

    def __init__(self, socket: zmq.Socket[bytes], epoch: str) -> None:
        super().__init__(socket)
        self._epoch = epoch
        self._topics: set[bytes] = set()

    def wanted(self, topic: bytes) -> bool:
        """Whether anybody listens to it, so that what nobody reads need not be made."""
        return any(topic.startswith(prefix) for prefix in self._topics)

    def publish(self, topic: bytes, number: int, body: bytes) -> None:
        self._send([topic, number.to_bytes(8, "big"), body])

    def drain(self) -> None:
        """Takes in subscriptions and welcomes newcomers."""
        while (frames := self._receive()) is not None:
            joined, topic = frames[0][:1] == b"\x01", frames[0][1:]
            if not topic.startswith(WELCOME_TOPIC):
                (self._topics.add if joined else self._topics.discard)(topic)
            elif joined:
                self.publish(topic, 0, self._epoch.encode())


class Welcome(Struct, frozen=True):
    epoch: str


class Published(Struct, frozen=True):
    topic: bytes
    number: int
    body: bytes


class Subscriber(End):
    """SUB: what was published since the welcome, with gaps where this process was too slow.

    A topic is a prefix: who asks for `pi-1` also gets `pi-10` and must look at `Published.topic`.
    """

    def __init__(self, socket: zmq.Socket[bytes], word: bytes) -> None:
        super().__init__(socket)
        self._word = word

    def receive(self) -> Welcome | Published | None:
        while (frames := self._receive()) is not None:
            if len(frames) != 3 or len(frames[1]) != 8:
                continue
            topic, number, body = frames
            if topic == self._word:
                return Welcome(body.decode("ascii", "replace"))
            if not topic.startswith(WELCOME_TOPIC):  # else it is somebody else's
                return Published(topic, int.from_bytes(number, "big"), body)
        return None

    def subscribe(self, topic: bytes) -> None:
        """One more; another welcome follows when it is live."""
        self.socket.setsockopt(zmq.SUBSCRIBE, topic)
        self.socket.setsockopt(zmq.UNSUBSCRIBE, self._word)
        self._word = _new_word()
        self.socket.setsockopt(zmq.SUBSCRIBE, self._word)


def _new_word() -> bytes:
    return WELCOME_TOPIC + secrets.token_hex(8).encode()


class Doorman(End):
    """Answers ZeroMQ's authentication requests (RFC 27, ZAP) for the guarded sockets.

        | "" | 1.0 | request id | domain | address | identity | PLAIN | username | password |
        | "" | 1.0 | request id | 200 or 400 | text | user id | metadata |

    In the process's own loop, since a thread of its own would cost memory and a lock.
    """

    def __init__(self, socket: zmq.Socket[bytes], key: bytes) -> None:
        super().__init__(socket)
        socket.setsockopt(zmq.LINGER, 0)
        socket.bind(ZAP_ENDPOINT)
        self._key = key
        self.refused = 0

    def serve(self) -> None:
        while (frames := self._receive()) is not None:
            route, empty, version, request_id, domain, _address, _identity, *credentials = frames
            accepted = domain == ZAP_DOMAIN and self._knows(credentials)
            self.refused += not accepted
            status, text = (b"200", b"OK") if accepted else (b"400", b"not one of our processes")
            user = credentials[1] if accepted else b""
            self._send([route, empty, version, request_id, status, text, user, b""])

    def _knows(self, credentials: list[Any]) -> bool:
        if len(credentials) != 3 or credentials[0] != b"PLAIN" or not self._key:
            return False
        return hmac.compare_digest(credentials[2], self._key)
