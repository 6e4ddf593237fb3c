"""Evidence: who may claim what, and how a draft becomes a stored piece (RULES 12).

The channel decides the type, never the message. What an agent says of itself is a declaration,
however sure it sounds.
"""

from __future__ import annotations

from typing import Final

from ..vocabulary.evidence import Evidence, EvidenceDraft, RedactionStatus
from ..vocabulary.terms import ActorType, Channel, EvidenceType, FactResult
from .state import Net

_SEEN: Final = (
    EvidenceType.TOOL_EPISODE,
    EvidenceType.TEST_RESULT,
    EvidenceType.ERROR_SIGNATURE,
    EvidenceType.EXTERNAL_GATE,
    EvidenceType.GIT_FACT,
)
# The first one named is what a draft without a type becomes.
TYPES_BY_CHANNEL: Final[dict[Channel, tuple[EvidenceType, ...]]] = {
    Channel.DECLARED_PATH: (EvidenceType.AGENT_DECLARATION,),
    Channel.DECLARED_COARSE: (EvidenceType.AGENT_DECLARATION,),
    Channel.OBSERVED: _SEEN,
    Channel.SYSTEM: _SEEN,
    Channel.HUMAN: (EvidenceType.HUMAN_STATEMENT,),
    Channel.OBSERVER: (EvidenceType.OBSERVER_INFERENCE,),
}
OWNER_BY_CHANNEL: Final[dict[Channel, ActorType]] = {
    Channel.DECLARED_PATH: ActorType.AGENT,
    Channel.DECLARED_COARSE: ActorType.AGENT,
    Channel.OBSERVED: ActorType.ADAPTER,
    Channel.SYSTEM: ActorType.SYSTEM,
    Channel.HUMAN: ActorType.HUMAN,
    Channel.OBSERVER: ActorType.OBSERVER,
}
OBSERVED_TYPES: Final = frozenset(_SEEN)


def evidence_of(
    net: Net,
    target_id: str,
    draft: EvidenceDraft,
    *,
    evidence_id: str,
    channel: Channel,
    source: str,
    now_ms: int,
    redaction: RedactionStatus = RedactionStatus.REDACTED,
) -> Evidence:
    """A draft as it is stored. The caller has checked type, keys and id."""
    return Evidence(
        evidence_id=evidence_id,
        type=draft.type or TYPES_BY_CHANNEL[channel][0],
        summary=draft.summary,
        observed_at=now_ms,
        source=source,
        confidence_owner=OWNER_BY_CHANNEL[channel],
        redaction_status=redaction,
        target_id=target_id,
        confidence=1.0 if draft.confidence is None else draft.confidence,
        satisfies=draft.satisfies,
        result=draft.result,
        firing_id=firing_of(net, target_id),
        from_edit=net.edits,
    )


def firing_of(net: Net, target_id: str) -> str | None:
    """The firing that evidence for a node belongs to: the step's own, else the active one's."""
    step = net.transitions.get(target_id) or net.active_transition()
    return step.firing_id if step is not None else None


def next_evidence_id(net: Net) -> str:
    """`ev_<n>`; an agent may have taken that name for something of its own."""
    number = len(net.evidence) + 1
    while f"ev_{number}" in net.evidence:
        number += 1
    return f"ev_{number}"


def verifies(net: Net, evidence: Evidence) -> bool:
    """A passing result that was observed, not told, and is no older than the last edit."""
    return (
        evidence.type in OBSERVED_TYPES
        and evidence.result is FactResult.PASS
        and evidence.from_edit >= net.edits
    )
