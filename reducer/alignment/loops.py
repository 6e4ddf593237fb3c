"""Repeats that get nowhere (seed, "低信息循环"), as WATCH items that name the fact.

Two shapes:
* **Same trouble**: one error signature of one command, again and again without a changed
  approach. The segmenter counts it (`SignatureCount.failing_streak`); an edit, another command
  or a pass ends the count, so polling, batches and edit-test-edit stay silent.
* **Same command, ever new words**: a command that failed in three episodes in a row in which it
  ran, with nothing edited and no pass in between, whatever it printed.

Only trouble of the agent's own making counts: a person's refusal, an outage, a rate limit or the
sibling of a failed call is another thing (RULES 27, DESIGN 5).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from msgspec import Struct

from ..session.state import Session
from ..vocabulary.episode import Episode
from ..vocabulary.ids import Wire
from ..vocabulary.observation import Fact
from ..vocabulary.terms import FactKind, FactResult, Outcome
from .gates import ledger
from .words import Words, words

REPEATS_MIN: Final = 3
RECENT_EPISODES: Final = 3  # a loop not met in so many episodes is over
OWN_TROUBLE: Final = frozenset({Outcome.FAILED, Outcome.TOOL_ERROR, Outcome.BLOCKED_BY_POLICY})


class WatchKind(StrEnum):
    LOOP = "loop"
    GATE = "gate"
    TOMBSTONE = "tombstone"


class Watch(Wire, frozen=True, omit_defaults=False):
    """Something to keep an eye on. `quote` is observed text: redacted, to be escaped where shown.

    `watch_id` stays the same while the thing lasts, so that it is said once. Times are event time.
    """

    watch_id: str
    kind: WatchKind
    words: Words
    count: int
    since_id: str
    since_position: int
    episode_ids: tuple[str, ...]
    quote: str | None = None
    since_ms: int = 0
    last_ms: int = 0


def loops(session: Session) -> list[Watch]:
    """Loops going on now, same trouble first."""
    episodes = [record.episode for record in session.episodes.values()]
    by_signature = list(_same_trouble(episodes))
    looping = {watch.episode_ids[-1] for watch in by_signature}
    by_command = [
        watch for watch in _same_command(episodes) if looping.isdisjoint(watch.episode_ids)
    ]
    return [*by_signature, *by_command]


def gate_watches(session: Session) -> list[Watch]:
    """Gates of the ledger that a person should know of: raised once, with count and age."""
    return [
        Watch(
            watch_id=f"gate:{entry.digest.rpartition(':')[2]}",
            kind=WatchKind.GATE,
            words=words("gate_refused", count=entry.count),
            count=entry.count,
            since_id=entry.raised_id or "",
            since_position=entry.raised_position,
            episode_ids=entry.episode_ids,
            quote=entry.quote,
            since_ms=entry.first_ms,
            last_ms=entry.last_ms,
        )
        for entry in ledger(session)
        if entry.standing
    ]


def _same_trouble(episodes: list[Episode]) -> Iterator[Watch]:
    gates = {item.refusal.digest for each in episodes for item in each.refusals}
    for digest, run in _signature_runs(episodes).items():
        newest = run.episodes[-1]
        if digest in gates or run.count < REPEATS_MIN or _over(episodes, newest):
            continue
        first = run.episodes[0]
        yield Watch(
            watch_id=f"loop:{digest.rpartition(':')[2]}:{first.episode_id}",
            kind=WatchKind.LOOP,
            words=words("loop_signature", count=run.count),
            count=run.count,
            since_id=first.episode_id,
            since_position=first.to_position,
            episode_ids=tuple(episode.episode_id for episode in run.episodes),
            quote=run.sample,
            since_ms=first.ended_at,
            last_ms=newest.ended_at,
        )


class _Run(Struct):
    """One signature since its approach last changed."""

    episodes: list[Episode]
    count: int
    sample: str


def _signature_runs(episodes: list[Episode]) -> dict[str, _Run]:
    runs: dict[str, _Run] = {}
    for episode in episodes:
        for item in episode.signatures:
            if item.signature.outcome not in OWN_TROUBLE:
                continue
            run = runs.get(item.signature.digest)
            continued = run is not None and item.failing_streak > run.count
            if run is None or not continued:
                run = _Run([], 0, item.signature.sample)
                runs[item.signature.digest] = run
            run.episodes.append(episode)
            run.count = item.failing_streak
    return runs


def _over(episodes: list[Episode], newest: Episode) -> bool:
    """Something was edited since, or it was not met again for a while."""
    later = [episode for episode in episodes if episode.from_position > newest.from_position]
    return len(later) >= RECENT_EPISODES or any(episode.files_changed for episode in later)


def _same_command(episodes: list[Episode]) -> Iterator[Watch]:
    for name, run in _failing_commands(episodes).items():
        if len(run) < REPEATS_MIN or _over(episodes, run[-1]):
            continue
        yield Watch(
            watch_id=f"loop:{name}:{run[0].episode_id}",
            kind=WatchKind.LOOP,
            words=words("loop_command", count=len(run)),
            count=len(run),
            since_id=run[REPEATS_MIN - 1].episode_id,
            since_position=run[REPEATS_MIN - 1].to_position,
            episode_ids=tuple(episode.episode_id for episode in run),
            quote=name,
            since_ms=run[0].ended_at,
            last_ms=run[-1].ended_at,
        )


def _failing_commands(episodes: list[Episode]) -> dict[str, list[Episode]]:
    """Command name → the episodes in a row in which it ran and only failed."""
    runs: dict[str, list[Episode]] = {}
    for episode in episodes:
        if episode.files_changed:
            runs.clear()
            continue
        for name, failed in _commands(episode.facts).items():
            if failed and episode.outcome in OWN_TROUBLE:
                runs.setdefault(name, []).append(episode)
            elif not failed:
                runs.pop(name, None)
    return runs


def _commands(facts: tuple[Fact, ...]) -> dict[str, bool]:
    """Command name → whether it only failed in this episode."""
    found: dict[str, bool] = {}
    for fact in facts:
        if fact.kind is FactKind.COMMAND and fact.result is not None:
            only_failed = fact.result is FactResult.FAIL
            found[fact.name] = found.get(fact.name, True) and only_failed
    return found
