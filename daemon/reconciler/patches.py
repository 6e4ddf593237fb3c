"""An agent's patch: judged by the net's own `decide`, answered so that the agent can go on.

key bound, same ops        the first answer again
key bound, other ops       rejected: idempotency_conflict
applied                    one batch; the answer binds the key, in the same transaction
unchanged, read            no event
rejected, conflict         a row in `rejections`; the key stays free, so it may be mended
against a person's goal    stored as a proposal (RULES 18)
proposal                   stored apart; never part of the net until a person accepts it
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from msgspec.structs import replace

from ...reducer.net.decide import Committed, decide
from ...reducer.net.entrance import read_patch
from ...reducer.net.hints import EMPTY_UPDATE, hints
from ...reducer.people.constraints import standing
from ...reducer.session.state import Session
from ...reducer.vocabulary.answer import (
    Answer,
    Applied,
    Conflict,
    Fault,
    Proposed,
    ReadBack,
    Rejected,
    Unchanged,
)
from ...reducer.vocabulary.codec import digest, encode
from ...reducer.vocabulary.patch import CreatePlace, GraphPatch, PatchActor
from ...reducer.vocabulary.terms import ActorType, Channel, PlaceType
from ..eventlog.reader import Reader
from ..messages import SubmitPatch
from . import causes
from .change import Change
from .opening import open_if_new

RECENT_UPDATES: Final = 8


def take_patch(change: Change, ask: SubmitPatch, log: Reader) -> bytes:
    """The answer as JSON. All it does to the session is in `change`."""
    open_if_new(change, ask.info)
    read = read_patch(bytes(ask.patch), change.session.net)
    if isinstance(read, Rejected):
        return _refuse(change, ask, read)
    # Who speaks is known from the channel, whatever the patch says.
    patch = replace(read, actor=PatchActor(ActorType.AGENT, ask.agent_id))
    ops_digest = digest(patch.ops)
    if ask.proposal:
        return _propose(change, ask, patch)
    bound = log.answer(ask.info.session_id, ask.agent_id, patch.idempotency_key)
    if bound is not None:
        return _repeat(change, ask, ops_digest, *bound)
    return _judge(change, ask, patch, ops_digest)


def _repeat(change: Change, ask: SubmitPatch, ops_digest: str, bound: str, answer: str) -> bytes:
    if ops_digest == bound:
        return answer.encode()
    fault = Fault("idempotency_conflict", "$.idempotencyKey", "a new key: this one was used for "
                  "other ops, which were applied")  # fmt: skip
    return _refuse(change, ask, Rejected(change.session.revision, (fault,)))


def _judge(change: Change, ask: SubmitPatch, patch: GraphPatch, ops_digest: str) -> bytes:
    session = change.session
    decision = decide(
        session.net,
        patch,
        channel=Channel.DECLARED_PATH,
        position=ask.position,
        now_ms=change.now_ms,
    )
    if isinstance(decision, Rejected | Conflict):
        if isinstance(decision, Rejected) and _only_against_a_persons_goal(patch, decision):
            return _propose(change, ask, patch)
        return _refuse(change, ask, decision)
    if isinstance(decision, ReadBack):
        return encode(replace(decision, constraints=standing(session)))
    said = hints(session.net, decision, _recent(session), (ask.position, change.now_ms))
    if isinstance(decision, Unchanged) or EMPTY_UPDATE in said:
        _count_empty(change, ask, ops_digest)
    if isinstance(decision, Unchanged):
        return encode(replace(decision, hints=said))
    return _apply(change, ask, patch, ops_digest, decision, said)


def _apply(
    change: Change,
    ask: SubmitPatch,
    patch: GraphPatch,
    ops_digest: str,
    decision: Committed,
    said: tuple[str, ...],
) -> bytes:
    cause = causes.by_agent(change.session, ask.agent_id, patch.patch_id)
    sealed = change.batch(cause, decision.payloads)
    event_ids = tuple(envelope.event_id for envelope in sealed)
    answer: Applied = replace(decision.answer, event_ids=event_ids, hints=said)
    body = encode(answer)
    session_id = ask.info.session_id
    change.beside.append(
        lambda writer: writer.bind_answer(
            session_id, ask.agent_id, patch.idempotency_key, ops_digest, body
        )
    )
    return body


def _refuse(change: Change, ask: SubmitPatch, answer: Rejected | Conflict) -> bytes:
    """Kept, so that the usefulness of declarations can be measured; never part of the net."""
    code = answer.faults[0].code if isinstance(answer, Rejected) else "conflict"
    body = encode(answer)
    change.beside.append(
        lambda writer: writer.record_rejection(
            ask.info.session_id, ask.agent_id, change.now_ms, ask.position, code, body
        )
    )
    return body


def _count_empty(change: Change, ask: SubmitPatch, ops_digest: str) -> None:
    change.beside.append(
        lambda writer: writer.record_empty_update(
            ask.info.session_id, ask.agent_id, change.now_ms, ask.position, ops_digest
        )
    )


def _propose(change: Change, ask: SubmitPatch, patch: GraphPatch) -> bytes:
    """Derived from the key, so that a proposal sent again is the same proposal."""
    proposal_id = f"prop_{digest([ask.agent_id, patch.idempotency_key])[7:23]}"
    change.beside.append(
        lambda writer: writer.store_proposal(
            ask.info.session_id,
            proposal_id,
            ask.agent_id,
            change.now_ms,
            patch.base_revision,
            encode(patch),
        )
    )
    answer: Answer = Proposed(change.session.revision, proposal_id)
    return encode(answer)


def _only_against_a_persons_goal(patch: GraphPatch, rejected: Rejected) -> bool:
    return all(
        fault.code == "human_constraint" and _is_goal(patch, fault.path)
        for fault in rejected.faults
    )


def _is_goal(patch: GraphPatch, path: str) -> bool:
    index = path.removeprefix("$.ops[").partition("]")[0]
    op = patch.ops[int(index)] if index.isdigit() else None
    return isinstance(op, CreatePlace) and op.type is PlaceType.GOAL


def _recent(session: Session) -> list[tuple[int, int]]:
    """(position, epoch ms) of the agent's last applied updates, oldest first."""
    declared = [patch for patch in session.patches if patch.source is Channel.DECLARED_PATH]
    return [(patch.position, _epoch_ms(patch.ts)) for patch in declared[-RECENT_UPDATES:]]


def _epoch_ms(ts: str) -> int:
    return round(datetime.fromisoformat(ts).timestamp() * 1000)
