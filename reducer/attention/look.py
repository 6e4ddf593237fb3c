"""`view_of`: one session, one viewer, one language → one `View`, the same in every process."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from ..alignment.situation import Situation
from ..alignment.tension import Tension
from ..alignment.tensions import tensions, watches
from ..session.state import CorrectionRecord, EpisodeRecord, Session
from ..vocabulary.event import ViewFocused
from ..vocabulary.evidence import Evidence
from ..vocabulary.terms import ActorType, Level
from . import focus, questions
from .horizon import Horizon
from .observed import coverage
from .record import next_record
from .scene import Scenery, scene
from .since import since
from .texts import Language, sentence, text
from .view import (
    EpisodeView,
    EvidenceView,
    Line,
    PlanLine,
    ReceiptView,
    Scene,
    Spine,
    TensionView,
    View,
    WatchLine,
)
from .watch import Outside, watch_lines
from .words import FIRST_SCREEN_WORDS_MAX, FOUR_LINES_WORDS_MAX, cost, cut, fit

EPISODES_SHOWN_MAX = 200
EVIDENCE_SHOWN_MAX = 200
_LEVEL_OF: Final = {
    ActorType.AGENT: Level.DECLARED,
    ActorType.HUMAN: Level.HUMAN,
    ActorType.OBSERVER: Level.INFERRED,
}
NO_FOCUS = ViewFocused("nobody")


def view_of(
    session: Session,
    *,
    viewer: str | None = None,
    language: Language = "en",
    outside: Outside | None = None,
) -> View:
    """Everything a client draws. `viewer` brings its pins, folds and watermark."""
    return Look(session, viewer=viewer, outside=outside).view(language)


class Look:
    """One look at a session as it stands: what is seen is worked out once, worded as often as
    wanted. With the same `scenery` each time, a look costs what changed since the last."""

    def __init__(
        self,
        session: Session,
        *,
        viewer: str | None = None,
        outside: Outside | None = None,
        scenery: Scenery | None = None,
    ) -> None:
        self._session = session
        self._outside = outside or Outside()
        self._scenery = scenery
        self._focused = session.viewers.get(viewer or "", NO_FOCUS)
        self._pinned = frozenset(self._focused.pinned)
        self._situation = Situation(session)
        self._horizon = Horizon(session.net, self._pinned)
        self._tense = tuple(tensions(session, self._situation))
        self._retired = questions.retired_paths(session)

    def view(self, language: Language) -> View:
        session, verdict = self._session, self._situation.verdict
        seen, why_seen = coverage(session)
        worded: Any = self.texts(language)
        return View(
            session_id=session.session_id,
            seq=session.seq,
            revision=session.revision,
            agent=session.info.agent if session.info else "",
            project=session.info.project if session.info else None,
            started_ts=session.started_ts,
            last_ts=session.last_ts,
            settled=session.settled.value if session.settled else None,
            **worded,
            alignment=verdict.status,
            latest_ask=_latest_ask(session),
            verdict=verdict,
            repeats=tuple(watches(session, self._situation)),
            retired=self._retired,
            spine=tuple(_spine(session)),
            receipts=tuple(_receipt(record) for record in session.corrections.values()),
            plan=tuple(PlanLine(item.text, item.state.value, item.reason) for item in session.plan),
            coverage=seen,
            coverage_reason=why_seen,
            next_record=next_record(session),
            scene=self._scene(),
            episodes={
                record.episode.episode_id: _episode(record)
                for record in list(session.episodes.values())[-EPISODES_SHOWN_MAX:]
            },
            evidence={
                one.evidence_id: _evidence(one)
                for one in list(session.net.evidence.values())[-EVIDENCE_SHOWN_MAX:]
            },
        )

    def texts(self, language: Language) -> dict[str, object]:
        """Only what is worded, by the names of `View`: what a second language needs."""
        session = self._session
        watching = watch_lines(
            session, self._situation, self._horizon, self._pinned, self._outside, language
        )
        ways = focus.next_steps(session, self._pinned, language)
        lines = _first_screen(session, ways, watching, self._situation, language, self._retired)
        seen_up_to = self._focused.seen_up_to
        return {
            **lines,
            "next_steps": tuple(ways),
            "watches": tuple(watching),
            "answers": questions.eight(_answers(lines), language),
            "tensions": tuple(_tension(one, language) for one in self._tense),
            "since": since(session, seen_up_to, self._retired, self._tense, language),
        }

    def _scene(self) -> Scene:
        return scene(
            self._session,
            self._horizon,
            self._tense,
            pinned=self._pinned,
            folded=frozenset(self._focused.folded),
            provisional=self._outside.provisional,
            last=self._scenery,
        )


def _first_screen(
    session: Session,
    ways: list[focus.NextStep],
    watching: list[WatchLine],
    situation: Situation,
    language: Language,
    retired: tuple[questions.Retired, ...],
) -> dict[str, Line]:
    """RULES 36: goal, alignment, the four lines within 40 words, three more, 80 in all."""
    watch = watching[0].line if watching else Line(text("nothing_watch", language), Level.OBSERVED)
    four = {
        "now": focus.now(session, language),
        "why": focus.why(session, language),
        "next": focus.next_line(ways, language),
        "watch": watch,
    }
    rest = {
        "north_star": focus.north_star(session, language),
        "alignment_reason": questions.fits(situation.verdict, language),
        "expected": questions.expected(session, language),
        "if_fails": questions.if_fails(session, language),
        "set_aside": questions.set_aside(session, retired, language),
    }
    fitted = _fitted(four, FOUR_LINES_WORDS_MAX)
    spent = sum(cost(line.text) for line in fitted.values())
    return fitted | _fitted(rest, FIRST_SCREEN_WORDS_MAX - spent)


def _fitted(lines: dict[str, Line], words_max: float) -> dict[str, Line]:
    texts = fit([line.text for line in lines.values()], words_max)
    return {
        name: replace(line, text=said)
        for (name, line), said in zip(lines.items(), texts, strict=True)
    }


def _answers(lines: dict[str, Line]) -> tuple[Line, ...]:
    order = ("north_star", "now", "why", "expected", "next", "if_fails", "set_aside")
    return (*(lines[name] for name in order), lines["alignment_reason"])


def _latest_ask(session: Session) -> Line | None:
    """A later request replaces no goal; it is shown beside it (RULES 18)."""
    latest = session.latest_prompt
    if latest is None or latest == session.first_prompt:
        return None
    return Line(cut(latest.line, 20), Level.OBSERVED)


def _spine(session: Session) -> list[Spine]:
    net = session.net
    return [
        Spine(t, net.transitions[t].intent, net.transitions[t].state, seq)
        for t, seq in focus.fired(session)
        if t in net.transitions
    ]


def _receipt(record: CorrectionRecord) -> ReceiptView:
    last = record.receipts[-1] if record.receipts else None
    return ReceiptView(
        correction_id=record.correction.correction_id,
        type=record.correction.type,
        text=record.correction.text,
        target_id=record.correction.target_id,
        stage=last.stage if last else None,
        at=last.at if last else 0,
        because=last.because if last else None,
        undone=record.undone_by is not None,
    )


def _tension(one: Tension, language: Language) -> TensionView:
    node, rests_on = one.transition_id or one.place_id, (*one.episode_ids, *one.evidence_ids)
    declared, observed = (
        Line(sentence(side.words, language), side.level, rests_on, node)
        for side in (one.declared, one.observed)
    )
    return TensionView(
        id=one.tension_id,
        kind=one.kind.value,
        declared=declared,
        observed=observed,
        resolves=sentence(one.resolves, language),
        since_id=one.since_id,
        news=one.news,
    )


def _evidence(one: Evidence) -> EvidenceView:
    return EvidenceView(
        id=one.evidence_id,
        type=one.type,
        summary=one.summary,
        level=_LEVEL_OF.get(one.confidence_owner, Level.OBSERVED),
        at=one.observed_at,
        target_id=one.target_id,
        satisfies=one.satisfies,
        result=one.result,
    )


def _episode(record: EpisodeRecord) -> EpisodeView:
    episode = record.episode
    return EpisodeView(
        id=episode.episode_id,
        kind=episode.kind,
        outcome=episode.outcome,
        calls=episode.calls,
        ended_at=episode.ended_at,
        step_id=record.transition_id,
        facts=tuple(
            f"{fact.kind}:{fact.name}" + (f"={fact.result}" if fact.result else "")
            for fact in episode.facts
        ),
        signatures=tuple((s.signature.sample, s.count) for s in episode.signatures),
        refusals=tuple((r.refusal.quote, r.count) for r in episode.refusals),
        files_read=episode.files_read,
        files_changed=episode.files_changed,
        moved=record.moved_by is not None,
    )
