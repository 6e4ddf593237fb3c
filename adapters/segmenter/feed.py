"""One session's exchange with spool and reconciler: sans-I/O, no clock.

    ReadStream ──▶ reconciler        where is the stream committed, what must be remembered
    Pull       ──▶ adapter           everything behind that; trims what lies before
    Pulled     ◀── adapter           pulled, or unasked when more has come
    Segment    ──▶ reconciler        one in flight, sent again until StreamAt answers
    StreamAt   ◀── reconciler        after COMMIT

Nothing is kept here that these two do not hold: losing a `Feed` loses nothing. Whatever surprises
it (a hole, another position than it sent) makes it start again from what is committed.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from ...daemon.messages import Pull, Pulled, ReadStream, StreamAt, SubmitSegment
from ...reducer.vocabulary.episode import EpisodeItem, Segment, Timing
from ...reducer.vocabulary.observation import SessionInfo
from .segment import Item, OutOfOrder, Segmenter, Step, segments

STEPS_MAX: Final = 1024  # above it unasked observations are left in the spool for now
DURATIONS_MAX: Final = 1024

Ask = ReadStream | Pull | SubmitSegment


class Feed:
    """Call `take_*` with what arrived, send what they return; `again` is what to send once more
    when no answer came."""

    def __init__(self, info: SessionInfo) -> None:
        self.info = info
        self.done = False  # the session is over and all of it committed
        self._live = True
        self._segmenter: Segmenter | None = None
        self._committed = 0
        self._steps: list[Step] = []
        self._sent: Segment | None = None
        self._asked: Ask | None = None
        self._durations: dict[str, int] = {}

    def begin(self) -> list[Ask]:
        """Forget everything and ask where the stream stands."""
        self._segmenter, self._steps, self._sent = None, [], None
        return [self._ask(ReadStream(self.info.session_id))]

    def again(self) -> Ask | None:
        """What has not been answered; None: nothing is owed to us."""
        return self._asked

    def take_stream_at(self, at: StreamAt) -> list[Ask]:
        """The answer to what was last asked of the reconciler."""
        if self._sent is not None and at.to_position == self._sent.to_position:
            self._sent, self._committed = None, at.to_position
        else:
            self._segmenter = Segmenter(at.to_position, at.resume)
            self._steps, self._sent, self._committed = [], None, at.to_position
        return self._next() or self._pull()

    def take_pulled(self, pulled: Pulled) -> list[Ask]:
        """Observations, asked for or not; or only the news that the session holds something."""
        self.info, self._live, self.done = pulled.info, pulled.live, False
        if self._segmenter is None or len(self._steps) > STEPS_MAX:
            return []
        self._remember(pulled.timings)
        if isinstance(self._asked, Pull):
            self._asked = None
        try:
            for observation in pulled.observations:
                self._steps.extend(map(self._timed, self._segmenter.feed(observation)))
        except OutOfOrder:
            return self._next() or self._pull()
        if not pulled.open and self._segmenter.position >= pulled.last_position:
            self._steps.extend(map(self._timed, self._segmenter.finish()))
            self.done = not self._steps and self._sent is None
        return self._next()

    def nudge(self) -> list[Ask]:
        """The adapter is new and names the session: look at what it holds."""
        return [] if self._segmenter is None else self._pull()

    def _pull(self) -> list[Ask]:
        """Not while a segment is in flight: its answer is followed by a pull anyway."""
        if self._sent is not None:
            return []
        return [self._ask(Pull(self.info.session_id, self._committed + 1))]

    def _next(self) -> list[Ask]:
        if self._sent is not None or not self._steps:
            return []
        all_ = segments(self.info, self._committed + 1, self._steps, live=self._live)
        self._sent = next(all_)
        to_position = self._sent.to_position
        self._steps = [step for step in self._steps if step.to_position > to_position]
        return [self._ask(SubmitSegment(self._sent))]

    def _ask(self, ask: Ask) -> Ask:
        self._asked = ask
        return ask

    def _remember(self, timings: tuple[tuple[str, int], ...]) -> None:
        self._durations.update(timings)
        while len(self._durations) > DURATIONS_MAX:
            del self._durations[next(iter(self._durations))]

    def _timed(self, step: Step) -> Step:
        """Puts the live durations beside the episode; outside its bytes (RULES 20, DESIGN 2)."""
        if not step.timed or step.timed[0][0] not in self._durations:
            return step
        first_id, first_end = step.timed[0]
        started = max(0, first_end - self._durations[first_id])
        timing = Timing(started, max(0, step.timed[-1][1] - started))
        items: tuple[Item, ...] = tuple(
            replace(item, timing=timing) if isinstance(item, EpisodeItem) else item
            for item in step.items
        )
        return replace(step, items=items)
