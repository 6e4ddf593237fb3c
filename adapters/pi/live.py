"""Pi's live frames → observations and notes, by the functions its file reader uses too.

    prompt      Prompted
    call_end    Called (and Planned, for a tool that publishes a plan)
    reply       Patched for each update_action_path call it holds; Settled unless tools run now
    compact     Noted                        tree   Noted
    the others  live notes only: the session file does not know them

What is raw in a frame ends here. The result of an update_action_path call is no observation: its
place in the order is the reply that made it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...reducer.vocabulary.observation import (
    AnyObservation,
    Called,
    NoteCode,
    Noted,
    Patched,
    Prompted,
    Settled,
    SettleReason,
)
from ...reducer.vocabulary.terms import EpisodeKind, Outcome
from .. import wire
from ..normalise import outcomes, shell, signatures, tools
from ..privacy import Privacy
from ..sessions import Heard, Note

PATH_TOOL: Final = "update_action_path"


class PiLive:
    """One session's translator; keeps nothing between frames."""

    def __init__(self, privacy: Privacy) -> None:
        self._privacy = privacy

    def hear(self, frame: wire.Obs) -> Heard:
        return _HEARD[type(frame)](self, frame)

    def prompt(self, frame: wire.Prompt) -> Heard:
        return Heard((Prompted(0, frame.at, self._privacy.line(frame.text)),))

    def call_start(self, frame: wire.CallStart) -> Heard:
        return Heard(notes=(Note("tool_started", self._privacy.line(frame.tool), frame.call_id),))

    def call_end(self, frame: wire.CallEnd) -> Heard:
        notes = (Note("tool_ended", self._privacy.line(frame.tool), frame.call_id),)
        duration = None if frame.duration_ms is None else (frame.call_id, frame.duration_ms)
        if frame.tool == PATH_TOOL:
            return Heard((), notes, duration)
        return Heard((self._called(frame),), notes, duration)

    def reply(self, frame: wire.Reply) -> Heard:
        found: list[AnyObservation] = [Patched(0, frame.at, call) for call in frame.patches]
        reason = _reason(frame)
        if reason is not None:
            found.append(Settled(0, frame.at, reason))
        return Heard(tuple(found))

    def compact(self, frame: wire.Compact) -> Heard:
        return Heard((Noted(0, frame.at, NoteCode.COMPACTION),))

    def tree(self, frame: wire.Tree) -> Heard:
        return Heard((Noted(0, frame.at, NoteCode.BRANCH),))

    def ui(self, frame: wire.Ui) -> Heard:
        name = frame.title or frame.kind
        what = "waiting" if frame.open else "resumed"
        return Heard(notes=(Note(what, self._privacy.line(name) if name else None),))

    def nothing(self, _: wire.Obs) -> Heard:
        return Heard()

    def _called(self, frame: wire.CallEnd) -> Called:
        command = str(frame.args.get("command") or "") if tools.is_shell(frame.tool) else ""
        kind = shell.understand(command).kind if command else tools.kind_of(frame.tool)
        outcome = _outcome(frame)
        refs = self._privacy.refs
        signature = signatures.signature(frame.text, kind, outcome, refs)
        if signature is not None:
            signature = type(signature)(
                signature.digest, kind, outcome, self._privacy.line(signature.sample)
            )
        path = frame.args.get("path")
        files = (refs.ref("path", path),) if isinstance(path, str) else ()
        canonical = shell.understand(command).canonical if command else ""
        return Called(
            position=0,
            at=frame.at,
            call_id=frame.call_id,
            tool=self._privacy.line(frame.tool),
            kind=kind,
            outcome=outcome,
            entry_id=frame.leaf,
            files_read=files if kind is EpisodeKind.INSPECT else (),
            files_changed=files if kind is EpisodeKind.EDIT and outcome is Outcome.OK else (),
            signature=signature,
            command_ref=refs.ref("command", canonical) if canonical else None,
        )


def _outcome(frame: wire.CallEnd) -> Outcome:
    if not frame.is_error:
        return Outcome.OK
    said = outcomes.said(frame.text)
    if said is not None:
        return said
    return Outcome.FAILED if tools.is_shell(frame.tool) else Outcome.TOOL_ERROR


def _reason(frame: wire.Reply) -> SettleReason | None:
    known = _REASONS.get(frame.stop_reason)
    if known is not SettleReason.ERROR:
        return known
    trouble = outcomes.provider_trouble(frame.error or "")
    return _TROUBLE.get(trouble, known) if trouble else known


_REASONS: Final = {
    "stop": SettleReason.STOP,
    "length": SettleReason.LENGTH,
    "aborted": SettleReason.ABORTED,
    "error": SettleReason.ERROR,
}
_TROUBLE: Final = {
    Outcome.RATE_LIMIT: SettleReason.RATE_LIMIT,
    Outcome.PROVIDER_OUTAGE: SettleReason.OUTAGE,
    Outcome.ABORTED: SettleReason.ABORTED,
}
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
