"""The one list of open tensions, and of what to keep an eye on, of a session as it stands."""

from __future__ import annotations

from typing import Final

from ..session.state import Session
from . import claims, commitments, drifts
from .loops import Watch, gate_watches, loops
from .situation import Situation
from .tension import Detector, Tension
from .tombstones import tombstones

DETECTORS: Final[tuple[Detector, ...]] = (
    *commitments.DETECTORS,
    *drifts.DETECTORS,
    *claims.DETECTORS,
)


def tensions(session: Session, at: Situation | None = None) -> list[Tension]:
    """Open tensions: a person's word first, then drifts, then claims; each id once."""
    situation = at or Situation(session)
    found = (tension for detector in DETECTORS for tension in detector(situation))
    return list({tension.tension_id: tension for tension in found}.values())


def watches(session: Session, at: Situation | None = None) -> list[Watch]:
    """Loops, standing gates and returns to paths set aside."""
    situation = at or Situation(session)
    return [*loops(session), *gate_watches(session), *tombstones(situation)]
