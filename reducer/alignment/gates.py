"""The gate ledger: the same refusal met again and again is one gate with a count (RULES 23).

View state only. It makes no place, changes no marking, and a quote in it is observed text:
redacted, bounded, escaped where shown, and never sent back to the agent.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from ..session.state import Session
from ..vocabulary.episode import Episode, RefusalCount
from ..vocabulary.ids import Wire

RAISED_AT: Final = 3  # refusals before a person is told
QUIET_EPISODES: Final = 6  # unheard of for so many episodes, it no longer asks for attention


class GateEntry(Wire, frozen=True, omit_defaults=False):
    """Times are event time, epoch milliseconds; age = last_ms - first_ms.

    `raised_id` is the episode in which the count reached `RAISED_AT`: a gate is raised once.
    """

    digest: str
    quote: str
    count: int
    first_ms: int
    last_ms: int
    first_id: str
    last_id: str
    last_position: int
    episode_ids: tuple[str, ...]
    quiet: int = 0
    raised_id: str | None = None
    raised_position: int = 0

    @property
    def raised(self) -> bool:
        return self.raised_id is not None

    @property
    def standing(self) -> bool:
        """Raised, and met recently enough to matter now."""
        return self.raised and self.quiet < QUIET_EPISODES


def ledger(session: Session) -> list[GateEntry]:
    """All gates met so far, in the order they were first met."""
    entries: dict[str, GateEntry] = {}
    last_met: dict[str, int] = {}
    number = 0
    for number, record in enumerate(session.episodes.values()):
        for refusal in record.episode.refusals:
            digest = refusal.refusal.digest
            entries[digest] = _met(entries.get(digest), record.episode, refusal)
            last_met[digest] = number
    return [replace(entry, quiet=number - last_met[key]) for key, entry in entries.items()]


def _met(entry: GateEntry | None, episode: Episode, refusal: RefusalCount) -> GateEntry:
    count = refusal.count + (entry.count if entry else 0)
    known = entry or GateEntry(
        digest=refusal.refusal.digest,
        quote=refusal.refusal.quote,
        count=0,
        first_ms=episode.ended_at,
        last_ms=episode.ended_at,
        first_id=episode.episode_id,
        last_id=episode.episode_id,
        last_position=episode.to_position,
        episode_ids=(),
    )
    raised_now = count >= RAISED_AT and not known.raised
    return replace(
        known,
        count=count,
        last_ms=episode.ended_at,
        last_id=episode.episode_id,
        last_position=episode.to_position,
        episode_ids=(*known.episode_ids, episode.episode_id),
        quiet=0,
        raised_id=episode.episode_id if raised_now else known.raised_id,
        raised_position=episode.to_position if raised_now else known.raised_position,
    )
