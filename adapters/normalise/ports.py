"""What this room needs from the redaction room; anything that fits may stand in.

Level 1 is precise (labels, facts); level 2 also masks opaque tokens (free text).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

Level = Literal[1, 2]


class Redactor(Protocol):
    """Texts in, texts that may be stored out: same number, same order. Never raises."""

    def redact_many(self, texts: Sequence[str], level: Level) -> list[str]: ...


class Refs(Protocol):
    """Keyed references, `hmac-sha256:` and 32 hex digits; `domain` keeps kinds apart."""

    def ref(self, domain: str, raw: str) -> str: ...
