"""`human.sock`: people's connections, who they are, and corrections that wait for a click.

    a person at a terminal            taken at once
    our own page (has the run's key)  taken at once, and may confirm what waits
    not sure (`who.py`)               a correction waits, all else is refused
    descends from an agent            refused

What waits is kept in memory only, bounded, and shown by the page; a restart forgets it.
"""

from __future__ import annotations

import hmac
import socket
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, cast

import msgspec

from ...reducer.vocabulary.answer import Rejected
from ...reducer.vocabulary.codec import Malformed, decode_untrusted, encode
from ...reducer.vocabulary.people import HumanIntentPatch
from ..lines import LineTooLong
from ..loop import Loop
from ..messages import (
    AllWaiting,
    AnyHumanRequest,
    Confirm,
    Correct,
    Done,
    Focus,
    Greet,
    ListWaiting,
    Purge,
    Refused,
    SubmitByHand,
    Taken,
    Waiting,
)
from ..paths import Paths
from ..redact.patches import SecretId
from ..unixsock import Connection, accept, listen
from .cleaning import cleaned
from .service import Outcome, Service

FILE: Final = "human.sock"
CONNECTIONS_MAX: Final = 32
WAITING_MAX: Final = 64

# Runs work that writes inside a transaction and publishes what it did; None: it failed.
Commit = Callable[[Callable[[], Outcome]], Outcome | None]


class Desk:
    """Answers people. `agents`: pids connected as agents, as the adapter last told."""

    def __init__(
        self,
        loop: Loop,
        paths: Paths,
        key: str,
        service: Service,
        commit: Commit,
        publish: Callable[[Outcome], None],
    ) -> None:
        self._loop = loop
        self._key = key
        self._service = service
        self._commit = commit
        self._publish = publish
        self._path = paths.socket(FILE)
        self._listener: socket.socket = listen(paths, FILE)
        self._connections: dict[int, Caller] = {}
        self._waiting: OrderedDict[str, Waiting] = OrderedDict()
        self.agents: frozenset[int] = frozenset()
        loop.watch(self._listener.fileno(), self._accept)

    def close(self) -> None:
        self._listener.close()
        self._path.unlink(missing_ok=True)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    # --- connections --------------------------------------------------------------------------

    def _accept(self) -> None:
        while (link := accept(self._listener)) is not None:
            if len(self._connections) >= CONNECTIONS_MAX:
                link.send(encode(Refused("busy", f"at most {CONNECTIONS_MAX} connections")))
                link.close()
                continue
            fd = link.fileno()
            self._connections[fd] = Caller(link)
            self._loop.watch(fd, lambda fd=fd: self._ready(fd))

    def _ready(self, fd: int) -> None:
        caller = self._connections[fd]
        link = caller.link
        link.flush()
        try:
            for line in link.receive():
                link.send(self._answer(caller, line))
        except LineTooLong as error:
            link.send(encode(Refused("too_large", str(error))))
            link.close()
        if link.closed:
            self._loop.forget(fd)
            link.close()
            del self._connections[fd]
        else:
            self._loop.watch(fd, lambda: self._ready(fd), write=link.wants_write)

    def _answer(self, caller: Caller, line: bytes) -> bytes:
        try:
            request = decode_untrusted(line, cast("type[AnyHumanRequest]", AnyHumanRequest))
        except Malformed as error:
            return encode(Refused("malformed", f"{error.path}: {error.expected}"[:200]))
        try:
            return self._do(caller, cleaned(request))
        except SecretId as secret:
            return encode(Rejected(0, (secret.fault,)))

    def _do(self, caller: Caller, request: AnyHumanRequest) -> bytes:
        if isinstance(request, Greet):
            caller.is_page = hmac.compare_digest(request.key, self._key) and bool(self._key)
            return encode(Done() if caller.is_page else Refused("key", "the key of this run"))
        if isinstance(request, ListWaiting):
            return encode(AllWaiting(tuple(self._waiting.values())))
        standing, because, detail = caller.judge(self.agents)
        if standing == "refused":
            return encode(Refused("not_a_person", f"{because} {detail}".strip()))
        if isinstance(request, Correct) and standing == "unconfirmed":
            return self._keep(request.correction, because, detail)
        if isinstance(request, Confirm):
            return self._confirm(caller, request)
        if standing == "unconfirmed":
            return encode(Refused("unconfirmed", f"a person at a terminal ({because})"))
        return self._take(request)

    # --- what they ask ------------------------------------------------------------------------

    def _take(self, request: Correct | SubmitByHand | Focus | Purge) -> bytes:
        service = self._service
        if isinstance(request, Purge):
            purged = service.purge(request.session_id)
            self._publish(purged)
            return purged.answer
        if isinstance(request, Correct):
            outcome = self._commit(lambda: service.correct(request.correction))
        elif isinstance(request, SubmitByHand):
            patch = bytes(request.patch)
            outcome = self._commit(
                lambda: service.patch_by_hand(request.session_id, patch, proposal=request.proposal)
            )
        else:
            outcome = self._commit(lambda: service.focus(request.session_id, request.focused))
        if outcome is None:
            return encode(Refused("log_unavailable", "try again; `wayfinder doctor` tells more"))
        return outcome.answer

    def _keep(self, correction: HumanIntentPatch, because: str, detail: str) -> bytes:
        now_ms = time.time_ns() // 1_000_000
        key = correction.correction_id
        self._waiting[key] = Waiting(
            msgspec.structs.replace(correction, confirmed=False), because, detail, now_ms
        )
        while len(self._waiting) > WAITING_MAX:
            self._waiting.popitem(last=False)
        return encode(Taken(key, 0, confirmed=False, because=because))

    def _confirm(self, caller: Caller, request: Confirm) -> bytes:
        if not caller.is_page:
            return encode(Refused("not_the_page", "a click in the page: `wayfinder open`"))
        waiting = self._waiting.pop(request.correction_id, None)
        if waiting is None:
            return encode(Refused("unknown_id", "a correction that waits"))
        return self._take(Correct(waiting.correction)) if request.accepted else encode(Done())


class Caller:
    """One connection. Judged at each request: an agent may connect after its child did."""

    def __init__(self, link: Connection) -> None:
        self.link = link
        self.accepted_at_s = time.time()
        self.is_page = False

    def judge(self, agents: frozenset[int]) -> tuple[str, str, str]:
        """(standing, reason code, detail)."""
        from ..who import judge, line_of  # psutil is loaded when the first person calls

        peer = self.link.peer
        page = (peer.pid,) if self.is_page else ()
        caller = judge(peer, line_of(peer.pid, self.accepted_at_s), agents=agents, page=page)
        return str(caller.standing), caller.reason, caller.detail
