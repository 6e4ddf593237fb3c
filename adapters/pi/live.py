"""Pi's live frames → observations and notes, by the functions its file reader uses too.

    prompt      Prompted
    call_end    Called (and Planned, for a tool that publishes a plan)
    reply       Patched for each update_action_path call it holds; Settled unless tools run now
    compact     Noted                        tree   Noted, with the next of the above
    the others  live notes only: the session file does not know them

What is raw in a frame ends here: drafts pass `normalise.clean` next, as those from a file do.
The result of an update_action_path call is no observation: its place is the reply that made it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from ...reducer.vocabulary.observation import AnyObservation, NoteCode, Planned
from .. import wire
from ..normalise.calls import Place
from ..normalise.plans import PlanLedger
from ..privacy import Privacy
from ..sessions import Heard, Note
from . import normal


class PiLive:
    """One session's translator. Keeps the published plan, which `resume` gives back to it."""

    def __init__(self, cwd: str, privacy: Privacy) -> None:
        self._privacy = privacy
        self._place = Place(cwd, privacy.refs)
        self._plan = PlanLedger()
        self._branched = False

    def resume(self, plan: Planned | None) -> None:
        self._plan = PlanLedger(plan)

    def hear(self, frame: wire.Obs) -> Heard:
        heard = _HEARD[type(frame)](self, frame)
        if not heard.observations or not self._branched:
            return heard
        # The file shows another branch only when something is written on it.
        self._branched = False
        branched = normal.noted(NoteCode.BRANCH, frame.at)
        return replace(heard, observations=(branched, *heard.observations))

    def prompt(self, frame: wire.Prompt) -> Heard:
        return Heard((normal.prompted(frame.text, frame.at),))

    def call_start(self, frame: wire.CallStart) -> Heard:
        return Heard(notes=(Note("tool_started", self._privacy.line(frame.tool), frame.call_id),))

    def call_end(self, frame: wire.CallEnd) -> Heard:
        end = normal.Ended(
            call_id=frame.call_id,
            tool=frame.tool,
            at=frame.at,
            is_error=frame.is_error,
            args=frame.args,
            text=frame.text,
            details=frame.details,
            exit_code=frame.exit_code,
            entry_id=frame.leaf,
        )
        return Heard(
            observations=tuple(normal.ended(end, self._place, self._plan)),
            notes=(Note("tool_ended", self._privacy.line(frame.tool), frame.call_id),),
            duration=None if frame.duration_ms is None else (frame.call_id, frame.duration_ms),
        )

    def reply(self, frame: wire.Reply) -> Heard:
        found: tuple[AnyObservation, ...] = tuple(
            normal.replied(
                frame.stop_reason,
                frame.at,
                calls=len(frame.calls),
                patches=frame.patches,
                error=frame.error or "",
            )
        )
        return Heard(found)

    def compact(self, frame: wire.Compact) -> Heard:
        return Heard((normal.noted(NoteCode.COMPACTION, frame.at),))

    def tree(self, _: wire.Tree) -> Heard:
        self._branched = True
        return Heard()

    def ui(self, frame: wire.Ui) -> Heard:
        name = frame.title or frame.kind
        what = "waiting" if frame.open else "resumed"
        return Heard(notes=(Note(what, self._privacy.line(name) if name else None),))

    def nothing(self, _: wire.Obs) -> Heard:
        return Heard()


_HEARD: Final[dict[type[Any], Callable[[PiLive, Any], Heard]]] = {
    wire.Prompt: PiLive.prompt,
    wire.CallStart: PiLive.call_start,
    wire.CallEnd: PiLive.call_end,
    wire.Reply: PiLive.reply,
    wire.Compact: PiLive.compact,
    wire.Tree: PiLive.tree,
    wire.Ui: PiLive.ui,
    wire.Settled: PiLive.nothing,
    wire.Receipt: PiLive.nothing,
    wire.Shutdown: PiLive.nothing,
}
