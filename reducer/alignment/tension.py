"""Tensions: where two sources disagree. Both sides are named, neither is changed, none is blamed.

Seed, "来源优先级", "典型漂移"; RULES 7, 18, 28, 30, 39. A tension is open exactly as long as its
facts hold: a `supersede` with a reason, a passing result or a path update makes it go, because
the facts it rests on went. `news` is a tension nobody has to resolve, only to know.

`DETECTORS` is the one table of what can raise one; each is pure and reads declared and observed
facts, never a tool's text. What repeats without progress is `loops`, not a tension.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum

from ..session.state import Session
from ..vocabulary.ids import Wire
from ..vocabulary.terms import Level
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


Detector = Callable[[Session], Iterable[Tension]]
