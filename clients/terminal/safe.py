"""One line that cannot move the cursor, set the clipboard, fake a link or hide text.

Every string that came from an agent, a tool, a file or a model is printed through here, also when
the output is a pipe. What is dropped is shown as its code, so that nothing vanishes in silence.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# C0 with ESC, DEL, C1 (8-bit CSI and OSC), separators, zero-width, bidi, tags, lone surrogates.
_UNSAFE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_SPACES: Final = frozenset("\t\n\r")


def safe_line(text: str, chars_max: int | None = None) -> str:
    """NFC, one line, nothing but what can be seen; cut with an ellipsis at `chars_max`."""
    line = _UNSAFE.sub(_shown, unicodedata.normalize("NFC", text))
    if chars_max is not None and len(line) > chars_max:
        return line[: chars_max - 1].rstrip() + "…"
    return line


def _shown(match: re.Match[str]) -> str:
    char = match.group()
    if char in _SPACES:
        return " "
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
