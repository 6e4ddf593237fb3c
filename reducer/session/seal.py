"""Payloads of one decision → numbered envelopes, ready to be written in one transaction.

The clock belongs to the shell: `now_ms` is handed in. Event ids derive from (session, seq), so
that a replayed import or a restored backup carries the same ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Raw

from ..vocabulary.codec import encode
from ..vocabulary.event import KIND_OF, Envelope, Payload, Provenance
from ..vocabulary.patch import Actor
from ..vocabulary.terms import Channel, Level

LEVEL_OF: Final[dict[Channel, Level]] = {
    Channel.DECLARED_PATH: Level.DECLARED,
    Channel.DECLARED_COARSE: Level.DECLARED,
    Channel.OBSERVED: Level.OBSERVED,
    Channel.HUMAN: Level.HUMAN,
    Channel.OBSERVER: Level.INFERRED,
    Channel.SYSTEM: Level.OBSERVED,
}


class Cause:
    """What an event is owed to: the channel's actor, the cause's id, the turn it belongs to."""

    __slots__ = ("actor", "causation_id", "confidence", "correlation_id", "source")

    def __init__(
        self,
        source: Channel,
        actor: Actor,
        causation_id: str,
        correlation_id: str | None = None,
        confidence: float = 1.0,
    ) -> None:
        self.source = source
        self.actor = actor
        self.causation_id = causation_id
        self.correlation_id = correlation_id
        self.confidence = confidence


def seal(
    payloads: Sequence[Payload],
    cause: Cause,
    *,
    session_id: str,
    last_seq: int,
    revision_before: int,
    revision_after: int,
    now_ms: int,
) -> list[Envelope]:
    """Envelopes `last_seq + 1 …`; with revision_after > before they are one batch."""
    ts = timestamp(now_ms)
    provenance = Provenance(level=LEVEL_OF[cause.source], confidence=cause.confidence)
    return [
        Envelope(
            schema_version=1,
            event_id=event_id(session_id, last_seq + offset),
            session_seq=last_seq + offset,
            ts=ts,
            session_id=session_id,
            actor=cause.actor,
            source=cause.source,
            kind=KIND_OF[type(payload)],
            causation_id=cause.causation_id,
            correlation_id=cause.correlation_id,
            graph_revision_before=revision_before,
            graph_revision_after=revision_after,
            payload=Raw(encode(payload)),
            provenance=provenance,
        )
        for offset, payload in enumerate(payloads, start=1)
    ]


def event_id(session_id: str, seq: int) -> str:
    return "evt_" + hashlib.sha256(f"{session_id}|{seq}".encode()).hexdigest()[:24]


def timestamp(epoch_ms: int) -> str:
    """`2026-07-14T15:08:11.210Z`, always with three decimals, always UTC."""
    seconds, ms = divmod(epoch_ms, 1000)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S") + f".{ms:03d}Z"
