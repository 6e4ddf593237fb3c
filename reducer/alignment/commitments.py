"""What a person decided, against what went on afterwards (RULES 39).

Ops against a lock never get this far: they are rejected with `human_constraint`. Acts can not be
rejected, and are shown. An act is an episode whose first position lies after the correction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ..net.locks import serves
from ..net.state import Lock, Transition
from ..session.state import CorrectionRecord, EpisodeRecord, Session
from ..vocabulary.people import CorrectionType
from ..vocabulary.terms import GateState, Level
from .association import associate
from .situation import Situation
from .tension import Detector, Side, Tension, TensionKind, raised
from .words import Words, words

DENIED_CLAUSE: Final = 1


def against_person(at: Situation) -> Iterator[Tension]:
    """Work went on at what a person set aside, or away from what they asked for."""
    net = at.session.net
    for lock in net.locks.values():
        rule = _RULES.get(lock.type)
        record = at.session.corrections.get(lock.correction_id)
        if rule is None or record is None or _already_denied(at, lock):
            continue
        acts = [
            each for each in _after(at.session, record) if rule.broken_by(at.session, lock, each)
        ]
        if acts:
            yield _against(at, lock, rule, acts)


def _already_denied(at: Situation, lock: Lock) -> bool:
    """Until the agent's next counted patch, clause 1 and its tension say it."""
    denied = at.verdict.clause == DENIED_CLAUSE
    return denied and lock.type in (CorrectionType.RETIRE, CorrectionType.ONLY)


def _after(session: Session, record: CorrectionRecord) -> list[EpisodeRecord]:
    return [
        each for each in session.episodes.values() if each.episode.from_position > record.position
    ]


def _against(at: Situation, lock: Lock, rule: _Rule, acts: list[EpisodeRecord]) -> Tension:
    transitions = at.session.net.transitions
    first = acts[0].episode
    worked_on = transitions.get(associate(at.session, acts[0]).transition_id or "")
    target = transitions.get(lock.target_id or "")
    gate = at.session.net.places.get(lock.gate_id or lock.target_id or "")
    return raised(
        TensionKind.AGAINST_PERSON,
        at.verdict,
        declared=Side(Level.HUMAN, rule.words(target, gate.label if gate else "")),
        observed=words("saw_acts_on", intent=worked_on.intent if worked_on else ""),
        resolves=words("by_leaving"),
        since=(first.episode_id, first.to_position),
        transition_id=worked_on.transition_id if worked_on else None,
        episode_ids=tuple(each.episode.episode_id for each in acts[-3:]),
        evidence_ids=(),
    )


def _on_retired(session: Session, lock: Lock, record: EpisodeRecord) -> bool:
    return within(session, associate(session, record).transition_id, lock.target_id)


def _not_on_only(session: Session, lock: Lock, record: EpisodeRecord) -> bool:
    """Work while nothing is active is unknown, not against anything."""
    net = session.net
    step = net.transitions.get(associate(session, record).transition_id or "")
    wanted = net.transitions.get(lock.target_id or "")
    if step is None or wanted is None or within(session, step.transition_id, lock.target_id):
        return False
    return not serves(net, step, wanted)


def _past_gate(session: Session, lock: Lock, record: EpisodeRecord) -> bool:
    gate = session.net.places.get(lock.gate_id or lock.target_id or "")
    if gate is None or gate.gate_state is GateState.OPEN:
        return False
    guarded = session.net.read_by.get(gate.place_id, ())
    worked_on = associate(session, record).transition_id
    return any(within(session, worked_on, step_id) for step_id in guarded)


def within(session: Session, transition_id: str | None, target_id: str | None) -> bool:
    """Whether a step is the target or stands inside it."""
    if transition_id is None or target_id is None:
        return False
    step = session.net.transitions.get(transition_id)
    return transition_id == target_id or (step is not None and step.parent == target_id)


class _Rule:
    """One type of lock: what breaks it, and how it is said."""

    __slots__ = ("broken_by", "code")

    def __init__(
        self, code: str, broken_by: Callable[[Session, Lock, EpisodeRecord], bool]
    ) -> None:
        self.code = code
        self.broken_by = broken_by

    def words(self, target: Transition | None, label: str) -> Words:
        if self.code == "person_gate":
            return words(self.code, label=label)
        return words(self.code, intent=target.intent if target else "")


_RULES: Final[dict[CorrectionType, _Rule]] = {
    CorrectionType.RETIRE: _Rule("person_retired", _on_retired),
    CorrectionType.ONLY: _Rule("person_only", _not_on_only),
    CorrectionType.GATE: _Rule("person_gate", _past_gate),
}

DETECTORS: Final[tuple[Detector, ...]] = (against_person,)
