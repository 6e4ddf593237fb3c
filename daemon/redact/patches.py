"""A patch on its way through the redactor, an agent's or a person's. RULES 15.

Every string passes; what is masked stays a valid string of the same field. Ids are checked and
refused, never rewritten: a masked id would silently become another node. Words of closed sets
(`op`, `type`, …) are left alone, the reconciler's strict decoding answers for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import msgspec
from msgspec import Raw

from ...reducer.vocabulary.answer import CODES, Fault
from ...reducer.vocabulary.codec import encode
from ...reducer.vocabulary.ids import LABEL_CHARS_MAX

# Fields whose value, or each of whose values, names a node, a token, evidence or a key.
ID_FIELDS: Final = frozenset({
    "placeId", "transitionId", "fromId", "toId", "tokenId", "oldTransitionId", "newTransitionId",
    "targetId", "evidenceId", "evidenceIds", "replacesGoalId", "agentId", "key", "satisfies",
    "idempotencyKey",
})  # fmt: skip
# {parent's place: subnet's place}: ids on both sides.
ID_MAPS: Final = frozenset({"entryMap", "successExitMap", "failureExitMap"})
CLOSED_FIELDS: Final = frozenset({
    "op", "type", "state", "arc", "gateState", "result", "allowedEpisodeKinds", "patchId",
})  # fmt: skip

Redact = Callable[[Sequence[str]], Sequence[str]]
# (text, JSON path, field) → what stands there instead.
OnText = Callable[[str, str, str], str]


class SecretId(Exception):
    """An id that looks like a secret. `fault` names where, and never quotes it."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.fault = Fault("id_like_secret", path, CODES["id_like_secret"])


def clean(patch: Raw, call_id: str, redact: Redact) -> bytes:
    """The patch as JSON, every text through `redact`, same number and order. Raises SecretId.

    The call's own id may be the idempotency key: it is the provider's, and opaque by nature.
    """
    from .identifiers import looks_secret  # the rules are loaded when the first patch comes

    value = msgspec.json.decode(patch)
    texts: list[str] = []

    def check(text: str, path: str, field: str) -> str:
        if field in ID_FIELDS:
            if text != call_id and looks_secret(text):
                raise SecretId(path)
        elif field not in CLOSED_FIELDS:
            texts.append(text)
        return text

    _walk(value, "$", "", check)
    masked = iter(redact(texts))

    def mask(text: str, _: str, field: str) -> str:
        if field in ID_FIELDS or field in CLOSED_FIELDS:
            return text
        return next(masked)[: max(len(text), LABEL_CHARS_MAX)]

    return encode(_walk(value, "$", "", mask))


def _walk(value: Any, path: str, field: str, on_text: OnText) -> Any:
    """Rebuilds `value`; texts in the order they stand, keys of maps and odd keys as ids."""
    if isinstance(value, str):
        return on_text(value, path, field)
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [_walk(item, f"{path}[{i}]", field, on_text) for i, item in enumerate(items)]
    if isinstance(value, dict):
        return _walk_object(cast("dict[str, Any]", value), path, field, on_text)
    return value


def _walk_object(value: dict[str, Any], path: str, field: str, on_text: OnText) -> Any:
    rebuilt: dict[str, Any] = {}
    for key, item in value.items():
        inner = "placeId" if field in ID_MAPS else key
        if not key.isalpha():
            on_text(key, f"{path}.*", "key")
        rebuilt[key] = _walk(
            item, f"{path}.{key}" if key.isalpha() else f"{path}.*", inner, on_text
        )
    return rebuilt
