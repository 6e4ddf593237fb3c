"""What stands and goes to the agent: the person's own words and ids, nothing else (DESIGN 8).

A correction stands from the moment it is made until it has done its work; `_STANDS` says for
each type when that is. Standing ones are sent again after a compaction or a reconnect.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..alignment.denials import answers
from ..session.state import CorrectionRecord, Session
from ..vocabulary.people import Constraint, CorrectionType, ReceiptStage

STANDING_MAX: Final = 32  # newest first when there are more; locks before free text

_TAKEN_UP: Final = frozenset(
    {ReceiptStage.ACKNOWLEDGED, ReceiptStage.OBEYED, ReceiptStage.VIOLATED}
)


def standing(session: Session) -> tuple[Constraint, ...]:
    """Oldest first. Unconfirmed corrections stand nowhere until a person clicked (RULES 39)."""
    records = [record for record in session.corrections.values() if stands(session, record)]
    locks = [each for each in records if each.correction.type is not CorrectionType.TEXT]
    kept = (*locks, *reversed([each for each in records if each not in locks]))[:STANDING_MAX]
    return tuple(_constraint(each) for each in sorted(kept, key=lambda each: each.seq))


def stands(session: Session, record: CorrectionRecord) -> bool:
    rule = _STANDS.get(record.correction.type)
    if rule is None or record.undone_by is not None or not record.correction.confirmed:
        return False
    if any(receipt.stage is ReceiptStage.LAPSED for receipt in record.receipts):
        return False
    return rule(session, record)


def is_delivered(type_: CorrectionType) -> bool:
    """Moves and undos take effect in the record; the agent has nothing to do about them."""
    return type_ in _STANDS


def _constraint(record: CorrectionRecord) -> Constraint:
    correction = record.correction
    return Constraint(
        correction_id=correction.correction_id,
        type=correction.type,
        revision=record.revision,
        text=correction.text,
        target_id=correction.target_id,
    )


def _while_locked(session: Session, record: CorrectionRecord) -> bool:
    return record.correction.correction_id in session.net.locks


def _until_answered(session: Session, record: CorrectionRecord) -> bool:
    return not any(answers(patch, record) for patch in session.patches)


def _until_taken_up(_: Session, record: CorrectionRecord) -> bool:
    return all(receipt.stage not in _TAKEN_UP for receipt in record.receipts)


_STANDS: Final[dict[CorrectionType, Callable[[Session, CorrectionRecord], bool]]] = {
    CorrectionType.TEXT: _while_locked,
    CorrectionType.GOAL: _while_locked,
    CorrectionType.RETIRE: _while_locked,
    CorrectionType.GATE: _while_locked,
    CorrectionType.ONLY: _while_locked,
    CorrectionType.WRONG_STEP: _until_answered,
    CorrectionType.SUPERSEDE: _until_taken_up,
    CorrectionType.REDESCRIBE: _until_taken_up,
    CorrectionType.OPEN_GATE: _until_taken_up,
    CorrectionType.ACCEPT: _until_taken_up,
    CorrectionType.REJECT: _until_taken_up,
}
