"""What follows by itself once a session has moved: no message asks for it, the facts do.

constraint.receipted   a correction was acknowledged, obeyed, violated, or lapsed
path.diverged          a marker when the verdict turns to diverged; `--verify` compares it with
                       the fold, and nothing reads it as an input
anchor.requested       the agent is to be asked, once per cause, where it stands
"""

from __future__ import annotations

from ...reducer.alignment.verdict import Verdict, verdict
from ...reducer.people import anchor, receipts
from ...reducer.session.state import Session
from ...reducer.vocabulary.payload import PathDiverged
from ...reducer.vocabulary.terms import AlignmentStatus
from . import causes
from .change import Change


def verdict_before(session: Session) -> Verdict | None:
    """To be taken before a change; None while nothing has been declared, which is cheap to say."""
    return verdict(session) if session.declared() else None


def follow_up(change: Change, before: Verdict | None, cause_id: str, *, live: bool) -> None:
    """Adds what is due. `live`: the agent is there to be asked; an imported past is not."""
    session = change.session
    cause = causes.by_system(session, cause_id)
    change.tell(cause, *receipts.due(session, change.now_ms))
    now = verdict_before(session)
    if now is None:
        return
    if now.status is AlignmentStatus.DIVERGED and _is_news(before, now):
        change.tell(cause, PathDiverged(now.transition_id, now.clause, now.status))
    request = anchor.due(session, now) if live else None
    if request is not None:
        change.tell(cause, request)


def anchor_text(session: Session) -> str | None:
    """What to ask the agent, if it was asked since its last patch and has not answered by one."""
    if not session.anchored:
        return None
    patch = session.last_patch()
    if patch is not None and patch.seq > max(session.anchored.values()):
        return None
    return anchor.text_of(verdict(session))


def _is_news(before: Verdict | None, now: Verdict) -> bool:
    return before is None or (before.status, before.firing_id) != (now.status, now.firing_id)
