"""A run of patches through the reconciler's service, without sockets: what crash tests cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from wayfinder.daemon.eventlog.reader import Reader
from wayfinder.daemon.eventlog.writer import Writer
from wayfinder.daemon.messages import SubmitPatch
from wayfinder.daemon.reconciler.service import Service
from wayfinder.daemon.settings import Settings
from wayfinder.reducer.net.digest import net_digest
from wayfinder.reducer.session.fold import replay
from wayfinder.reducer.vocabulary.observation import SessionInfo

SESSION = "pi-crash"
INFO = SessionInfo(session_id=SESSION, agent="pi")
T0_MS = 1_780_000_000_000


def patch(number: int, revision: int) -> dict[str, Any]:
    """The n-th patch of the run: a step that starts where the one before ended."""
    start = "pl_start" if number == 0 else f"pl_{number - 1}"
    step = f"tr_{number}"
    return {
        "patchId": f"patch_{number}",
        "baseRevision": revision,
        "idempotencyKey": f"key_{number}",
        "ops": [
            {"op": "create_place", "placeId": f"pl_{number}", "type": "Condition", "label": "x"},
            {"op": "create_transition", "transitionId": step, "type": "Implement",
             "intent": f"step {number}", "expectedEvidence": ["seen"], "exitCondition": "known"},
            {"op": "connect", "fromId": start, "toId": step, "arc": "flow"},
            {"op": "connect", "fromId": step, "toId": f"pl_{number}", "arc": "success"},
            {"op": "activate_transition", "transitionId": step},
            {"op": "complete_transition", "transitionId": step},
        ],
    }  # fmt: skip


class Committing:
    """One service over one file. `submit` returns after COMMIT or raises what the log raised."""

    def __init__(self, path: Path, vfs: str | None = None) -> None:
        self.writer = Writer(path, vfs=vfs)
        self._now_ms = T0_MS
        self.service = Service(self.writer, Settings(), self._clock)

    def _clock(self) -> int:
        self._now_ms += 1
        return self._now_ms

    def submit(self, number: int, revision: int | None = None) -> dict[str, Any]:
        base = number if revision is None else revision
        body = msgspec.Raw(msgspec.json.encode(patch(number, base)))
        request = SubmitPatch(INFO, "main", number + 1, body)
        try:
            with self.writer.transaction():
                outcome = self.service.handle(request)
        except BaseException:
            self.service.forget()
            raise
        return msgspec.json.decode(outcome.answer)

    def digest(self) -> str:
        return net_digest(self.service.sessions.get(SESSION).net)

    def close(self) -> None:
        self.writer.close()


def folded(path: Path, vfs: str | None = None) -> tuple[int, str]:
    """(revision, digest) from the file alone, every batch's digest compared on the way."""
    reader = Reader.open(path, vfs=vfs)
    try:
        session = replay(reader.events(SESSION), SESSION, verify=True)
        return session.revision, net_digest(session.net)
    finally:
        reader.close()
