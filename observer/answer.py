"""A model's reply → an `ObserverPatch`, or the sentence that says why not. Strict and pure.

Servers return prose around JSON, cut JSON, wrong enums and empty content as success; only this
check notices (reference: measured behaviour of litellm). The one repair try sends the sentence
back to the model; after that the observer gives up.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from ..reducer.vocabulary.annotation import AnnotateEpisode, NoChange, ObserverEvidence
from ..reducer.vocabulary.annotation import ObserverPatch as Remark
from ..reducer.vocabulary.ids import Confidence, Wire
from .prompt import NONE, SUMMARY_CHARS_MAX

ANSWER_BYTES_MAX: Final = 64 * 1024
# Links and code have no place in a summary that a person will read.
_UNWANTED: Final = re.compile(r"(?:https?|ftp|file)://\S+|www\.\S+|`[^`]*`|[<>{}\x00-\x1f\x7f]+")


class Reply(Wire, frozen=True):
    op: str
    confidence: Confidence
    intent_class: str = NONE
    alternate_transition_id: str = NONE
    supports_selector: str = NONE
    contradicts_selector: str = NONE
    summary: Annotated[str, Meta(max_length=4 * SUMMARY_CHARS_MAX)] = ""


class Unusable(ValueError):
    """The reply cannot be used; the message is fit to be sent back for the one repair try."""


def read(content: str | None, schema: dict[str, Any]) -> Reply:
    """Raises Unusable. Accepts the object alone, or one object inside prose or a fence."""
    if not content or not content.strip():
        raise Unusable("the answer was empty; one JSON object was expected")
    if len(content.encode("utf-8", "replace")) > ANSWER_BYTES_MAX:
        raise Unusable(f"the answer was over {ANSWER_BYTES_MAX} bytes")
    start, end = content.find("{"), content.rfind("}")
    if start < 0 or end < start:
        raise Unusable("no JSON object in the answer")
    try:
        reply = msgspec.json.decode(content[start : end + 1], type=Reply)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unusable(f"the answer does not fit the schema: {error}") from error
    _check_enums(reply, schema["properties"])
    return reply


def _check_enums(reply: Reply, properties: dict[str, Any]) -> None:
    fields = dict(zip(reply.__struct_encode_fields__, msgspec.structs.astuple(reply), strict=True))
    for name, value in fields.items():
        allowed = properties[name].get("enum")
        if allowed is not None and value not in allowed:
            raise Unusable(f"{name} must be one of {', '.join(allowed)}")


def remark(
    reply: Reply,
    *,
    patch_id: str,
    session_id: str,
    episode_id: str,
    model_version: str,
    transition_id: str | None,
    summary: str,
) -> Remark:
    """`summary` is the reply's own, redacted again by the caller. Never sets a verdict."""
    ops: tuple[NoChange | ObserverEvidence | AnnotateEpisode, ...] = (NoChange(),)
    if reply.op == "annotate_episode":
        ops = (
            AnnotateEpisode(
                intent_class=_given(reply.intent_class),
                alternate_transition_id=_given(reply.alternate_transition_id),
                supports_selector=_given(reply.supports_selector),
                contradicts_selector=_given(reply.contradicts_selector),
            ),
        )
    elif reply.op == "attach_evidence" and transition_id is not None and summary:
        ops = (ObserverEvidence(target_id=transition_id, summary=summary),)
    return Remark(
        patch_id=patch_id,
        session_id=session_id,
        episode_id=episode_id,
        model_version=model_version,
        confidence=reply.confidence,
        ops=ops,
    )


def plain(summary: str) -> str:
    """One short line without links, code or control characters."""
    return " ".join(_UNWANTED.sub(" ", summary).split())[:SUMMARY_CHARS_MAX]


def _given(value: str) -> str | None:
    return None if value == NONE else value
