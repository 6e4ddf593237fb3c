"""The process: a socket on loopback, the door, and one asyncio loop for all of it."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import Any, Final

import uvicorn

from ...daemon.child import Child
from ...daemon.lines import LineTooLong
from ...daemon.unixsock import Connection, accept, listen
from . import door
from .app import Site, application

WAITING_EVERY_S: Final = 2.0
IDLE_S: Final = 600.0  # without any page; a hidden one says every few minutes that it is there
CONNECTIONS_MAX: Final = 256
HEADER_BYTES_MAX: Final = 16 << 10


class Service:
    def __init__(self, child: Child) -> None:
        self._child = child
        self._loop = asyncio.get_running_loop()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        port = self._socket.getsockname()[1]
        self._site = Site(child.paths, child.key, port)
        self._site.failed = lambda error: child.log.error("request_failed", error)
        self._door = door.Door(child.key, f"http://127.0.0.1:{port}", self._site.tickets)
        self._listener = listen(child.paths, door.FILE)
        self._path = child.paths.socket(door.FILE)
        self._server = uvicorn.Server(
            uvicorn.Config(
                application(self._site),
                log_config=None,
                access_log=False,  # a request line may hold what a person looked for
                server_header=False,
                date_header=False,
                proxy_headers=False,
                lifespan="off",
                http="h11",
                ws="none",
                limit_concurrency=CONNECTIONS_MAX,
                h11_max_incomplete_event_size=HEADER_BYTES_MAX,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=1,
            )
        )

    async def run(self) -> None:
        child = self._child
        child.on_stop = self._stop
        child.stats = self._site.stats
        self._loop.add_reader(child.fd, child.turn)
        self._loop.add_reader(self._listener.fileno(), self._accept)
        watching = self._loop.create_task(self._watch_waiting())
        self._door.opened = lambda _: self._site.hear()
        self._loop.call_later(IDLE_S, self._end_if_idle)
        child.ready()
        try:
            await self._server.serve(sockets=[self._socket])
        finally:
            watching.cancel()
            self._path.unlink(missing_ok=True)
            self._site.feeds.close()

    def _stop(self) -> None:
        self._server.should_exit = True

    def _end_if_idle(self) -> None:
        """Nobody looks: the process ends, and `wayfinder open` starts another."""
        left_s = IDLE_S - self._site.idle_s()
        if left_s <= 0:
            self._child.log.info("idle")
            self._stop()
        else:
            self._loop.call_later(max(left_s, 1.0), self._end_if_idle)

    def _accept(self) -> None:
        while (connection := accept(self._listener)) is not None:
            self._loop.add_reader(connection.fileno(), self._hear, connection)

    def _hear(self, connection: Connection) -> None:
        fd = connection.fileno()
        with suppress(LineTooLong):
            for line in connection.receive():
                connection.send(self._door.answer(connection, line))
        self._loop.remove_reader(fd)
        connection.close()

    async def _watch_waiting(self) -> None:
        """The reconciler keeps what waits for a click; pages that look on are told of changes."""
        told: list[dict[str, Any]] = []
        while True:
            await asyncio.sleep(WAITING_EVERY_S)
            if not self._site.feeds.pages:
                continue
            waiting = await self._site.waiting()
            if waiting != told:
                told = waiting
                self._site.feeds.tell_all({"t": "waiting", "items": waiting})


def main(child: Child) -> None:
    async def serve() -> None:
        await Service(child).run()

    asyncio.run(serve())
