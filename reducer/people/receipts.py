"""Whether a correction was heard: sent → in the turn → acknowledged → obeyed or violated.

The first two are told by the adapter; the rest follow from what the agent declares and does
*after the correction stood in one of its requests* (by position, so a patch already under way is
no answer). One table says what obeyed, violated and unknown mean for each type:

    type         obeyed: the first act after it …       violated: it …           else unknown
    text         (words cannot be judged)                                         always
    goal         a patch with a way to that goal                                  no such patch yet
    retire       is elsewhere                            is on that step
    wrong_step   is elsewhere                            is on that step
    supersede    is elsewhere                            is on the old step
    only         is on that step, or serves it           is on another step       no step active
    gate         is not on the guarded step, or the      is on the guarded step
                 agent stops and asks                    while the gate is shut
    open_gate    is on the guarded step                                           anything else
    redescribe   a patch takes the step's contract up                             no such patch yet
    accept, reject                                                                always

An act is a completed episode that began after it, or a counted patch; the earlier one decides.
Lapsed: taken back, or its step completed, before any of that. Final stages come once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from ..alignment.association import associate
from ..alignment.commitments import within
from ..net.locks import serves
from ..session.state import CorrectionRecord, EpisodeRecord, PatchRecord, Receipt, Session
from ..vocabulary.event import ConstraintReceipted
from ..vocabulary.people import CorrectionType, ReceiptStage
from ..vocabulary.terms import Channel, GateState, TransitionState
from .constraints import is_delivered

FINAL: Final = frozenset({ReceiptStage.OBEYED, ReceiptStage.VIOLATED, ReceiptStage.LAPSED})


class Acts(Struct, frozen=True):
    """What followed a correction. `told`: it stood in a request; acts count only after that."""

    session: Session
    record: CorrectionRecord
    told: Receipt
    episode: EpisodeRecord | None  # the first that began after it
    patch: PatchRecord | None  # the agent's first counted one after it
    patches: tuple[PatchRecord, ...]  # all of the agent's after it

    @property
    def target(self) -> str:
        return self.record.correction.target_id or ""

    @property
    def first_on(self) -> str | None:
        """The step of the first act; an act while nothing is active has none."""
        episode, patch = self.episode, self.patch
        if episode is None:
            return patch.active_transition_id if patch is not None else None
        if patch is None or episode.episode.from_position < patch.position:
            return associate(self.session, episode).transition_id
        return patch.active_transition_id

    @property
    def acted(self) -> bool:
        return self.episode is not None or self.patch is not None


def due(session: Session, now_ms: int) -> tuple[ConstraintReceipted, ...]:
    """Receipts that follow from the session as it stands and are not written yet."""
    return tuple(
        receipt
        for record in session.corrections.values()
        if is_delivered(record.correction.type) and not _stages(record) & FINAL
        for receipt in _of(session, record, now_ms)
    )


def _of(session: Session, record: CorrectionRecord, now_ms: int) -> Iterator[ConstraintReceipted]:
    """At most one acknowledgement and one final stage, in that order."""
    stages, acts = _stages(record), _acts(session, record)
    position = session.stream_position

    def receipt(stage: ReceiptStage, because: str) -> ConstraintReceipted:
        key = record.correction.correction_id
        return ConstraintReceipted(key, stage, now_ms, because, position)

    if record.undone_by is not None:
        yield receipt(ReceiptStage.LAPSED, "taken_back")
        return
    if acts is not None and acts.patches and ReceiptStage.ACKNOWLEDGED not in stages:
        yield receipt(ReceiptStage.ACKNOWLEDGED, "patch_after")
    judged = _JUDGES[record.correction.type](acts) if acts is not None else None
    if judged is not None:
        obeyed = judged is ReceiptStage.OBEYED
        yield receipt(judged, "acted_within" if obeyed else "acted_against")
    elif _target_completed(session, record):
        yield receipt(ReceiptStage.LAPSED, "target_completed")


def _stages(record: CorrectionRecord) -> set[ReceiptStage]:
    return {receipt.stage for receipt in record.receipts}


def _acts(session: Session, record: CorrectionRecord) -> Acts | None:
    told = next((each for each in record.receipts if each.stage is ReceiptStage.IN_TURN), None)
    if told is None:
        return None
    after = told.position or record.position
    patches = tuple(
        patch
        for patch in session.patches
        if patch.source is Channel.DECLARED_PATH and patch.position > after
    )
    began = (each for each in session.episodes.values() if each.episode.from_position > after)
    return Acts(
        session=session,
        record=record,
        told=told,
        episode=next(began, None),
        patch=next((patch for patch in patches if patch.opens_window), None),
        patches=patches,
    )


def _target_completed(session: Session, record: CorrectionRecord) -> bool:
    step = session.net.transitions.get(record.correction.target_id or "")
    if step is None or step.state is not TransitionState.COMPLETED:
        return False
    return step.changed_revision > record.revision


# --- what obeyed and violated mean ------------------------------------------------------------


def _words(_: Acts) -> ReceiptStage | None:
    return None


def _leave(acts: Acts) -> ReceiptStage | None:
    if not acts.acted:
        return None
    still = within(acts.session, acts.first_on, acts.target)
    return ReceiptStage.VIOLATED if still else ReceiptStage.OBEYED


def _only(acts: Acts) -> ReceiptStage | None:
    net, on = acts.session.net, acts.first_on
    step, wanted = net.transitions.get(on or ""), net.transitions.get(acts.target)
    if step is None or wanted is None:
        return None
    kept = within(acts.session, on, acts.target) or serves(net, step, wanted)
    return ReceiptStage.OBEYED if kept else ReceiptStage.VIOLATED


def _gate(acts: Acts) -> ReceiptStage | None:
    session, correction = acts.session, acts.record.correction
    lock = session.net.locks.get(correction.correction_id)
    if lock is None:  # opened by the person since
        return None
    gate = session.net.places.get(lock.gate_id or acts.target)
    if gate is None or gate.gate_state is GateState.OPEN:
        return None
    if acts.acted:
        return ReceiptStage.VIOLATED if _guarded(acts, gate.place_id) else ReceiptStage.OBEYED
    stopped = session.settled is not None and session.settled_at >= acts.told.at
    return ReceiptStage.OBEYED if stopped else None


def _open_gate(acts: Acts) -> ReceiptStage | None:
    """The target is the gate, or a step that reads it."""
    on_target = within(acts.session, acts.first_on, acts.target)
    return ReceiptStage.OBEYED if on_target or _guarded(acts, acts.target) else None


def _guarded(acts: Acts, gate_id: str) -> bool:
    readers = acts.session.net.read_by.get(gate_id, ())
    return any(within(acts.session, acts.first_on, reader) for reader in readers)


def _goal(acts: Acts) -> ReceiptStage | None:
    """A patch after it, and from the step now active a way of success to the goal."""
    net = acts.session.net
    goal = net.goal.place_id if net.goal is not None else None
    start = acts.patches[-1].active_transition_id if acts.patches else None
    if goal is None or start is None:
        return None
    ahead, seen = [start], {start}
    while ahead:
        step = net.transitions[ahead.pop()]
        if step.success == goal:
            return ReceiptStage.OBEYED
        later = net.flows_from.get(step.success or "", ())
        ahead += [each for each in later if each not in seen]
        seen.update(later)
    return None


def _redescribe(acts: Acts) -> ReceiptStage | None:
    """The agent restated the step's contract (its target changed after the person's words)."""
    step = acts.session.net.transitions.get(acts.target)
    restated = any("transition.contract_set" in patch.kinds for patch in acts.patches)
    if step is None or not restated or step.changed_revision <= acts.record.revision:
        return None
    return ReceiptStage.OBEYED


_JUDGES: Final[dict[CorrectionType, Callable[[Acts], ReceiptStage | None]]] = {
    CorrectionType.TEXT: _words,
    CorrectionType.GOAL: _goal,
    CorrectionType.RETIRE: _leave,
    CorrectionType.WRONG_STEP: _leave,
    CorrectionType.SUPERSEDE: _leave,
    CorrectionType.ONLY: _only,
    CorrectionType.GATE: _gate,
    CorrectionType.OPEN_GATE: _open_gate,
    CorrectionType.REDESCRIBE: _redescribe,
    CorrectionType.ACCEPT: _words,
    CorrectionType.REJECT: _words,
}
