"""What `wayfinder redact` says: the text as it would be stored, or the spans as JSON.

    {"level":2,"text":"password=[redacted:assignment]","spans":[{"start":9,"end":20,"rule":"…"}]}

The spans point into the input; the masked characters themselves are never repeated.
"""

from typing import Literal

import msgspec

from .spans import Redacted, Span


class Report(msgspec.Struct, frozen=True):
    """The wire form of an answer."""

    level: Literal[1, 2]
    text: str
    spans: tuple[Span, ...]


def render(redacted: Redacted, level: Literal[1, 2], as_json: bool) -> str:
    """One answer as it is printed; JSON is one line."""
    if not as_json:
        return redacted.text
    return msgspec.json.encode(Report(level, redacted.text, redacted.spans)).decode() + "\n"
