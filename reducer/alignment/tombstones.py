"""Tombstones: a path that was set aside and is being walked again.

Set aside means retired, superseded, or failed and left. Three facts tell of a return:
* the active step says the same thing (same words, or same type and selectors) as one set aside;
* the newest episode's facts fit a set-aside step's selectors and not the active one's;
* the trouble that was newest when a step was set aside is failing again.

A return is not wrong, it is worth knowing: the item quotes the step and why it was left.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..net.state import Transition
from ..session.state import EpisodeRecord
from ..vocabulary.people import CorrectionType
from ..vocabulary.terms import TransitionState
from .association import episodes_of
from .loops import OWN_TROUBLE, Watch, WatchKind
from .selectors import hits
from .situation import Situation
from .window import wanted
from .words import Words, words

_SET_ASIDE = frozenset({TransitionState.RETIRED, TransitionState.SUPERSEDED})


def tombstones(at: Situation) -> list[Watch]:
    """Returns to what was set aside, at most one per step set aside."""
    found: dict[str, Watch] = {}
    for aside in set_aside(at):
        for watch in (*_same_again(at, aside), *_work_again(at, aside), *_trouble_again(at, aside)):
            found.setdefault(aside.transition_id, watch)
    return list(found.values())


def set_aside(at: Situation) -> list[Transition]:
    """Retired, superseded, set aside by a person's word, or failed while another step is active."""
    active, net = at.step, at.session.net
    by_person = {
        lock.target_id for lock in net.locks.values() if lock.type is CorrectionType.RETIRE
    }
    return [
        step
        for step in net.transitions.values()
        if step is not active
        and (
            step.state in _SET_ASIDE
            or step.transition_id in by_person
            or (step.state is TransitionState.FAILED and active is not None)
        )
    ]


def _same_again(at: Situation, aside: Transition) -> Iterator[Watch]:
    active = at.step
    if active is None or active.born < aside.born or aside.superseded_by == active.transition_id:
        return
    same_words = folded(active.intent) == folded(aside.intent)
    same_contract = (
        bool(active.selectors)
        and active.type is aside.type
        and set(active.selectors) == set(aside.selectors)
        and aside.state is not TransitionState.FAILED
    )
    if same_words or same_contract:
        since = at.since_patch(active.changed_revision)
        yield _watch(aside, words("tombstone_same", intent=aside.intent), since, ())


def _work_again(at: Situation, aside: Transition) -> Iterator[Watch]:
    record = _newest(at)
    failed = aside.state is TransitionState.FAILED  # may still be tried again
    if record is None or failed or not _after(at, aside, record):
        return
    active = wanted(at.step) if at.step is not None else ()
    facts = hits(wanted(aside), record.episode.facts)
    named = record.episode.transition_id == aside.transition_id
    if named or (facts and not hits(active, record.episode.facts)):
        since = (record.episode.episode_id, record.episode.to_position)
        said = words("tombstone_work", intent=aside.intent)
        yield _watch(aside, said, since, (record.episode.episode_id,))


def _trouble_again(at: Situation, aside: Transition) -> Iterator[Watch]:
    record = _newest(at)
    if record is None or aside.firing_id is None or record.firing_id == aside.firing_id:
        return
    ended = episodes_of(at.session, aside.firing_id)
    if not ended:
        return
    old = {
        item.signature.digest
        for item in ended[-1].episode.signatures
        if item.failing_streak and item.signature.outcome in OWN_TROUBLE
    }
    for item in record.episode.signatures:
        if item.signature.digest in old and item.failing_streak:
            since = (record.episode.episode_id, record.episode.to_position)
            said = words("tombstone_trouble", intent=aside.intent)
            yield _watch(aside, said, since, (record.episode.episode_id,), item.signature.sample)


def _newest(at: Situation) -> EpisodeRecord | None:
    return next(reversed(at.session.episodes.values()), None)


def _after(at: Situation, aside: Transition, record: EpisodeRecord) -> bool:
    """The episode began after the step was set aside."""
    return record.episode.from_position > at.since_patch(aside.changed_revision)[1]


def _watch(
    aside: Transition,
    said: Words,
    since: tuple[str, int],
    episode_ids: tuple[str, ...],
    quote: str | None = None,
) -> Watch:
    return Watch(
        watch_id=f"tombstone:{aside.transition_id}:{since[0]}",
        kind=WatchKind.TOMBSTONE,
        words=said,
        count=1,
        since_id=since[0],
        since_position=since[1],
        episode_ids=episode_ids,
        quote=quote if quote is not None else aside.reason,
    )


def folded(intent: str) -> str:
    """An intent without case, spaces and punctuation."""
    return "".join(char for char in intent.casefold() if char.isalnum())
