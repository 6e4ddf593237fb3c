"""Plain unix sockets, for peers that are not ours: `agent.sock`, `human.sock`, `control.sock`.

One JSON object per line, either way. Here: binding safely, knowing who calls, and a connection
that is bounded in both directions. What the lines mean is said where they are decoded.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from typing import Final

from msgspec import Struct

from ..reducer.vocabulary.ids import FRAME_BYTES_MAX
from .lines import Lines
from .paths import Paths, private_umask, remove_stale_socket

READ_BYTES: Final = 64 << 10
BACKLOG: Final = 64
# A peer that does not read what it asked for is cut off rather than remembered.
UNSENT_BYTES_MAX: Final = 4 << 20


class Peer(Struct, frozen=True):
    """The kernel's word on who connected. The pid may be reused: for people and logs only."""

    pid: int
    uid: int


def listen(paths: Paths, name: str) -> socket.socket:
    """A listening socket, 0600 from birth. Call only while holding the lock that guards it."""
    path = paths.socket(name)
    remove_stale_socket(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with private_umask():
        listener.bind(str(path))
    listener.listen(BACKLOG)
    listener.setblocking(False)
    return listener


def accept(listener: socket.socket) -> Connection | None:
    """The next peer of our own uid; others are turned away. None if nobody waits."""
    while True:
        try:
            connected, _ = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return None
        peer = peer_of(connected)
        if peer.uid == os.geteuid():
            return Connection(connected, peer)
        connected.close()


def dial(paths: Paths, name: str, timeout_s: float | None = None) -> socket.socket:
    """Connects as a client. Raises OSError (FileNotFoundError, ConnectionRefusedError: nobody)."""
    caller = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    caller.settimeout(timeout_s)
    try:
        caller.connect(str(paths.socket(name)))
    except BaseException:
        caller.close()
        raise
    return caller


def peer_of(connected: socket.socket) -> Peer:
    if sys.platform == "darwin":
        # struct xpcred: version, uid, …; the pid has an option of its own (LOCAL_PEERPID).
        level, xucred, peerpid = 0, 1, 2
        _, uid = struct.unpack_from("Ii", connected.getsockopt(level, xucred, 76))
        (pid,) = struct.unpack("i", connected.getsockopt(level, peerpid, 4))
        return Peer(pid, uid)
    pid, uid, _ = struct.unpack(
        "iII", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    )
    return Peer(pid, uid)


class Connection:
    """One peer. Never blocks: what cannot be written now waits in a bounded buffer."""

    def __init__(
        self, connected: socket.socket, peer: Peer, bytes_max: int = FRAME_BYTES_MAX
    ) -> None:
        connected.setblocking(False)
        self._socket = connected
        self._lines = Lines(bytes_max)
        self._unsent = bytearray()
        self.peer = peer
        self.closed = False

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def wants_write(self) -> bool:
        return bool(self._unsent)

    @property
    def held(self) -> int:
        """Bytes of a line that has not ended yet, and of what the peer has not read yet."""
        return self._lines.held + len(self._unsent)

    def receive(self) -> list[bytes]:
        """What came in: whole lines. Sets `closed` at the end; raises LineTooLong."""
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self.closed = True
            return []
        return self._lines.feed(data)

    def send(self, line: bytes) -> None:
        """Sends a line (its end is added), or keeps it for `flush`. Closes on a peer that does
        not read."""
        self._unsent += line + b"\n"
        self.flush()
        if len(self._unsent) > UNSENT_BYTES_MAX:
            self.close()

    def flush(self) -> None:
        while self._unsent and not self.closed:
            try:
                sent = self._socket.send(self._unsent)
            except BlockingIOError:
                return
            except OSError:
                self.close()
                return
            del self._unsent[:sent]

    def close(self) -> None:
        self.closed = True
        self._unsent.clear()
        self._socket.close()
