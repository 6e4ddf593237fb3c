"""Evidence: typed, redacted, with its provenance. Seed, "存储模型"; RULES 10 and 12."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from .ids import Confidence, EvidenceId, HmacRef, Key, NodeId, OpaqueId, Text, TimeMs, Wire
from .terms import ActorType, EvidenceType, FactResult


class RedactionStatus(StrEnum):
    REDACTED = "redacted"  # passed the redactor; marks stand where something was masked
    CLEAN = "clean"  # passed the redactor; nothing was masked
    DROPPED = "dropped"  # the redactor gave up in time; the text was not kept


class EvidenceDraft(Wire, frozen=True):
    """What an agent or a person writes in `attach_evidence`.

    `type` may be left out: the channel decides it (RULES 12), and a type the channel may not
    claim is rejected with `evidence_type_not_allowed`. `satisfies` names expected-evidence keys.
    """

    summary: Text
    evidence_id: EvidenceId | None = None
    type: EvidenceType | None = None
    satisfies: Annotated[tuple[Key, ...], Meta(max_length=16)] = ()
    result: FactResult | None = None
    confidence: Confidence | None = None


class Evidence(Wire, frozen=True):
    """One stored piece of evidence.

    `confidence_owner` says who vouches for `confidence`, so that an observer's 0.9 is never read
    as a test's 1.0. `firing_id` ties it to one firing of its transition. `from_edit` is the count
    of edit episodes folded before it was observed: a place is verified only by a passing result
    no older than the last edit (RULES 3).
    """

    evidence_id: EvidenceId
    type: EvidenceType
    summary: Text
    observed_at: TimeMs
    source: OpaqueId  # event, call or episode it came from
    confidence_owner: ActorType
    redaction_status: RedactionStatus
    target_id: NodeId
    confidence: Confidence = 1.0
    raw_ref_hash: HmacRef | None = None
    satisfies: tuple[Key, ...] = ()
    result: FactResult | None = None
    firing_id: NodeId | None = None
    from_edit: int = 0
