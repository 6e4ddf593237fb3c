"""What comes in on `human.sock`: corrections, proposals decided, a patch by hand, views focused.

The connection decides the actor: everything here is a person's, and `who.py` has asked whether it
may be one. What is not sure waits outside the log until the person confirms it in the page.
"""

from __future__ import annotations

from msgspec.structs import replace

from ...reducer.net.decide import Committed, decide
from ...reducer.net.entrance import read_patch
from ...reducer.people.correct import Corrected, correct
from ...reducer.remarks.bands import payloads_of
from ...reducer.session.state import Session
from ...reducer.vocabulary.annotation import ObserverPatch
from ...reducer.vocabulary.answer import Answer, Fault, Proposed, Rejected
from ...reducer.vocabulary.codec import decode, encode
from ...reducer.vocabulary.ids import SessionId
from ...reducer.vocabulary.patch import GraphPatch, PatchActor
from ...reducer.vocabulary.payload import HumanCorrected, ViewFocused
from ...reducer.vocabulary.people import CorrectionType, HumanIntentPatch
from ...reducer.vocabulary.terms import ActorType, Channel
from ..eventlog.reader import Proposal, Reader
from ..messages import Taken
from . import causes
from .change import Change

_DECISIONS = {CorrectionType.ACCEPT: "accepted", CorrectionType.REJECT: "rejected"}


def take_correction(change: Change, correction: HumanIntentPatch, log: Reader) -> Taken | Answer:
    """A correction sent twice is taken once. Only confirmed ones come here."""
    session = change.session
    known = session.corrections.get(correction.correction_id)
    if known is not None:
        return Taken(correction.correction_id, session.revision)
    if session.seq == 0:
        fault = Fault("session_unknown", "$.sessionId", "a session that exists")
        return Rejected(0, (fault,))
    decision = _DECISIONS.get(correction.type)
    proposal = _waiting(log, session, correction.target_id) if decision else None
    if decision is not None and proposal is None:
        waiting = tuple(p.proposal_id for p in log.proposals(session.session_id) if not p.decision)
        fault = Fault("unknown_id", "$.targetId", "a waiting proposal", waiting)
        return Rejected(session.revision, (fault,))
    if proposal is not None and proposal.agent_id == causes.OBSERVER.id:
        return _decide_remark(change, correction, proposal)
    decided = correct(
        session,
        replace(correction, confirmed=True),
        position=position_now(session),
        now_ms=change.now_ms,
        proposal=decode(proposal.body.encode(), GraphPatch) if proposal else None,
    )
    if not isinstance(decided, Corrected):
        return decided
    cause = causes.by_person(session, correction.correction_id)
    if decided.batch:
        change.batch(cause, decided.payloads)
    else:
        change.tell(cause, *decided.payloads)
    if proposal is not None:
        _note_decision(change, correction, proposal)
    return Taken(correction.correction_id, session.revision)


def _note_decision(change: Change, correction: HumanIntentPatch, proposal: Proposal) -> None:
    session_id = change.session.session_id
    change.beside.append(
        lambda writer: writer.decide_proposal(
            session_id, proposal.proposal_id, _DECISIONS[correction.type], change.now_ms,
            correction.correction_id,
        )
    )  # fmt: skip


def _decide_remark(change: Change, correction: HumanIntentPatch, proposal: Proposal) -> Taken:
    """An observer's remark of middling confidence: accepting it attaches it, as the observer's
    word still. The remark names its model and its confidence; the person only let it in."""
    session = change.session
    remark = decode(proposal.body.encode(), ObserverPatch)
    change.tell(
        causes.by_person(session, correction.correction_id),
        HumanCorrected(replace(correction, confirmed=True), position_now(session)),
    )
    if correction.type is CorrectionType.ACCEPT:
        cause = causes.by_observer(session, remark.patch_id, remark.confidence)
        change.tell(cause, *payloads_of(session, remark, change.now_ms))
    _note_decision(change, correction, proposal)
    return Taken(correction.correction_id, session.revision)


def take_patch_by_hand(
    change: Change, session_id: SessionId, body: bytes, *, proposal: bool
) -> Answer:
    """`wayfinder patch FILE` and `wayfinder propose FILE`."""
    session = change.session
    if session.seq == 0:
        fault = Fault("session_unknown", "$.sessionId", "a session that exists")
        return Rejected(0, (fault,))
    read = read_patch(body, session.net)
    if isinstance(read, Rejected):
        return read
    patch = replace(read, actor=PatchActor(ActorType.HUMAN, causes.PERSON.id))
    if proposal:
        change.beside.append(
            lambda writer: writer.store_proposal(
                session_id, patch.patch_id, causes.PERSON.id, change.now_ms,
                patch.base_revision, encode(patch),
            )
        )  # fmt: skip
        return Proposed(session.revision, patch.patch_id)
    decision = decide(
        session.net,
        patch,
        channel=Channel.HUMAN,
        position=position_now(session),
        now_ms=change.now_ms,
    )
    if not isinstance(decision, Committed):
        return decision
    sealed = change.batch(causes.by_person(session, patch.patch_id), decision.payloads)
    return replace(decision.answer, event_ids=tuple(e.event_id for e in sealed))


def take_focus(change: Change, focused: ViewFocused) -> None:
    """What one viewer pins, folds and has seen (RULES 37)."""
    if change.session.seq:
        change.tell(causes.by_person(change.session, focused.viewer_id), focused)


def position_now(session: Session) -> int:
    """A person speaks about what they saw: all that is committed, and the patches before it."""
    patch = session.last_patch()
    return max(session.stream_position, patch.position if patch else 0)


def _waiting(log: Reader, session: Session, proposal_id: str | None) -> Proposal | None:
    found = (p for p in log.proposals(session.session_id) if p.proposal_id == proposal_id)
    return next((p for p in found if p.decision is None), None)
