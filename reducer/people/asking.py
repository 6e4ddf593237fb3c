"""One correction being worked out: what it is about, and why it may not be possible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from ..net.patching import similar
from ..net.rules import is_live
from ..session.state import Session
from ..vocabulary.answer import Code, Fault
from ..vocabulary.ids import LABEL_CHARS_MAX
from ..vocabulary.patch import GraphPatch, PatchOp
from ..vocabulary.people import HumanIntentPatch

Ops = tuple[PatchOp, ...]
KNOWN_MAX: Final = 24


class NotPossible(Exception):
    """Why a correction cannot be taken. Never leaves `correct`."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"{fault.code} at {fault.path}")
        self.fault = fault


class Ask(Struct, frozen=True):
    """One correction being worked out. `proposal`: the stored patch an accept is about."""

    session: Session
    correction: HumanIntentPatch
    proposal: GraphPatch | None = None


def said(ask: Ask) -> str:
    if not ask.correction.text:
        raise impossible("malformed", "text", "a few words", ())
    return ask.correction.text


def live_step(ask: Ask) -> str:
    step = ask.session.net.transitions.get(ask.correction.target_id or "")
    if step is None:
        raise impossible("unknown_id", "targetId", "a step", steps(ask))
    if not is_live(step):
        expected = f"a live step; this one is {step.state}"
        raise impossible("not_live", "targetId", expected, steps(ask))
    return step.transition_id


def steps(ask: Ask) -> list[str]:
    live = {key: each for key, each in ask.session.net.transitions.items() if is_live(each)}
    return list(similar(ask.correction.target_id or "", live))


def impossible(code: Code, field: str, expected: str, known: Iterable[str] = ()) -> NotPossible:
    return NotPossible(Fault(code, f"$.{field}", expected, tuple(known)[:KNOWN_MAX]))


def label_of(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LABEL_CHARS_MAX else line[: LABEL_CHARS_MAX - 1] + "…"
