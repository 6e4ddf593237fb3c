"""agent.sock: who may be connected, for how long without a word, and with how many bytes held.

A plain unix socket in the adapter's own poll loop; nothing here ever waits. What a line means is
the `Listener`'s business. Limits are for the process, so that no number of bad peers can grow it:

    CONNECTIONS_MAX   beyond it a newcomer is told `busy` and closed
    HELLO_MS          without a hello by then: closed (slow loris)
    HELLO_BYTES_MAX   of unfinished line before a hello: closed
    LINE_BYTES_MAX    of one line: closed; its number, if it had one, is told to the listener
    HELD_BYTES_MAX    held for all connections together: the one that holds most is closed
    LINES_TURN_MAX    of one connection before the others get their turn
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections import deque
from typing import Final, Protocol

from ..daemon.lines import LineTooLong
from ..daemon.loop import Loop
from ..daemon.paths import Paths
from ..daemon.unixsock import Connection, accept, listen
from . import wire

FILE: Final = "agent.sock"
CONNECTIONS_MAX: Final = 64
HELD_BYTES_MAX: Final = 8 << 20
LINES_TURN_MAX: Final = 128
SWEEP_MS: Final = 1_000


class Agent:
    """One connection. `paused`: lines wait, and the peer's buffer fills, until `resume`."""

    __slots__ = ("bad_frames", "born_s", "fd", "greeted", "link", "paused", "pid", "waiting")

    def __init__(self, link: Connection) -> None:
        self.link = link
        self.fd = link.fileno()  # kept: the loop must forget it even after the link has closed
        self.pid = link.peer.pid
        self.bad_frames = 0
        self.born_s = time.monotonic()
        self.greeted = False
        self.paused = False
        self.waiting: deque[bytes] = deque()


class Listener(Protocol):
    """What the adapter does with lines. `turn_done` once after each batch: commit, then ack."""

    def line(self, agent: Agent, data: bytes) -> None: ...
    def overlong(self, agent: Agent) -> None: ...
    def gone(self, agent: Agent) -> None: ...
    def turn_done(self) -> None: ...


class AgentServer:
    """Binds at once; call only while holding the adapter's lock."""

    def __init__(self, loop: Loop, paths: Paths, listener: Listener) -> None:
        self._loop = loop
        self._listener = listener
        self._socket: socket.socket = listen(paths, FILE)
        self.agents: set[Agent] = set()
        self.refused = 0

    def open(self) -> None:
        """From now on agents are let in; those that knocked before have waited in the backlog."""
        self._loop.watch(self._socket.fileno(), self._accept)
        self._loop.every(SWEEP_MS, self._sweep)

    def send(self, agent: Agent, frame: wire.AnyOut) -> None:
        """Never waits; a peer that does not read is closed."""
        self.send_line(agent, wire.line(frame)[:-1])

    def send_line(self, agent: Agent, data: bytes) -> bool:
        """The same for a line that is ready, without its newline. False: the peer has gone."""
        if not agent.link.closed:
            agent.link.send(data)
            self._watch(agent)
        return not agent.link.closed

    def refuse(self, agent: Agent, code: str, expected: str) -> None:
        """An error frame, and the end of this connection."""
        self.refused += 1
        self.send(agent, wire.Error(code, expected))
        self._part(agent)

    def pause(self, agent: Agent) -> None:
        agent.paused = True
        self._watch(agent)

    def resume(self, agent: Agent) -> None:
        if agent.paused:
            agent.paused = False
            self._watch(agent)
            self._loop.after(0, lambda: self._work(agent))

    def close(self) -> None:
        for agent in list(self.agents):
            self._part(agent)
        with contextlib.suppress(KeyError):  # never opened
            self._loop.forget(self._socket.fileno())
        self._socket.close()

    # --- turns of the loop --------------------------------------------------------------------

    def _accept(self) -> None:
        while (link := accept(self._socket)) is not None:
            agent = Agent(link)
            self.agents.add(agent)
            self._watch(agent)
            if len(self.agents) > CONNECTIONS_MAX:
                self.refuse(agent, "busy", f"at most {CONNECTIONS_MAX} connections")

    def _ready(self, agent: Agent) -> None:
        agent.link.flush()
        if not agent.paused and not agent.link.closed:
            try:
                agent.waiting.extend(agent.link.receive())
            except LineTooLong:
                self._overlong(agent)
            self._work(agent)
            if not agent.greeted and agent.link.held > wire.HELLO_BYTES_MAX:
                self.refuse(agent, "hello", f"a hello of at most {wire.HELLO_BYTES_MAX} bytes")
            self._relieve()
        self._watch(agent)

    def _work(self, agent: Agent) -> None:
        """Lines in order, a bounded number, unless the listener wants to wait."""
        done = 0
        while agent.waiting and not agent.paused and done < LINES_TURN_MAX and self._has(agent):
            self._listener.line(agent, agent.waiting.popleft())
            done += 1
        self._listener.turn_done()
        if agent.waiting and not agent.paused and self._has(agent):
            self._loop.after(0, lambda: self._work(agent))
        self._watch(agent)

    def _overlong(self, agent: Agent) -> None:
        self._listener.overlong(agent)
        self.refuse(agent, "too_large", f"a line of at most {wire.LINE_BYTES_MAX} bytes")

    def _sweep(self) -> None:
        now_s = time.monotonic()
        for agent in list(self.agents):
            if not agent.greeted and (now_s - agent.born_s) * 1000 > wire.HELLO_MS:
                self.refuse(agent, "hello", f"a hello within {wire.HELLO_MS} ms")

    def _relieve(self) -> None:
        held = {agent: agent.link.held for agent in self.agents}
        if sum(held.values()) > HELD_BYTES_MAX:
            greediest = max(held, key=lambda agent: held[agent])
            self.refuse(greediest, "busy", f"at most {HELD_BYTES_MAX} bytes held for all agents")

    def _has(self, agent: Agent) -> bool:
        return agent in self.agents

    def _watch(self, agent: Agent) -> None:
        """Reading unless paused, writing while something waits. A peer that has gone is parted
        with when its last line has been worked through: it may never come to say it again."""
        if not self._has(agent):
            return
        if agent.link.closed:
            self._forget(agent)
            if not agent.waiting:
                self._part(agent)
        elif agent.paused and not agent.link.wants_write:
            self._forget(agent)
        else:
            self._loop.watch(agent.fd, lambda: self._ready(agent), write=agent.link.wants_write)

    def _part(self, agent: Agent) -> None:
        if self._has(agent):
            self.agents.discard(agent)
            self._forget(agent)
            agent.link.close()
            self._listener.gone(agent)

    def _forget(self, agent: Agent) -> None:
        with contextlib.suppress(KeyError):  # it may not be watched just now
            self._loop.forget(agent.fd)
