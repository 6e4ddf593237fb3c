"""What a person wrote, redacted before anything keeps it (RULES 15).

In this process and by the own rules alone: a person's texts are short (their fields are bounded),
so no child and no second opinion is needed, and the rules are loaded when the first person writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Raw
from msgspec.structs import replace

from ...reducer.vocabulary.ids import TEXT_CHARS_MAX
from ..messages import AnyHumanRequest, Correct, SubmitByHand

# Words for the agent must stay the person's own: only what is surely a secret is masked.
LEVEL: Final = 1


def cleaned(request: AnyHumanRequest) -> AnyHumanRequest:
    """Raises SecretId for a patch whose ids look like a secret."""
    if isinstance(request, Correct) and request.correction.text is not None:
        text = _redact([request.correction.text])[0][:TEXT_CHARS_MAX]
        return Correct(replace(request.correction, text=text))
    if isinstance(request, SubmitByHand):
        from ..redact.patches import clean

        return replace(request, patch=Raw(clean(request.patch, "", _redact)))
    return request


def _redact(texts: Sequence[str]) -> list[str]:
    from ..redact.engine import redact

    return [redact(text, LEVEL).text for text in texts]
