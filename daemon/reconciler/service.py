"""One message in, one answer out, and what it did to one session: the reconciler without sockets.

Rules for editors of this file:
* Call inside `writer.transaction()`. Answers may leave the process only after its COMMIT.
* A handler builds a `Change`; it reaches the log in `_write`, as the last thing that can fail for
  a reason of its own. So an error in a handler costs that message alone.
* An error of the log itself is not caught here: it ends the transaction, and `forget` follows.
* The clock is a parameter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from ...reducer.people.constraints import standing
from ...reducer.remarks.bands import Band, rule
from ...reducer.session.state import Session
from ...reducer.vocabulary.codec import decode, encode
from ...reducer.vocabulary.episode import EpisodeItem, Resume, Segment
from ...reducer.vocabulary.event import Payload
from ...reducer.vocabulary.ids import SessionId
from ...reducer.vocabulary.observation import LiveNote
from ...reducer.vocabulary.payload import (
    ConstraintReceipted,
    EpisodeAnnotated,
    EvidenceAttached,
    ViewFocused,
)
from ...reducer.vocabulary.people import HumanIntentPatch, ReceiptStage
from ..eventlog.writer import Writer
from ..messages import (
    Done,
    ReadStanding,
    ReadStream,
    Refused,
    Standing,
    StreamAt,
    SubmitLiveNote,
    SubmitPatch,
    SubmitRemark,
    SubmitSegment,
    Taken,
)
from ..sessions import Sessions
from ..settings import Settings
from . import causes
from .aftermath import anchor_text, follow_up, verdict_before
from .change import Change
from .patches import take_patch
from .people import take_correction, take_focus, take_patch_by_hand
from .segments import take_segment


class News(Struct, frozen=True):
    """One committed event, ready to be published: `body` is what stands in the log."""

    session_id: str
    seq: int
    body: bytes


class Outcome(Struct, frozen=True):
    """`answer`: to the sender. `news` and `live`: to everybody, after COMMIT."""

    answer: bytes
    news: tuple[News, ...] = ()
    live: LiveNote | None = None


class Service:
    def __init__(self, writer: Writer, settings: Settings, now_ms: Callable[[], int]) -> None:
        self._writer = writer
        self._settings = settings
        self._now_ms = now_ms
        self._described: dict[str, dict[str, str | None]] = {}
        self.sessions = Sessions(writer.read)
        self.counts = dict.fromkeys(("patches", "segments", "events", "failed"), 0)
        # request → (what does it, the session whose fold a failure may leave halfway)
        self._handlers: dict[type, tuple[Callable[[Any], Outcome], Callable[[Any], str | None]]] = {
            SubmitPatch: (self._patch, lambda ask: ask.info.session_id),
            SubmitSegment: (self._segment, lambda ask: ask.segment.info.session_id),
            ReadStream: (self._stream, lambda _: None),
            ReadStanding: (self._standing, lambda ask: ask.session_id),
            SubmitLiveNote: (self._live_note, lambda ask: ask.note.session_id),
            SubmitRemark: (self._remark, lambda ask: ask.patch.session_id),
        }

    def handle(self, request: Any) -> Outcome:
        """For every request of `messages.py` but the human ones. Raises errors of the log only."""
        handler, session_of = self._handlers[type(request)]
        return self._guarded(session_of(request), lambda: handler(request))

    def forget(self) -> None:
        """After a failed transaction: nothing kept in memory can be trusted."""
        self.sessions.clear()
        self._described.clear()

    # --- people (called by `human.py`, which knows who they are) ------------------------------

    def correct(self, correction: HumanIntentPatch) -> Outcome:
        def work() -> Outcome:
            change = self._change(correction.session_id)
            before = verdict_before(change.session)
            answer = take_correction(change, correction, self._writer.read)
            if isinstance(answer, Taken):
                follow_up(change, before, correction.correction_id, live=True)
            return self._write(change, encode(answer))

        return self._guarded(correction.session_id, work)

    def patch_by_hand(self, session_id: SessionId, patch: bytes, *, proposal: bool) -> Outcome:
        def work() -> Outcome:
            change = self._change(session_id)
            answer = take_patch_by_hand(change, session_id, patch, proposal=proposal)
            return self._write(change, encode(answer))

        return self._guarded(session_id, work)

    def focus(self, session_id: SessionId, focused: ViewFocused) -> Outcome:
        def work() -> Outcome:
            change = self._change(session_id)
            take_focus(change, focused)
            return self._write(change, encode(Done()))

        return self._guarded(session_id, work)

    def purge(self, session_id: SessionId) -> Outcome:
        """Outside of `transaction()`: it makes its own, and empties the WAL behind it."""
        self.sessions.drop(session_id)
        self._described.pop(session_id, None)
        self._writer.purge(session_id)
        note = LiveNote(session_id, "purged", self._now_ms(), after=0)
        return Outcome(encode(Done()), live=note)

    # --- agents and adapters ------------------------------------------------------------------

    def _patch(self, ask: SubmitPatch) -> Outcome:
        self.counts["patches"] += 1
        change = self._change(ask.info.session_id)
        before = verdict_before(change.session)
        revision = change.session.revision
        answer = take_patch(change, ask, self._writer.read)
        if change.session.revision != revision:
            follow_up(change, before, change.envelopes[-1].causation_id, live=True)
        return self._write(change, answer)

    def _segment(self, ask: SubmitSegment) -> Outcome:
        self.counts["segments"] += 1
        segment = ask.segment
        change = self._change(segment.info.session_id)
        if not segment.live:
            change.now_ms = event_time(segment) or change.now_ms
        before = verdict_before(change.session)
        answer = take_segment(change, segment)
        if change.envelopes:
            follow_up(change, before, change.envelopes[-1].causation_id, live=segment.live)
        return self._write(change, encode(answer))

    def _stream(self, ask: ReadStream) -> Outcome:
        """From its table: nothing need be folded to say it."""
        to_position, resume = self._writer.read.stream(ask.session_id)
        answer = StreamAt(ask.session_id, to_position, decode(resume.encode(), Resume))
        return Outcome(encode(answer))

    def _standing(self, ask: ReadStanding) -> Outcome:
        session = self.sessions.get(ask.session_id)
        answer = Standing(
            revision=session.revision,
            to_position=session.stream_position,
            constraints=standing(session),
            declared=self._may_declare(session),
            anchor=anchor_text(session),
        )
        return Outcome(encode(answer))

    def _live_note(self, ask: SubmitLiveNote) -> Outcome:
        """Passed on. A receipt is a fact about a correction, so it becomes an event, once."""
        note = ask.note
        if note.what != "receipt":
            return Outcome(encode(Done()), live=note)
        change = self._change(note.session_id)
        record = change.session.corrections.get(note.ref or "")
        stage = _RECEIPTS.get(note.name or "", ReceiptStage.IN_TURN)
        if record is None or any(receipt.stage is stage for receipt in record.receipts):
            return Outcome(encode(Done()))
        receipt = ConstraintReceipted(
            record.correction.correction_id, stage, note.at, position=note.after
        )
        cause = causes.by_system(change.session, record.correction.correction_id)
        change.tell(cause, receipt)
        follow_up(change, verdict_before(change.session), cause.causation_id, live=True)
        return self._write(change, encode(Done()))

    def _remark(self, ask: SubmitRemark) -> Outcome:
        """The band decides; a remark sent twice is taken once."""
        remark = ask.patch
        change = self._change(remark.session_id)
        ruling = rule(change.session, remark, change.now_ms)
        if ruling.band is Band.REFUSED:
            return Outcome(encode(Refused("remark", ruling.because)))
        fresh = [each for each in ruling.payloads if not _is_known(change.session, each)]
        if ruling.band is Band.APPLIED and fresh:
            before = verdict_before(change.session)
            cause = causes.by_observer(change.session, remark.patch_id, remark.confidence)
            change.tell(cause, *fresh)
            follow_up(change, before, remark.patch_id, live=True)
        elif ruling.band is Band.PROPOSED and fresh:
            change.beside.append(
                lambda writer: writer.store_proposal(
                    remark.session_id, remark.patch_id, causes.OBSERVER.id, change.now_ms,
                    change.session.revision, encode(remark),
                )
            )  # fmt: skip
        return self._write(change, encode(Done()))

    # --- how it is done -----------------------------------------------------------------------

    def _change(self, session_id: SessionId) -> Change:
        return Change(self.sessions.get(session_id), self._now_ms())

    def _guarded(self, session_id: SessionId | None, work: Callable[[], Outcome]) -> Outcome:
        """A handler that fails has written nothing; its session is folded again when wanted."""
        try:
            return work()
        except LogFailed:
            raise
        except Exception as error:
            self.counts["failed"] += 1
            if session_id is not None:
                self.sessions.drop(session_id)
            raise HandlerFailed(session_id) from error

    def _write(self, change: Change, answer: bytes) -> Outcome:
        session = change.session
        try:
            bodies = self._writer.append(session.session_id, change.envelopes)
            for write in change.beside:
                write(self._writer)
            if change.envelopes:
                self._describe(session)
        except Exception as error:
            raise LogFailed(session.session_id) from error
        self.counts["events"] += len(bodies)
        first = session.seq - len(bodies) + 1
        news = [News(session.session_id, first + n, body) for n, body in enumerate(bodies)]
        return Outcome(answer, tuple(news))

    def _describe(self, session: Session) -> None:
        """Keeps the row of the list of sessions as the fold has it; written only if it changed."""
        described = description(session)
        if self._described.get(session.session_id) != described:
            self._writer.describe(session.session_id, **described)
            self._described[session.session_id] = described

    def _may_declare(self, session: Session) -> bool:
        project = session.info.project if session.info else None
        off = self._settings.declared_path_off_projects
        return self._settings.declared_path and project not in off


class HandlerFailed(RuntimeError):
    """One message could not be handled (our fault); nothing of it was written."""


class LogFailed(RuntimeError):
    """The log refused; the transaction must be given up."""


_RECEIPTS: Final = {stage.value: stage for stage in (ReceiptStage.SENT, ReceiptStage.IN_TURN)}


def event_time(segment: Segment) -> int:
    """When the last thing in it happened: an imported past is dated by itself, not by today."""
    times = [
        item.episode.ended_at if isinstance(item, EpisodeItem) else item.fact.at
        for item in segment.items
    ]
    return max(times, default=0) or segment.info.started_at


def description(session: Session) -> dict[str, str | None]:
    info, root, prompt = session.info, session.root, session.first_prompt
    return {
        "started_ts": session.started_ts,
        "agent": info.agent if info else "",
        "project": info.project if info else None,
        "parent_id": info.parent_session_id if info else None,
        "title": root.text if root else prompt.line if prompt else None,
        "title_level": str(root.level) if root else None,
        "settled": str(session.settled) if session.settled else None,
    }


def _is_known(session: Session, payload: Payload) -> bool:
    """A remark that was sent again: evidence ids derive from it, annotations are compared."""
    if isinstance(payload, EvidenceAttached):
        return payload.evidence.evidence_id in session.net.evidence
    assert isinstance(payload, EpisodeAnnotated), "a remark can be nothing else (bands.py)"
    said = (payload.annotation, payload.confidence, payload.model_version)
    return any(
        (known.annotation, known.confidence, known.model_version) == said
        for known in session.annotations.get(payload.episode_id, ())
    )
