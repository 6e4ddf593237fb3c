"""What takes a correction back. An undo is a correction too: nothing of the record is deleted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..net.rules import is_live
from ..session.state import CorrectionRecord
from ..vocabulary.patch import CreatePlace, MarkGate
from ..vocabulary.people import CorrectionType
from ..vocabulary.terms import GateState, PlaceType
from .asking import Ask, Ops, impossible, label_of
from .revive import free_id, revived


def undo(ask: Ask) -> Ops:
    corrections = ask.session.corrections
    record = corrections.get(ask.correction.target_id or "")
    if record is None or record.undone_by is not None:
        standing = [key for key, each in corrections.items() if each.undone_by is None]
        raise impossible("unknown_id", "targetId", "a standing correction", standing)
    way_back = _UNDO.get(record.correction.type)
    if way_back is None:
        hint = _INSTEAD.get(record.correction.type, "another correction")
        raise impossible("not_undoable", "targetId", hint, ())
    return way_back(ask, record)


def _word_only(_: Ask, __: CorrectionRecord) -> Ops:
    """Taking the word back is all: the lock and the constraint end with it."""
    return ()


def _undo_goal(ask: Ask, record: CorrectionRecord) -> Ops:
    """The goal before it comes back, as a new place. Without one, only the lock ends."""
    session, now = ask.session, ask.session.net.goal
    before = [root for root in session.roots if root.seq < record.seq and root.place_id]
    if not before or now is None or now.place_id is None:
        return ()
    return (
        CreatePlace(
            place_id=free_id(session.net, "pl_goal"),
            type=PlaceType.GOAL,
            label=label_of(before[-1].text),
            replaces_goal_id=now.place_id,
            reason="taken back by a person",
        ),
    )


def _undo_gate(ask: Ask, record: CorrectionRecord) -> Ops:
    net = ask.session.net
    lock = net.locks.get(record.correction.correction_id)
    gate = net.places.get((lock.gate_id or lock.target_id or "") if lock is not None else "")
    if gate is None or gate.gate_state in (None, GateState.OPEN):
        return ()
    return (MarkGate(gate.place_id, GateState.OPEN),)


def _undo_ending(ask: Ask, record: CorrectionRecord) -> Ops:
    """What was retired or superseded stays so; a copy of it stands in the same place."""
    net = ask.session.net
    step = net.transitions.get(record.correction.target_id or "")
    return revived(net, step) if step is not None and not is_live(step) else ()


_UNDO: Final[dict[CorrectionType, Callable[[Ask, CorrectionRecord], Ops]]] = {
    CorrectionType.TEXT: _word_only,
    CorrectionType.ONLY: _word_only,
    CorrectionType.WRONG_STEP: _word_only,
    CorrectionType.REASSOCIATE: _word_only,
    CorrectionType.GOAL: _undo_goal,
    CorrectionType.GATE: _undo_gate,
    CorrectionType.RETIRE: _undo_ending,
    CorrectionType.SUPERSEDE: _undo_ending,
}
_INSTEAD: Final[dict[CorrectionType, str]] = {
    CorrectionType.OPEN_GATE: "a new gate (--gate) in its place",
    CorrectionType.REDESCRIBE: "a new description (--redescribe) in its place",
}
