"""The context pack: all that a model may see of one episode. Pure; redacted again afterwards.

Recent verbatim, older folded (after Petrichor's budgeted pack). It holds enums, counts, ids,
labels and selectors; no file names, no commands, no refs. Every string in it goes through the
redactor at level 2 before it leaves the process (see `prompt.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ..reducer.net.state import Transition
from ..reducer.session.state import EpisodeRecord, Session
from ..reducer.vocabulary.episode import Episode
from ..reducer.vocabulary.terms import FactKind, TransitionState

RECENT_VERBATIM: Final = 2
OLDER_FOLDED: Final = 6
ALTERNATES_MAX: Final = 8
FACTS_MAX: Final = 12
PACK_CHARS_MAX: Final = 6_000

# Facts that name only what a test runner or tracer printed; commands and files stay here.
_SENT_FACTS: Final = frozenset({FactKind.ASSERTION, FactKind.TEST, FactKind.TRACE})
_LIVE: Final = frozenset({TransitionState.IDLE, TransitionState.ACTIVE, TransitionState.FAILED})


def pack(session: Session, record: EpisodeRecord) -> dict[str, Any]:
    """A plain JSON value of at most PACK_CHARS_MAX characters when encoded."""
    active = session.net.transitions.get(record.transition_id or "")
    earlier = _before(session, record)
    built: dict[str, Any] = {
        "goal": session.root.text if session.root else "unknown",
        "activeStep": _step(active) if active else "unknown",
        "otherSteps": [_brief_step(t) for t in alternates(session, record)],
        "episode": _verbatim(record.episode),
        "before": [_verbatim(r.episode) for r in earlier[-RECENT_VERBATIM:]],
        "older": [_folded(r.episode) for r in earlier[-RECENT_VERBATIM - OLDER_FOLDED :]][
            :-RECENT_VERBATIM
        ],
    }
    return _within_budget(built)


def alternates(session: Session, record: EpisodeRecord) -> list[Transition]:
    """The live steps a model may name instead of the active one, newest first."""
    live = [
        transition
        for transition in session.net.transitions.values()
        if transition.state in _LIVE and transition.transition_id != record.transition_id
    ]
    return sorted(live, key=lambda t: t.born, reverse=True)[:ALTERNATES_MAX]


def _before(session: Session, record: EpisodeRecord) -> list[EpisodeRecord]:
    return [r for r in session.episodes.values() if r.seq < record.seq]


def _step(transition: Transition) -> dict[str, Any]:
    return {
        "id": transition.transition_id,
        "type": transition.type,
        "intent": transition.intent,
        "expectedEvidence": [expected.text for expected in transition.expected],
        "selectors": list(transition.selectors),
        "allowedKinds": list(transition.kinds),
        "exitCondition": transition.exit_condition or "unknown",
    }


def _brief_step(transition: Transition) -> dict[str, Any]:
    return {
        "id": transition.transition_id,
        "type": transition.type,
        "intent": transition.intent,
    }


def _verbatim(episode: Episode) -> dict[str, Any]:
    return {
        "kind": episode.kind,
        "outcome": episode.outcome,
        "calls": episode.calls,
        "tools": {tool.tool: tool.count for tool in episode.tools},
        "filesChanged": episode.files_changed,
        "facts": list(_facts(episode)),
        "errors": [
            {"sample": counted.signature.sample, "count": counted.count}
            for counted in episode.signatures
        ],
    }


def _facts(episode: Episode) -> Iterable[str]:
    sent = [fact for fact in episode.facts if fact.kind in _SENT_FACTS]
    for fact in sent[:FACTS_MAX]:
        yield f"{fact.kind}:{fact.name}" + (f"={fact.result}" if fact.result else "")


def _folded(episode: Episode) -> str:
    return f"{episode.kind} x{episode.calls}: {episode.outcome}"


def _within_budget(built: dict[str, Any]) -> dict[str, Any]:
    """Drops the oldest first, then the alternates; the episode itself is bounded by its struct."""
    for key in ("older", "before", "otherSteps"):
        while built[key] and len(repr(built)) > PACK_CHARS_MAX:
            built[key] = built[key][1:]
    return built
