"""How often NEXT was right: of the steps that became active, those that had been shown as next.

Only what a declaration made foreseeable counts: before each activation, was the step a success
continuation or the failure branch of the one before? A track record is worth more than a promise.
"""

from __future__ import annotations

import itertools

from ..session.state import Session
from .focus import fired


def next_record(session: Session) -> tuple[int, int]:
    """(right, all) over consecutive fired steps, by the arcs between them."""
    net = session.net
    steps = [net.transitions[t] for t, _ in fired(session) if t in net.transitions]
    right = 0
    for before, after in itertools.pairwise(steps):
        foreseen = after.flow is not None and after.flow in (before.success, before.failure)
        born_before = after.changed_revision and after.born < before.born
        right += bool(foreseen or born_before)
    return right, max(0, len(steps) - 1)
