"""Level 2 for everything that may leave: the pack before it is built into a request, and whatever
the model says before it is stored. One redaction worker, shared by two threads behind a lock."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final, cast

from ..daemon.redact.client import RedactorClient

LEVEL: Final = 2
# Ids, enums and counts are ours or pattern-checked; masking them would break what they refer to.
_KEPT_KEYS: Final = frozenset({"id", "type", "kind", "outcome", "allowedKinds", "calls"})


class Redacting:
    def __init__(self, client: RedactorClient) -> None:
        self._client = client
        self._lock = threading.Lock()

    def texts(self, texts: Sequence[str]) -> list[str]:
        with self._lock:
            return [masked.text for masked in self._client.redact_many(list(texts), LEVEL)]

    def value(self, value: Any) -> Any:
        """The same JSON value with every text in it masked, keys of tool names included."""
        found: list[str] = []
        _collect(value, found)
        masked = iter(self.texts(found))
        return _replaced(value, masked)

    def close(self) -> None:
        self._client.close()


def _collect(value: Any, found: list[str]) -> None:
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            if key not in _KEPT_KEYS:
                _collect(inner, found)
    elif isinstance(value, list | tuple):
        for inner in cast("Sequence[Any]", value):
            _collect(inner, found)


def _replaced(value: Any, masked: Any) -> Any:
    if isinstance(value, str):
        return next(masked)
    if isinstance(value, dict):
        return {
            key: inner if key in _KEPT_KEYS else _replaced(inner, masked)
            for key, inner in cast("dict[str, Any]", value).items()
        }
    if isinstance(value, list | tuple):
        return [_replaced(inner, masked) for inner in cast("Sequence[Any]", value)]
    return value
