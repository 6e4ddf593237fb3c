"""When a person has denied the active transition (RULES 28), as spans over source positions.

A denial is a retire of it, `only` another, or an explicit "wrong step"; not a redescription. It
holds until the agent's next counted patch, or until the person takes it back. Whether the agent
then really left is for tensions and receipts to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from ..session.state import CorrectionRecord, PatchRecord, Session
from ..vocabulary.ids import INT_MAX
from ..vocabulary.people import CorrectionType, HumanIntentPatch
from ..vocabulary.terms import Channel
from .words import Words, words


class Denial(Struct, frozen=True):
    """Holds from its own moment at `start` up to the answer at `end`."""

    correction_id: str
    start: int
    end: int
    reason: Words

    def holds_after(self, position: int) -> bool:
        """At a later moment than its own."""
        return self.start < position < self.end


def denials(session: Session, transition_id: str) -> list[Denial]:
    """All denials of one transition that were not taken back, oldest first."""
    return [
        Denial(
            record.correction.correction_id,
            record.position,
            _answered_at(session, record),
            reason,
        )
        for record, reason in _denying(session, transition_id)
    ]


def _denying(session: Session, transition_id: str) -> Iterator[tuple[CorrectionRecord, Words]]:
    only = _newest_only(session)
    for record in session.corrections.values():
        correction = record.correction
        denies = _DENIES.get(correction.type)
        if denies is None or record.undone_by is not None:
            continue
        if correction.type is CorrectionType.ONLY and record is not only:
            continue
        if (reason := denies(correction, transition_id)) is not None:
            yield record, reason


def _newest_only(session: Session) -> CorrectionRecord | None:
    standing = [
        record
        for record in session.corrections.values()
        if record.correction.type is CorrectionType.ONLY and record.undone_by is None
    ]
    return standing[-1] if standing else None


def _answered_at(session: Session, record: CorrectionRecord) -> int:
    """Position of the agent's first counted patch after the correction."""
    answer = next((p for p in session.patches if answers(p, record)), None)
    return INT_MAX if answer is None else max(answer.position, record.position)


def answers(patch: PatchRecord, record: CorrectionRecord) -> bool:
    """A counted patch of the agent's, called after the correction, not merely stored after it."""
    counted = patch.source is Channel.DECLARED_PATH and patch.opens_window
    called_after = patch.position == 0 or patch.position > record.position
    return counted and called_after and patch.seq > record.seq


def _retire(correction: HumanIntentPatch, transition_id: str) -> Words | None:
    return words("denied_retire") if correction.target_id == transition_id else None


def _wrong_step(correction: HumanIntentPatch, transition_id: str) -> Words | None:
    return words("denied_wrong_step") if correction.target_id == transition_id else None


def _only(correction: HumanIntentPatch, transition_id: str) -> Words | None:
    if correction.target_id in (None, transition_id):
        return None
    return words("denied_only", target=correction.target_id)


_DENIES: Final[dict[CorrectionType, Callable[[HumanIntentPatch, str], Words | None]]] = {
    CorrectionType.RETIRE: _retire,
    CorrectionType.WRONG_STEP: _wrong_step,
    CorrectionType.ONLY: _only,
}
