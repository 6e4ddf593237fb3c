"""What the observer may say in Phase 1: facts with a model's name on them, never a verdict.

Seed, "Observer LLM 的权限". No field here can set alignment, structure or marking.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from .ids import Confidence, Label, NodeId, OpaqueId, Selector, SessionId, Text, Wire


class Remark(Wire, frozen=True, tag_field="op"):
    """One thing an observer says."""


class NoChange(Remark, frozen=True, tag="no_change"):
    pass


class ObserverEvidence(Remark, frozen=True, tag="attach_evidence"):
    target_id: NodeId
    summary: Text


class AnnotateEpisode(Remark, frozen=True, tag="annotate_episode"):
    """`supports_selector` and `contradicts_selector` never confirm anything (RULES 29)."""

    intent_class: Label | None = None
    alternate_transition_id: NodeId | None = None
    supports_selector: Selector | None = None
    contradicts_selector: Selector | None = None


class ObserverPatch(Wire, frozen=True):
    """One answer about one episode. `confidence` decides the band the reconciler applies."""

    patch_id: OpaqueId
    session_id: SessionId
    episode_id: OpaqueId
    model_version: Label
    confidence: Confidence
    ops: Annotated[tuple[NoChange | ObserverEvidence | AnnotateEpisode, ...], Meta(max_length=4)]
    schema_version: Literal[1] = 1
