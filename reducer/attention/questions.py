"""The eight questions of the specification's acceptance ("MVP 验收"), each with its source.

The answers are the same lines the first screen shows, so that what is tested is what is seen.
"""

from __future__ import annotations

from ..alignment.verdict import Verdict
from ..net.state import Net, Transition
from ..session.state import Session
from ..vocabulary.people import CorrectionType
from ..vocabulary.terms import AlignmentStatus, Channel, Level, TransitionState
from .focus import failure_branch
from .texts import Language, sentence, text
from .view import Answer, Line, Retired


def expected(session: Session, language: Language) -> Line:
    """4: what would show success, in the agent's words."""
    active = session.net.active_transition()
    if active is None or not active.expected:
        return Line(text("evidence_unknown", language), Level.UNKNOWN)
    said = "; ".join(one.text for one in active.expected)
    if active.exit_condition:
        said = f"{said} → {active.exit_condition}"
    return Line(said, Level.DECLARED, active.evidence_ids, active.transition_id)


def if_fails(session: Session, language: Language) -> Line:
    """6: the failure branch: its place, its step, its condition; or that none is declared."""
    active = session.net.active_transition()
    if active is None:
        return Line(text("unknown", language), Level.UNKNOWN)
    line = failure_branch(session.net, active, language).line
    return line


def set_aside(session: Session, retired: tuple[Retired, ...], language: Language) -> Line:
    """7: the newest abandoned path with its reason, and how many more there are."""
    if not retired:
        level = Level.DECLARED if session.declared() else Level.UNKNOWN
        return Line(text("none_set_aside", language), level)
    newest = retired[-1]
    said = text("set_aside", language, intent=newest.intent, reason=newest.reason)
    if len(retired) > 1:
        said = text("more", language, text=said, count=len(retired) - 1)
    return Line(said, newest.by, node_id=newest.id)


def fits(verdict: Verdict, language: Language) -> Line:
    """8: the alignment word with its reason."""
    reason = sentence(verdict.reason, language)
    source = Level.UNKNOWN if verdict.status is AlignmentStatus.UNKNOWN else Level.OBSERVED
    if verdict.status is AlignmentStatus.ALIGNED:
        said = text("claims_fit", language, reason=reason)
    else:
        word = text(f"status_{verdict.status}", language)
        said = text("claims_differ", language, status=word, reason=reason)
    rests_on = (*verdict.episode_ids, *verdict.evidence_ids)
    return Line(said, source, rests_on, verdict.transition_id)


def retired_paths(session: Session) -> tuple[Retired, ...]:
    """Retired and superseded steps in the order they were set aside: already tried."""
    net = session.net
    gone = [
        step
        for step in net.transitions.values()
        if step.state in (TransitionState.RETIRED, TransitionState.SUPERSEDED)
    ]
    gone.sort(key=lambda step: (step.changed_revision, step.born))
    by = {patch.revision: patch.source for patch in session.patches}
    paths = [_retired(net, step, by.get(step.changed_revision)) for step in gone]
    # A person's word on an active step stands before the agent has left the step.
    for lock in net.locks.values():
        step = net.transitions.get(lock.target_id or "")
        if lock.type is CorrectionType.RETIRE and step is not None and step not in gone:
            reason = lock.text or ""
            paths.append(Retired(step.transition_id, step.intent, reason, Level.HUMAN))
    return tuple(paths)


def _retired(net: Net, step: Transition, source: Channel | None) -> Retired:
    return Retired(
        id=step.transition_id,
        intent=step.intent,
        reason=step.reason or "",
        by=Level.HUMAN if source is Channel.HUMAN else Level.DECLARED,
        successor=step.superseded_by,
    )


def eight(lines: tuple[Line, ...], language: Language) -> tuple[Answer, ...]:
    assert len(lines) == 8
    return tuple(
        Answer(number, text(f"q{number}", language), line)
        for number, line in enumerate(lines, start=1)
    )
