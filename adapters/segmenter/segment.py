"""The stream: observations in, steps out. Pure; event time only.

A step ends where nothing is open, so the stream may be cut after any step: a new `Segmenter`
given the step's position and `Resume` continues with the same bytes. What stands inside an open
episode (a plan, a note) waits for it and comes out in its place by position.

Invariants:
* Observations are taken in order of position without holes; what was taken already is skipped.
* Steps cover every position exactly once, in order.
* At most `OPEN_MAX` observations are ever open, so that any pull of more makes progress, and
  one step fits one frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ...reducer.vocabulary.codec import encode
from ...reducer.vocabulary.episode import EpisodeItem, FactItem, Resume, Segment
from ...reducer.vocabulary.observation import AnyObservation, Called, Gap, SessionInfo
from ...reducer.vocabulary.terms import Boundary, Coverage
from . import streaks
from .boundaries import closes_after, closes_before
from .episode import OpenEpisode, worse

OPEN_MAX: Final = 64
HELD_BYTES_MAX: Final = 128 * 1024  # what waits in an open episode; one plan may still exceed it
KNOWN_MAX: Final = 256
GATES_MAX: Final = 64
SEGMENT_ITEMS_MAX: Final = 256
SEGMENT_BYTES_MAX: Final = 512 * 1024  # half a frame; one item alone is far below

Item = EpisodeItem | FactItem


class OutOfOrder(ValueError):
    """A hole in the stream: the caller must pull again from `wanted`."""

    def __init__(self, wanted: int, got: int) -> None:
        super().__init__(f"expected position {wanted}, got {got}")
        self.wanted = wanted


class Step(Struct, frozen=True):
    """Up to `to_position` everything is in items. `timed`: the episode's calls and their ends."""

    items: tuple[Item, ...]
    to_position: int
    resume: Resume
    timed: tuple[tuple[str, int], ...] = ()


class Segmenter:
    """One session's stream from `position` on."""

    def __init__(self, position: int = 0, resume: Resume | None = None) -> None:
        self.position = position
        self._memory = resume or Resume()
        self._open: OpenEpisode | None = None
        self._held: list[FactItem] = []
        self._held_bytes = 0
        self._open_count = 0

    def feed(self, observation: AnyObservation) -> list[Step]:
        """The steps this observation completes. Raises OutOfOrder on a hole."""
        if observation.position <= self.position:
            return []
        if observation.position != self.position + 1:
            raise OutOfOrder(self.position + 1, observation.position)
        steps: list[Step] = []
        if self._open is not None and (boundary := closes_before(self._open, observation)):
            steps.append(self._close(boundary))
        self.position = observation.position
        if isinstance(observation, Called):
            steps.extend(self._take_call(observation))
        elif isinstance(observation, Gap):
            steps.extend(self._take_gap(observation))
        else:
            steps.extend(self._take_fact(FactItem(observation)))
        return steps

    def finish(self) -> list[Step]:
        """The stream is over: what is open closes as it is."""
        return [] if self._open is None else [self._close(Boundary.ENDED)]

    def _take_call(self, call: Called) -> list[Step]:
        before = self._memory
        self._memory = _remember(before, call)
        if self._open is None:
            self._open = OpenEpisode(call, before.coverage, before.coverage_reason)
            self._memory = replace(self._memory, coverage=Coverage.FULL, coverage_reason=None)
        else:
            self._open.add(call)
        boundary = closes_after(self._open, call, before, self._memory)
        return [self._close(boundary)] if boundary else self._bounded()

    def _take_gap(self, gap: Gap) -> list[Step]:
        if self._open is not None:
            self._open.miss(gap)
            return self._bounded()
        coverage, reason = worse(self._memory.coverage, self._memory.coverage_reason, gap)
        self._memory = replace(self._memory, coverage=coverage, coverage_reason=reason)
        return [self._step(())]

    def _take_fact(self, fact: FactItem) -> list[Step]:
        if self._open is None:
            return [self._step((fact,))]
        self._held.append(fact)
        self._held_bytes += len(encode(fact))
        return self._bounded()

    def _bounded(self) -> list[Step]:
        self._open_count += 1
        full = self._open_count >= OPEN_MAX or self._held_bytes > HELD_BYTES_MAX
        return [self._close(Boundary.CALLS_CAP)] if full else []

    def _close(self, boundary: Boundary) -> Step:
        assert self._open is not None
        episode = self._open.close(boundary, self._memory.streaks)
        timed = tuple((call.call_id, call.at) for call in self._open.calls)
        inside = [fact for fact in self._held if fact.fact.position < episode.to_position]
        behind = self._held[len(inside) :]
        self._open, self._held = None, []
        self._open_count = self._held_bytes = 0
        return self._step((*inside, EpisodeItem(episode), *behind), timed)

    def _step(self, items: tuple[Item, ...], timed: tuple[tuple[str, int], ...] = ()) -> Step:
        return Step(items, self.position, self._memory, timed)


def _remember(memory: Resume, call: Called) -> Resume:
    """What later episodes must know of this call."""
    known, gates = memory.known, memory.gates
    if call.signature is not None:
        known = _newest_last(known, call.signature.digest, KNOWN_MAX)
    if call.refusal is not None:
        gates = _newest_last(gates, call.refusal.digest, GATES_MAX)
    return replace(
        memory,
        streaks=streaks.after(memory.streaks, call),
        known=known,
        gates=gates,
        edits=memory.edits + streaks.is_edit(call),
    )


def _newest_last(digests: tuple[str, ...], digest: str, at_most: int) -> tuple[str, ...]:
    return (*(known for known in digests if known != digest), digest)[-at_most:]


def segments(
    info: SessionInfo, from_position: int, steps: Iterable[Step], *, live: bool
) -> Iterator[Segment]:
    """Steps joined into what the reconciler accepts: whole, contiguous, within one frame."""
    items: list[Item] = []
    size, last = 0, None
    for step in steps:
        step_size = sum(len(encode(item)) for item in step.items)
        full = len(items) + len(step.items) > SEGMENT_ITEMS_MAX
        if last is not None and (full or size + step_size > SEGMENT_BYTES_MAX):
            yield _segment(info, from_position, last, items, live)
            items, size, from_position = [], 0, last.to_position + 1
        items.extend(step.items)
        size += step_size
        last = step
    if last is not None:
        yield _segment(info, from_position, last, items, live)


def _segment(
    info: SessionInfo, from_position: int, last: Step, items: list[Item], live: bool
) -> Segment:
    return Segment(
        info=info,
        from_position=from_position,
        to_position=last.to_position,
        items=tuple(items),
        resume=last.resume,
        live=live,
    )
