"""The alignment status: a pure fold, the same bytes for the same facts (RULES 25–30).

`verdict(session)` is how it stands now; `history(session)` how it stood after every episode,
which is where a late annotation re-evaluates its own episode. A verdict names its clause, its
reason, its window and all it rests on; it sets nothing and rewrites nothing.
"""

from __future__ import annotations

from typing import Final

from ..net.state import Transition
from ..session.state import EpisodeRecord, Session
from ..vocabulary.ids import Wire
from ..vocabulary.terms import AlignmentStatus, Coverage
from .association import How, associate
from .clauses import Case, Finding, decide
from .denials import Denial, denials
from .selectors import spelled
from .window import OpenedBy, Step, Window, own_evidence, walk, worst
from .words import Words, words

STALE_EPISODES: Final = 3  # nothing active for so many episodes reads as stale (RULES 30)
NOTHING_ACTIVE_CLAUSE: Final = 0


class Verdict(Wire, frozen=True, omit_defaults=False):
    """`declared_only`: aligned, but by the agent's own word. `stale`: nothing active for long."""

    status: AlignmentStatus
    clause: int
    reason: Words
    transition_id: str | None
    firing_id: str | None
    window: Window
    episode_ids: tuple[str, ...]
    evidence_ids: tuple[str, ...]
    since_id: str
    since_position: int
    declared_only: bool = False
    stale: bool = False


def verdict(session: Session) -> Verdict:
    transition, firing_id = subject(session)
    if transition is None or firing_id is None:
        return nothing_active(session)
    return latest(session, transition, firing_id)[1]


def subject(session: Session) -> tuple[Transition | None, str | None]:
    """What a verdict is about: the active transition and its firing."""
    active = session.net.active_transition()
    return (None, None) if active is None else (active, active.firing_id)


def history(session: Session) -> dict[str, Verdict]:
    """Episode id → the verdict when it completed, for every episode of a declared step."""
    found: dict[str, Verdict] = {}
    for transition_id, firing_id in firings(session):
        transition = session.net.transitions[transition_id]
        for step, after in evaluations(session, transition, firing_id):
            if step.cause_id in session.episodes:
                found[step.cause_id] = after
    return found


def firings(session: Session) -> list[tuple[str, str]]:
    """(transition, firing) in the order they were declared."""
    found: dict[str, str] = {}
    for patch in session.patches:
        if patch.firing_id is not None and patch.active_transition_id is not None:
            found.setdefault(patch.firing_id, patch.active_transition_id)
    return [(transition_id, firing_id) for firing_id, transition_id in found.items()]


def latest(session: Session, transition: Transition, firing_id: str) -> tuple[Step, Verdict]:
    """How a known firing stands now. Looks back only as far as the status has lasted."""
    *earlier, (step, denial) = _moments(session, transition, firing_id)
    last = Case(transition, step, denial, session.annotations)
    decided = decide(last)
    since = step
    for before, denial in reversed(earlier):
        if decide(Case(transition, before, denial, session.annotations))[1] is not decided[1]:
            break
        since = before
    return step, _verdict(session, last, firing_id, decided, since)


def evaluations(
    session: Session, transition: Transition, firing_id: str
) -> list[tuple[Step, Verdict]]:
    """The verdict after every step of one firing, oldest first."""
    found: list[tuple[Step, Verdict]] = []
    since: Step | None = None
    status: AlignmentStatus | None = None
    for step, denial in _moments(session, transition, firing_id):
        case = Case(transition, step, denial, session.annotations)
        decided = decide(case)
        if since is None or decided[1] is not status:
            since, status = step, decided[1]
        found.append((step, _verdict(session, case, firing_id, decided, since)))
    return found


def sequence_of(session: Session, since_id: str) -> int:
    """sessionSeq of the episode, patch or correction a verdict or tension dates from; else 0."""
    if since_id in session.episodes:
        return session.episodes[since_id].seq
    if since_id in session.corrections:
        return session.corrections[since_id].seq
    return next((patch.seq for patch in session.patches if patch.patch_id == since_id), 0)


def _moments(
    session: Session, transition: Transition, firing_id: str
) -> list[tuple[Step, Denial | None]]:
    """Each step with the denial that holds then. A denial is a moment of its own: the status
    changes there, not at the next episode, and what stood at the same position stood before it."""
    steps = walk(session, transition, firing_id)
    denied = denials(session, transition.transition_id)
    if not denied:
        return [(step, None) for step in steps]
    moments: list[tuple[int, int, Step, Denial | None]] = [
        (step.position, 0, step, None) for step in steps
    ]
    for denial in denied:
        before = [step for step in steps if step.position <= denial.start]
        if before and denial.end > denial.start:
            last = before[-1]
            moment = Step(denial.correction_id, denial.start, last.window, last.seen, last.opener)
            moments.append((denial.start, 1, moment, denial))
    moments.sort(key=lambda moment: moment[:2])
    return [
        (step, own or next((each for each in denied if each.holds_after(position)), None))
        for position, _, step, own in moments
    ]


def _verdict(
    session: Session,
    case: Case,
    firing_id: str,
    decided: tuple[int, AlignmentStatus, Finding],
    since: Step,
) -> Verdict:
    clause, status, finding = decided
    return Verdict(
        status=status,
        clause=clause,
        reason=finding.reason,
        transition_id=case.transition.transition_id,
        firing_id=firing_id,
        window=case.step.window,
        episode_ids=finding.episode_ids,
        evidence_ids=_evidence_ids(session, case, firing_id),
        since_id=since.cause_id,
        since_position=since.position,
        declared_only=finding.reason.code == "satisfied_declared",
    )


def _evidence_ids(session: Session, case: Case, firing_id: str) -> tuple[str, ...]:
    """Evidence that opened the window: observed with the same facts, or told by that patch."""
    step = case.step
    if not step.evidence_counts:
        return ()
    facts = {spelled(fact) for fact in step.opener.facts} if step.opener else set[str]()
    return tuple(
        evidence.evidence_id
        for evidence in own_evidence(session, case.transition, firing_id)
        if evidence.source == step.window.opened_id or evidence.summary in facts
    )


def nothing_active(session: Session) -> Verdict:
    declared = session.declared()
    opening = next((patch for patch in reversed(session.patches) if patch.opens_window), None)
    position = opening.position if opening else 0
    opened_id = opening.patch_id if opening else ""
    idle = [record for record in idle_episodes(session) if record.episode.from_position > position]
    code = "nothing_active" if declared else "nothing_declared"
    known = bool(idle)
    since = idle[0].episode if idle else None
    return Verdict(
        status=AlignmentStatus.UNKNOWN if known else AlignmentStatus.PENDING,
        clause=NOTHING_ACTIVE_CLAUSE,
        reason=words(code if known or not declared else "between_steps"),
        transition_id=None,
        firing_id=None,
        window=Window(OpenedBy.PATCH, opened_id, position, len(idle), _coverage(idle)),
        episode_ids=tuple(record.episode.episode_id for record in idle[-STALE_EPISODES:]),
        evidence_ids=(),
        since_id=since.episode_id if since else opened_id,
        since_position=since.to_position if since else position,
        stale=len(idle) >= STALE_EPISODES,
    )


def idle_episodes(session: Session) -> list[EpisodeRecord]:
    """Episodes while no step was active."""
    return [
        record for record in session.episodes.values() if associate(session, record).how is How.NONE
    ]


def _coverage(records: list[EpisodeRecord]) -> Coverage:
    return worst(record.episode.coverage for record in records[-STALE_EPISODES:])
