"""What can raise a tension about the step being worked on (seed, "典型漂移").

One detector per drift; each looks at one declared and one observed side, both already folded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..net.rules import preconditions_gone
from ..net.state import Place, Transition
from ..session.state import Session
from ..vocabulary.terms import AlignmentStatus, Level, Outcome, TransitionState
from .clauses import Case, alternates
from .loops import OWN_TROUBLE
from .situation import Situation
from .tension import Detector, Side, Tension, TensionKind, raised
from .verdict import STALE_EPISODES
from .window import own_evidence
from .words import Words, words

FAILURES_MIN: Final = 3  # "the same strategy failed more than twice in a row"


def path_may_be_stale(at: Situation) -> Iterator[Tension]:
    """Declared one thing, three episodes brought nothing of it (clause 5)."""
    now, step = at.verdict, at.step
    if step is None or now.status is not AlignmentStatus.LAGGING:
        return
    episodes = [at.session.episodes[each].episode for each in now.episode_ids]
    others = sorted({str(each.kind) for each in episodes if each.kind not in step.kinds})
    mismatch = all(each.kind not in step.kinds for each in episodes)
    count = now.window.completed
    yield raised(
        TensionKind.WORK_OF_OTHER_KIND if mismatch else TensionKind.PATH_STALE,
        now,
        declared=_working_on(step),
        observed=words(
            "saw_other_kinds",
            count=len(episodes),
            kinds=", ".join(others),
            allowed=", ".join(str(kind) for kind in step.kinds),
        )
        if mismatch
        else words("saw_nothing_new", count=count),
        resolves=words("by_repath"),
    )


def path_diverged(at: Situation) -> Iterator[Tension]:
    """A person denied the step (clause 1), or an observer twice saw another one (clause 3)."""
    now, step = at.verdict, at.step
    if step is None or now.status is not AlignmentStatus.DIVERGED:
        return
    if now.clause == 1:
        yield raised(
            TensionKind.PATH_DENIED,
            now,
            declared=Side(Level.HUMAN, now.reason),
            observed=words("saw_still_on", intent=step.intent),
            resolves=words("by_repath"),
        )
    else:
        seen = words("saw_other_work", alternate=now.reason.get("alternate"))
        yield raised(
            TensionKind.OTHER_INTENT_SEEN,
            now,
            declared=_working_on(step),
            observed=Side(Level.INFERRED, seen),
            resolves=words("by_repath"),
        )


def another_intent_once(at: Situation) -> Iterator[Tension]:
    """One sure annotation names another step: said, never moved (seed, 关联顺序 3)."""
    now, step, last = at.verdict, at.step, at.last
    if step is None or last is None or not last.seen or now.status is AlignmentStatus.DIVERGED:
        return
    newest = last.seen[-1]
    named = alternates(Case(step, last, None, at.session.annotations), newest)
    if not named:
        return
    other = min(named)
    yield raised(
        TensionKind.OTHER_INTENT_SEEN,
        now,
        declared=_working_on(step),
        observed=Side(
            Level.INFERRED, words("saw_other_work", alternate=other.step or other.intent)
        ),
        resolves=words("by_repath"),
        since=(newest.episode_id, newest.record.episode.to_position),
        episode_ids=(newest.episode_id,),
    )


def no_step_active(at: Situation) -> Iterator[Tension]:
    """A path was declared, work goes on, and no step is active (RULES 30)."""
    now = at.verdict
    if not now.stale or not at.session.declared():
        return
    failed = _failed_without_branch(at.session)
    if failed is not None:
        yield raised(
            TensionKind.FAILURES_NO_RECOVERY,
            now,
            declared=_working_on(failed),
            observed=words("saw_failed_still_working"),
            resolves=words("by_recovery"),
            transition_id=failed.transition_id,
        )
        return
    yield raised(
        TensionKind.NO_STEP_ACTIVE,
        now,
        declared=words("says_path"),
        observed=words("saw_no_step", count=max(STALE_EPISODES, now.window.completed)),
        resolves=words("by_activation"),
    )


def failures_without_recovery(at: Situation) -> Iterator[Tension]:
    """Failures go on in a step that names no failure branch (seed, 典型漂移 3)."""
    step, last = at.step, at.last
    if step is None or last is None or step.failure is not None:
        return
    run = _failing_run(at.session, step)
    if len(run) < FAILURES_MIN:
        return
    first = at.session.episodes[run[FAILURES_MIN - 1]].episode
    yield raised(
        TensionKind.FAILURES_NO_RECOVERY,
        at.verdict,
        declared=_working_on(step),
        observed=words("saw_failures", count=len(run)),
        resolves=words("by_recovery"),
        since=(first.episode_id, first.to_position),
        episode_ids=tuple(run),
    )


def precondition_gone(at: Situation) -> Iterator[Tension]:
    """A condition the active step reads no longer holds; the firing goes on (RULES 7)."""
    step = at.step
    net = at.session.net
    held = {lock.gate_id for lock in net.locks.values()}
    for place_id in preconditions_gone(net, step) if step is not None else ():
        if place_id in held:  # a person's gate: `commitments` says whether it is kept
            continue
        place = net.places[place_id]
        yield raised(
            TensionKind.PRECONDITION_GONE,
            at.verdict,
            declared=words("needs_precondition", label=place.label),
            observed=state_words(place),
            resolves=words("by_precondition"),
            since=since_place(at, place),
            place_id=place_id,
        )


def state_words(place: Place) -> Words:
    if place.gate_state is not None:
        return words("saw_gate", label=place.label, state=place.gate_state)
    return words("saw_place", label=place.label, state=place.state)


def since_place(at: Situation, place: Place) -> tuple[str, int]:
    """What last changed the place: an observed episode, or a patch."""
    session = at.session
    newest = [session.net.evidence[each].source for each in place.evidence_ids[-1:]]
    if newest and newest[0] in session.episodes:
        episode = session.episodes[newest[0]].episode
        return episode.episode_id, episode.to_position
    return at.since_patch(place.changed_revision)


def _working_on(step: Transition) -> Words:
    return words("says_working_on", intent=step.intent)


def _failed_without_branch(session: Session) -> Transition | None:
    """The step that failed last, if the token went back because it had no failure branch."""
    last = next((patch for patch in reversed(session.patches) if patch.opens_window), None)
    if last is None or "transition.failed" not in last.kinds:
        return None
    failed = [
        step
        for step in session.net.transitions.values()
        if step.state is TransitionState.FAILED and step.changed_revision == last.revision
    ]
    return failed[0] if failed and failed[0].failure is None else None


def _failing_run(session: Session, step: Transition) -> list[str]:
    """Newest episodes of this firing, since the path was last declared anew, that ended failing.

    A failure the step asked for by a selector is its evidence, not its trouble.
    """
    run: list[str] = []
    asked = {item.source for item in own_evidence(session, step, step.firing_id or "")}
    declared_at = max(
        (p.position for p in session.patches if p.opens_window and p.firing_id == step.firing_id),
        default=0,
    )
    for record in reversed(list(session.episodes.values())):
        episode = record.episode
        if record.firing_id != step.firing_id or episode.from_position <= declared_at:
            break
        if episode.outcome is Outcome.OK or episode.episode_id in asked:
            break
        if episode.outcome in OWN_TROUBLE:
            run.append(episode.episode_id)
    return run[::-1]


DETECTORS: Final[tuple[Detector, ...]] = (
    path_may_be_stale,
    path_diverged,
    another_intent_once,
    no_step_active,
    failures_without_recovery,
    precondition_gone,
)
