"""How often NEXT was right: of the steps that became active, those that had been shown as next.

A step counts as right if it was there before the patch that started it, as a success continuation
or the failure branch of the step before. A track record is worth more than a promise.
"""

from __future__ import annotations

import itertools

from ..session.state import PatchRecord, Session


def next_record(session: Session) -> tuple[int, int]:
    """(right, all) over consecutive fired steps."""
    net = session.net
    right = steps = 0
    for before, patch in itertools.pairwise(_activations(session)):
        was = net.transitions[before.active_transition_id or ""]
        became = net.transitions[patch.active_transition_id or ""]
        steps += 1
        right += became.born < patch.born_before and became.flow in (was.success, was.failure)
    return right, steps


def _activations(session: Session) -> list[PatchRecord]:
    """The patches that made another firing active, in order."""
    known = [patch for patch in session.patches if patch.firing_id is not None]
    return [
        patch
        for index, patch in enumerate(known)
        if index == 0 or patch.firing_id != known[index - 1].firing_id
    ]
