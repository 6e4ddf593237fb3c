"""What a view shows that stands beside the events: proposals that wait, an open prompt."""

from __future__ import annotations

from collections.abc import Sequence

from ...reducer.attention.watch import Outside
from ...reducer.remarks.proposals import opened, speaks_of
from ...reducer.session.state import Session
from ..eventlog.reader import Proposal


def outside_of(session: Session, waiting: Sequence[Proposal], *, asking: bool = False) -> Outside:
    """`waiting`: the undecided ones; `asking`: the agent's own prompt is open."""
    found = [opened(one.agent_id, one.body.encode()) for one in waiting]
    return Outside(len(found), speaks_of(session, found), asking)
