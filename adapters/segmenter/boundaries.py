"""Where an episode closes: the one table. RULES 19; seed, "触发语义判别的边界".

Two moments, each a list in order of precedence; the first rule that answers wins:

* `BEFORE`: the next observation does not belong to the open episode any more.
* `AFTER`: the call that just joined was news enough to close the episode with it.

Pi's `turn_end` is one model reply and no boundary; a published plan or a note is none either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ...reducer.vocabulary.episode import Resume
from ...reducer.vocabulary.observation import (
    AnyObservation,
    Called,
    Patched,
    Prompted,
    Settled,
    SettleReason,
)
from ...reducer.vocabulary.terms import Boundary, Outcome
from .episode import OpenEpisode
from .streaks import key_of

CALLS_MAX: Final = 12
SPAN_MAX_MS: Final = 5 * 60 * 1000  # event time, from the end of the first call
THIRD: Final = 3

# How an agent stopped, as the reason an episode closed; any other reason is `settled`.
_SETTLED_AS: Final = {
    SettleReason.ABORTED: Boundary.ABORTED,
    SettleReason.ENDED: Boundary.ENDED,
}


def _aborted(open_: OpenEpisode, next_: AnyObservation) -> Boundary | None:
    """Parallel calls are aborted together; the episode closes after the last of them."""
    if open_.last.outcome is not Outcome.ABORTED:
        return None
    also = isinstance(next_, Called) and next_.outcome is Outcome.ABORTED
    return None if also else Boundary.ABORTED


def _patched(_: OpenEpisode, next_: AnyObservation) -> Boundary | None:
    return Boundary.PATCH if isinstance(next_, Patched) else None


def _prompted(_: OpenEpisode, next_: AnyObservation) -> Boundary | None:
    return Boundary.PROMPT if isinstance(next_, Prompted) else None


def _settled(_: OpenEpisode, next_: AnyObservation) -> Boundary | None:
    if not isinstance(next_, Settled):
        return None
    return _SETTLED_AS.get(next_.reason, Boundary.SETTLED)


def _too_long(open_: OpenEpisode, next_: AnyObservation) -> Boundary | None:
    """Calls only: notes may be stamped a little apart by live feed and file."""
    late = isinstance(next_, Called) and next_.at - open_.first.at > SPAN_MAX_MS
    return Boundary.TIME_CAP if late else None


def _gate_changed(_: OpenEpisode, call: Called, before: Resume, __: Resume) -> Boundary | None:
    """A gate met for the first time; the same refusal again changes nothing."""
    met = call.refusal is not None and call.refusal.digest not in before.gates
    return Boundary.GATE if met else None


def _new_trouble(_: OpenEpisode, call: Called, before: Resume, __: Resume) -> Boundary | None:
    new = call.signature is not None and call.signature.digest not in before.known
    return Boundary.NEW_SIGNATURE if new else None


def _third_repeat(_: OpenEpisode, call: Called, before: Resume, now: Resume) -> Boundary | None:
    """Once: what the same reply fails at besides is the same third time."""
    if call.signature is None:
        return None
    streak = key_of(call), THIRD
    third = streak in now.streaks and streak not in before.streaks
    return Boundary.THIRD_REPEAT if third else None


def _too_many(open_: OpenEpisode, _: Called, __: Resume, ___: Resume) -> Boundary | None:
    return Boundary.CALLS_CAP if len(open_.calls) >= CALLS_MAX else None


Before = Callable[[OpenEpisode, AnyObservation], Boundary | None]
After = Callable[[OpenEpisode, Called, Resume, Resume], Boundary | None]

BEFORE: Final[tuple[Before, ...]] = (_aborted, _patched, _prompted, _settled, _too_long)
AFTER: Final[tuple[After, ...]] = (_gate_changed, _new_trouble, _third_repeat, _too_many)


def closes_before(open_: OpenEpisode, next_: AnyObservation) -> Boundary | None:
    return next((found for rule in BEFORE if (found := rule(open_, next_))), None)


def closes_after(open_: OpenEpisode, call: Called, before: Resume, now: Resume) -> Boundary | None:
    """`before` and `now` are the memory without and with this call."""
    return next((found for rule in AFTER if (found := rule(open_, call, before, now))), None)
