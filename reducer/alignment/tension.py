"""Tensions: where two sources disagree. Both sides are named, neither is changed, none is blamed.

Seed, "来源优先级", "典型漂移"; RULES 7, 18, 28, 30, 39. A tension is open exactly as long as its
facts hold: a `supersede` with a reason, a passing result or a path update makes it go, because
the facts it rests on went. `news` is a tension nobody has to resolve, only to know.

This module says what a tension is; `drifts`, `claims` and `commitments` find them, and
`tensions` is the one list. What repeats without progress is `loops`, not a tension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

from ..vocabulary.ids import Wire
from ..vocabulary.terms import Level
from .situation import Situation
from .verdict import Verdict
from .words import Words


class TensionKind(StrEnum):
    PATH_STALE = "path_stale"
    WORK_OF_OTHER_KIND = "work_of_other_kind"
    PATH_DENIED = "path_denied"
    OTHER_INTENT_SEEN = "other_intent_seen"
    NO_STEP_ACTIVE = "no_step_active"
    DONE_BUT_GATE = "done_but_gate"
    DONE_BUT_FAILING = "done_but_failing"
    CONDITION_CONTRADICTED = "condition_contradicted"
    FAILURES_NO_RECOVERY = "failures_no_recovery"
    PRECONDITION_GONE = "precondition_gone"
    GOAL_CHANGED = "goal_changed"
    AGAINST_PERSON = "against_person"


class Side(Wire, frozen=True):
    """What one source says, and how we know it."""

    level: Level
    words: Words


class Tension(Wire, frozen=True, omit_defaults=False):
    """`tension_id` names kind, subject and beginning: the same conflict keeps its id."""

    tension_id: str
    kind: TensionKind
    declared: Side
    observed: Side
    resolves: Words
    since_id: str
    since_position: int
    transition_id: str | None = None
    place_id: str | None = None
    episode_ids: tuple[str, ...] = ()
    evidence_ids: tuple[str, ...] = ()
    news: bool = False


Detector = Callable[[Situation], Iterable[Tension]]


def raised(
    kind: TensionKind,
    now: Verdict,
    *,
    declared: Side | Words,
    observed: Side | Words,
    resolves: Words,
    since: tuple[str, int] | None = None,
    transition_id: str | None = None,
    place_id: str | None = None,
    episode_ids: tuple[str, ...] | None = None,
    evidence_ids: tuple[str, ...] | None = None,
    news: bool = False,
) -> Tension:
    """A tension about the verdict's subject and moment, unless told otherwise."""
    since_id, since_position = since or (now.since_id, now.since_position)
    about = transition_id or now.transition_id
    return Tension(
        tension_id=":".join(filter(None, (str(kind), place_id or about or "session", since_id))),
        kind=kind,
        declared=declared if isinstance(declared, Side) else Side(Level.DECLARED, declared),
        observed=observed if isinstance(observed, Side) else Side(Level.OBSERVED, observed),
        resolves=resolves,
        since_id=since_id,
        since_position=since_position,
        transition_id=about,
        place_id=place_id,
        episode_ids=now.episode_ids if episode_ids is None else episode_ids,
        evidence_ids=now.evidence_ids if evidence_ids is None else evidence_ids,
        news=news,
    )
