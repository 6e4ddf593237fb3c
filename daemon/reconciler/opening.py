"""Opening a session: whichever message of it comes first does it."""

from __future__ import annotations

from ...reducer.session.fold import LOGIC_VERSION
from ...reducer.vocabulary.ids import MAIN_TOKEN_ID, START_PLACE_ID
from ...reducer.vocabulary.observation import SessionInfo
from ...reducer.vocabulary.payload import SessionStarted
from . import causes
from .change import Change


def open_if_new(change: Change, info: SessionInfo) -> None:
    """`session.started`, once. The logic version it pins decides how this log folds, for ever."""
    if change.session.seq:
        return
    started = SessionStarted(info, LOGIC_VERSION, START_PLACE_ID, MAIN_TOKEN_ID)
    change.tell(causes.by_adapter(change.session, info, 0), started)
