"""`human.sock` for the page: one greeted connection, used one request at a time, off the loop.

The key of this run proves to the reconciler that this is our page: what it sends was clicked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from ...daemon.messages import AllWaiting, AnyHumanRequest, Done, Greet, ListWaiting
from ...daemon.paths import Paths
from ...reducer.people.oneline import Aimed, aim, parse
from ...reducer.vocabulary.people import HumanIntentPatch
from ..human import Answered, DaemonAway, HumanLine, new_id


class People:
    def __init__(self, paths: Paths, key: str) -> None:
        self._paths = paths
        self._key = key
        self._line: HumanLine | None = None
        self._lock = asyncio.Lock()

    async def ask(self, request: AnyHumanRequest) -> Answered:
        """Raises DaemonAway. A broken connection is made anew once: the reconciler may have been
        restarted, and a correction sent twice is taken once."""
        async with self._lock:
            return await asyncio.to_thread(self._ask, request)

    async def waiting(self) -> AllWaiting:
        """Corrections that wait for a click; none while the daemon is away."""
        try:
            answer = await self.ask(ListWaiting())
        except DaemonAway:
            return AllWaiting(())
        return answer if isinstance(answer, AllWaiting) else AllWaiting(())

    def _ask(self, request: AnyHumanRequest) -> Answered:
        if self._line is not None:
            try:
                return self._line.ask(request)
            except DaemonAway:
                self._line.close()
                self._line = None
        line = HumanLine(self._paths)
        try:
            if not isinstance(line.ask(Greet(self._key)), Done):
                raise DaemonAway("the daemon does not know this page; open it anew")
            answer = line.ask(request)
        except BaseException:
            line.close()
            raise
        self._line = line
        return answer


def understood(text: str, view: Mapping[str, Any]) -> Aimed:
    """What one line means, given the steps that the person sees."""
    steps = view["scene"]["steps"]
    live = {key: s["intent"] for key, s in steps.items() if s["state"] not in _DEAD}
    active = next((key for key, s in steps.items() if s["state"] == "active"), None)
    return aim(parse(text), text, live, active)


_DEAD = frozenset({"retired", "superseded"})


def correction(
    session_id: str, said: Mapping[str, Any], view: Mapping[str, Any]
) -> HumanIntentPatch:
    """From what the page sends. Without a type the words decide. Raises msgspec.ValidationError."""
    fields = {name: said.get(name) for name in ("type", "text", "targetId", "otherId")}
    if fields["type"] is None:
        aimed = understood(str(fields["text"] or ""), view)
        fields |= {"type": aimed.type.value, "text": aimed.text, "targetId": aimed.target_id}
    return msgspec.convert(
        {
            "correctionId": new_id("cor"),
            "sessionId": session_id,
            "baseRevision": view["revision"],
            "confirmed": True,
            **fields,
        },
        HumanIntentPatch,
    )
