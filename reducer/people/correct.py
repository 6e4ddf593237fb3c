"""A person's correction: the events it becomes, or why not (seed, "人类纠正"; RULES 38, 39).

One function per type gives the ops the correction stands for; the net's own `decide` judges them
on the human channel, so a correction obeys every invariant and passes every lock. No ops: the
correction stands alone, as a word the agent gets and a lock where its type makes one.

Rules for editors of this file:
* History is superseded, never deleted; an undo is a correction of its own.
* Only what a person confirmed comes here: unconfirmed ones wait outside the log.
* A correction rebases unless the node it is about changed since the person looked at it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ..net.decide import Committed, decide
from ..net.patching import similar, where
from ..session.state import Session
from ..vocabulary.answer import Answer, Applied, Conflict, Rejected
from ..vocabulary.event import HumanCorrected, Payload
from ..vocabulary.patch import (
    AttachEvidence,
    Connect,
    CreatePlace,
    GraphPatch,
    MarkGate,
    RetireTransition,
    SetTransitionContract,
    SupersedeTransition,
)
from ..vocabulary.people import CorrectionType, HumanIntentPatch
from ..vocabulary.terms import ArcKind, Channel, GateState, PlaceType, TransitionState
from .asking import Ask, NotPossible, Ops, impossible, label_of, live_step, said, steps
from .revive import free_id
from .undo import undo


class Corrected(Struct, frozen=True):
    """`payloads`: a whole batch if `batch`, else one event that leaves the revision as it is."""

    payloads: tuple[Payload, ...]
    batch: bool
    answer: Applied | None = None


def correct(
    session: Session,
    correction: HumanIntentPatch,
    *,
    position: int,
    now_ms: int,
    proposal: GraphPatch | None = None,
) -> Corrected | Answer:
    """`position`: the last observation committed; the correction counts from there on.

    Answers Rejected or Conflict instead of Corrected; raises nothing for what a person may say.
    """
    ask = Ask(session, _completed(session, correction), proposal)
    net = session.net
    try:
        ops = _OPS[correction.type](ask)
    except NotPossible as reason:
        return Rejected(net.revision, (reason.fault,), where(net))
    stale = _stale(ask)
    if stale is not None:
        return stale
    opener = HumanCorrected(ask.correction, position)
    if not ops:
        return Corrected((opener,), batch=False)
    patch = GraphPatch(
        patch_id=correction.correction_id,
        base_revision=net.revision,
        idempotency_key=correction.correction_id,
        ops=ops,
    )
    decision = decide(
        net, patch, channel=Channel.HUMAN, position=position, now_ms=now_ms, opener=opener
    )
    if isinstance(decision, Committed):
        return Corrected(decision.payloads, batch=True, answer=decision.answer)
    if isinstance(decision, Rejected | Conflict):
        return decision
    return Corrected((opener,), batch=False)


def _completed(session: Session, correction: HumanIntentPatch) -> HumanIntentPatch:
    """A correction about "here" is about the active step."""
    active = session.net.active_transition()
    if correction.target_id is None and correction.type in _ABOUT_ACTIVE and active is not None:
        return replace(correction, target_id=active.transition_id)
    return correction


_ABOUT_ACTIVE: Final = frozenset(
    {
        CorrectionType.RETIRE,
        CorrectionType.GATE,
        CorrectionType.OPEN_GATE,
        CorrectionType.REDESCRIBE,
        CorrectionType.WRONG_STEP,
        CorrectionType.SUPERSEDE,
    }
)


def _stale(ask: Ask) -> Conflict | None:
    """RULES 38: only a change of the target itself makes what the person saw untrue."""
    net, correction = ask.session.net, ask.correction
    seen, target_id = correction.base_revision, correction.target_id or ""
    node = net.transitions.get(target_id) or net.places.get(target_id)
    if seen is None or node is None or node.changed_revision <= seen:
        return None
    return Conflict(net.revision, (target_id,), (), where(net))


# --- one function per type --------------------------------------------------------------------


def _text(ask: Ask) -> Ops:
    said(ask)
    return ()


def _goal(ask: Ask) -> Ops:
    net, text = ask.session.net, said(ask)
    standing = net.goal.place_id if net.goal is not None else None
    return (
        CreatePlace(
            place_id=free_id(net, "pl_goal"),
            type=PlaceType.GOAL,
            label=label_of(text),
            replaces_goal_id=standing,
            reason=text if standing is not None else None,
        ),
    )


def _retire(ask: Ask) -> Ops:
    """An active step cannot be retired: the agent is told, and must leave it (clause 1)."""
    step_id = live_step(ask)
    if ask.session.net.transitions[step_id].state is TransitionState.ACTIVE:
        return ()
    return (RetireTransition(step_id, ask.correction.text or "set aside by a person"),)


def _gate(ask: Ask) -> Ops:
    """A closed Gate of its own, read by the step: only a person opens it."""
    net, correction = ask.session.net, ask.correction
    state = correction.gate_state or GateState.CLOSED
    place = net.places.get(correction.target_id or "")
    if place is not None and place.type is PlaceType.GATE:
        return (MarkGate(place.place_id, state),)
    step_id = live_step(ask)
    gate_id = free_id(net, f"gate_{step_id}")
    label = label_of(correction.text or "a person decides")
    gate = CreatePlace(gate_id, PlaceType.GATE, label, gate_state=state)
    return (gate, Connect(gate_id, step_id, ArcKind.READ))


def _open_gate(ask: Ask) -> Ops:
    net, target_id = ask.session.net, ask.correction.target_id or ""
    step = net.transitions.get(target_id)
    wanted = step.reads if step is not None else (target_id,)
    gates = [net.places[each] for each in wanted if each in net.places]
    shut = [gate for gate in gates if gate.gate_state in (GateState.CLOSED, GateState.BLOCKED)]
    if not shut:
        known = [each.place_id for each in net.places.values() if each.gate_state]
        raise impossible("not_a_gate", "targetId", "a shut gate, or a step that reads one", known)
    return tuple(MarkGate(gate.place_id, GateState.OPEN) for gate in shut)


def _redescribe(ask: Ask) -> Ops:
    text, step_id = said(ask), live_step(ask)
    return (SetTransitionContract(step_id, intent=label_of(text)),)


def _only(ask: Ask) -> Ops:
    live_step(ask)
    return ()


def _wrong_step(ask: Ask) -> Ops:
    live_step(ask)
    return ()


def _reassociate(ask: Ask) -> Ops:
    session, correction = ask.session, ask.correction
    if correction.target_id not in session.episodes:
        newest = similar("", session.episodes)
        raise impossible("unknown_id", "targetId", "an episode", newest)
    if correction.other_id not in session.net.transitions:
        steps = similar(correction.other_id or "", session.net.transitions)
        raise impossible("unknown_id", "otherId", "a step it belongs to", steps)
    return ()


def _supersede(ask: Ask) -> Ops:
    old, new = live_step(ask), ask.correction.other_id
    if new is None:
        raise impossible("unknown_id", "otherId", "the step that takes its place", steps(ask))
    reason = ask.correction.text or "replaced by a person"
    return (SupersedeTransition(old, new, reason),)


def _accept(ask: Ask) -> Ops:
    """The agent's ops become a person's; its evidence must not, so it has to come as a patch."""
    if ask.proposal is None:
        raise impossible("unknown_id", "targetId", "a waiting proposal")
    if any(isinstance(op, AttachEvidence) for op in ask.proposal.ops):
        raise impossible(
            "evidence_type_not_allowed", "ops", "a proposal that brings no evidence of its own"
        )
    return ask.proposal.ops


def _reject(ask: Ask) -> Ops:
    if ask.correction.target_id is None:
        raise impossible("unknown_id", "targetId", "a waiting proposal")
    return ()


_OPS: Final[dict[CorrectionType, Callable[[Ask], Ops]]] = {
    CorrectionType.TEXT: _text,
    CorrectionType.GOAL: _goal,
    CorrectionType.RETIRE: _retire,
    CorrectionType.GATE: _gate,
    CorrectionType.OPEN_GATE: _open_gate,
    CorrectionType.REDESCRIBE: _redescribe,
    CorrectionType.ONLY: _only,
    CorrectionType.WRONG_STEP: _wrong_step,
    CorrectionType.REASSOCIATE: _reassociate,
    CorrectionType.SUPERSEDE: _supersede,
    CorrectionType.UNDO: undo,
    CorrectionType.ACCEPT: _accept,
    CorrectionType.REJECT: _reject,
}
