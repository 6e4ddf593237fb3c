"""Real processes of ours for benchmarks, in folders of their own, and what is sent to them."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Raw

from wayfinder.daemon import processes
from wayfinder.daemon.bus import Bus, Caller
from wayfinder.daemon.loop import Loop
from wayfinder.daemon.messages import SubmitPatch
from wayfinder.daemon.paths import Paths, prepare
from wayfinder.daemon.settings import Settings
from wayfinder.reducer.vocabulary.codec import encode
from wayfinder.reducer.vocabulary.observation import SessionInfo

KEY = "k" * 64


@contextlib.contextmanager
def started(*names: str) -> Iterator[Paths]:
    """The named processes, ready, started as the supervisor does; gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="wf-"))
    paths = Paths(folder / "run", folder / "state", folder / "config")
    prepare(paths)
    running = []
    try:
        for process in processes.chosen(names):
            child = processes.start(process, paths, KEY, Settings())
            running.append(child)
            os.set_blocking(child.reports, True)
            said = os.read(child.reports, 4096)
            assert b"ready" in said, said
        yield paths
    finally:
        for child in running:
            child.popen.kill()
            child.popen.wait()
            child.close()
        shutil.rmtree(folder, ignore_errors=True)


class Client:
    """Sends patches and takes answers, on one loop."""

    def __init__(self, paths: Paths) -> None:
        self.bus = Bus(paths, name="bench", key=KEY)
        self.loop = Loop()
        self.patches: Caller = self.bus.caller("patch.ipc")
        self.answered: dict[bytes, bytes] = {}
        self.loop.watch(self.patches.socket, self._take)

    def until(self, done: Callable[[], object]) -> None:
        while not done():
            self.loop.turn(100)

    def send(self, request_id: bytes, body: bytes) -> None:
        while not self.patches.send(request_id, body):
            self.loop.turn(1)

    def _take(self) -> None:
        while (got := self.patches.receive()) is not None:
            self.answered[got[0]] = got[1]


def patch(session: str, number: int) -> bytes:
    """Five ops on the net as the patches before left it: a place, a step, its arcs, evidence."""
    step, flow, end = (
        f"tr_{number}",
        "pl_start" if number == 0 else f"pl_{number}",
        f"pl_{number + 1}",
    )
    ops = [
        {"op": "create_place", "placeId": end, "type": "Condition", "label": f"{end} is known"},
        {"op": "create_transition", "transitionId": step, "type": "Investigate",
         "intent": f"narrow {step}", "whyNow": "the signature is stable",
         "action": "run the test with a trace", "expectedEvidence": ["the same failure twice"],
         "exitCondition": "one boundary is left"},
        {"op": "connect", "fromId": flow, "toId": step, "arc": "flow"},
        {"op": "connect", "fromId": step, "toId": end, "arc": "success"},
        {"op": "attach_evidence", "targetId": step, "evidence": {"summary": f"noted {number}"}},
    ]  # fmt: skip
    body = {"patchId": f"patch_{number}", "baseRevision": number,
            "idempotencyKey": f"call_{number}", "ops": ops}  # fmt: skip
    info = SessionInfo(session, agent="pi")
    return encode(SubmitPatch(info, "main", number + 1, Raw(encode(body))))
