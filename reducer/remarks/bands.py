"""An `ObserverPatch` in, a `Ruling` out. Pure; the reconciler commits what the ruling says."""

from __future__ import annotations

import hashlib
from enum import Enum
from typing import Final

from msgspec import Struct

from ..session.state import Session
from ..vocabulary.annotation import AnnotateEpisode, ObserverEvidence, ObserverPatch
from ..vocabulary.event import EpisodeAnnotated, EvidenceAttached, Payload
from ..vocabulary.evidence import Evidence, RedactionStatus
from ..vocabulary.terms import ActorType, EvidenceType

ATTACH_MIN: Final = 0.85
PROPOSE_MIN: Final = 0.60


class Band(Enum):
    APPLIED = "applied"
    PROPOSED = "proposed"
    UNKNOWN = "unknown"
    REFUSED = "refused"


class Ruling(Struct, frozen=True):
    """`payloads` only for APPLIED; `because` says what was missing for REFUSED."""

    band: Band
    payloads: tuple[Payload, ...] = ()
    because: str = ""


def rule(session: Session, remark: ObserverPatch, now_ms: int) -> Ruling:
    """A remark about an episode that exists, naming only ids that exist, within its band."""
    missing = _missing(session, remark)
    if missing:
        return Ruling(Band.REFUSED, because=missing)
    if remark.confidence < PROPOSE_MIN:
        return Ruling(Band.UNKNOWN)
    payloads = payloads_of(session, remark, now_ms)
    if not payloads:
        return Ruling(Band.UNKNOWN)
    if remark.confidence < ATTACH_MIN:
        return Ruling(Band.PROPOSED, payloads)
    return Ruling(Band.APPLIED, payloads)


def _missing(session: Session, remark: ObserverPatch) -> str:
    if remark.episode_id not in session.episodes:
        return f"episode {remark.episode_id} is not in the log"
    for op in remark.ops:
        if isinstance(op, ObserverEvidence) and op.target_id not in session.net.transitions:
            return f"transition {op.target_id} does not exist"
        if isinstance(op, AnnotateEpisode):
            alternate = op.alternate_transition_id
            if alternate is not None and alternate not in session.net.transitions:
                return f"transition {alternate} does not exist"
    return ""


def payloads_of(session: Session, remark: ObserverPatch, now_ms: int) -> tuple[Payload, ...]:
    """What the remark would add; also what a person adds by accepting it."""
    found: list[Payload] = []
    for index, op in enumerate(remark.ops):
        if isinstance(op, AnnotateEpisode):
            found.append(
                EpisodeAnnotated(remark.episode_id, op, remark.confidence, remark.model_version)
            )
        elif isinstance(op, ObserverEvidence):
            found.append(EvidenceAttached(_evidence(session, remark, op, index, now_ms)))
    return tuple(found)


def _evidence(
    session: Session, remark: ObserverPatch, op: ObserverEvidence, index: int, now_ms: int
) -> Evidence:
    """The id derives from the remark, so that a resent remark is the same evidence."""
    name = hashlib.sha256(f"{remark.patch_id}|{index}".encode()).hexdigest()[:16]
    return Evidence(
        evidence_id=f"ev_ob_{name}",
        type=EvidenceType.OBSERVER_INFERENCE,
        summary=op.summary,
        observed_at=now_ms,
        source=remark.episode_id,
        confidence_owner=ActorType.OBSERVER,
        redaction_status=RedactionStatus.REDACTED,
        target_id=op.target_id,
        confidence=remark.confidence,
        firing_id=session.net.transitions[op.target_id].firing_id,
        from_edit=0,
    )
