"""R0: what a reader does not see must not split a secret.

Terminal codes, zero-width and bidi characters, soft hyphens and control characters are taken out,
escaped punctuation (`\\u003d`, `&quot;`) is put back, and only then do the rules look. The map
leads from each place in the normal form to the input, so that masks are laid on the input itself.
"""

import re
from bisect import bisect_right

# One class for "there may be work"; the usual text fails this test and is used as it is.
_SUSPECT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]"
)
_ESCAPED = re.compile(r"\\(?:u00|u20|u[fF][eE]|x1|033|e\[)|&(?:quot|amp|apos|lt|gt|#)")

_ESC = r"(?:\x1b|\\+u001[bB]|\\+x1[bB]|\\+033|\\+e(?=\[))"
_REMOVED = (
    _ESC + r"\[[0-?]{0,64}[ -/]{0,8}[@-~]"  # CSI
    "|\x9b[0-?]{0,64}[ -/]{0,8}[@-~]"  # CSI, one byte
    "|" + _ESC + r"\][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\|\\+u0007|\\+x07)"  # OSC
    "|\x1b[@-Z\\\\-_]"  # two-byte escapes
    r"|\\+u(?:200[b-fB-F]|00[aA][dD]|[fF][eE][fF][fF]|202[a-eA-E]|206[0-9])"  # invisible, escaped
    "|" + _SUSPECT.pattern
)
_PUT_BACK = {
    "u0022": '"', "u0027": "'", "u003d": "=", "u003a": ":", "u0026": "&", "u003c": "<",
    "u003e": ">", "u002f": "/", "u002b": "+", "u0040": "@", "u0024": "$",
    "&quot;": '"', "&#34;": '"', "&#39;": "'", "&#x27;": "'", "&apos;": "'",
    "&amp;": "&", "&lt;": "<", "&gt;": ">",
    "&#61;": "=", "&#x3d;": "=", "&#58;": ":", "&#x3a;": ":", "&#x2f;": "/", "&#47;": "/",
}  # fmt: skip
_WORK = re.compile(
    "(?P<removed>"
    + _REMOVED
    + r")|\\+(?P<unicode>u00(?:22|27|3[dDaAcCeE]|26|2[fFbB]|40|24))"
    + r"|(?P<entity>&(?:quot|apos|amp|lt|gt|#34|#39|#61|#58|#47|#[xX](?:27|3[dDaA]|2[fF]));)"
)


class Normal:
    """A text in normal form: `text`, `low` (same length, lower case) and the way back.

    `low` is lowered once for all rules; the one character whose lower case has another length
    (U+0130) is replaced first, so that offsets in both agree.
    """

    __slots__ = ("_at", "_shift", "low", "text")

    def __init__(self, source: str) -> None:
        self._at: list[int] = []
        self._shift: list[int] = []
        self.text = self._normal(source)
        self.low = (self.text if self.text.isascii() else self.text.replace("\u0130", "I")).lower()

    def _normal(self, source: str) -> str:
        if _SUSPECT.search(source) is None and _ESCAPED.search(source) is None:
            return source
        parts: list[str] = []
        last = length = 0
        for match in _WORK.finditer(source):
            start, end = match.span()
            back = ""
            if match.lastgroup == "unicode":
                back = _PUT_BACK[match["unicode"].lower()]
            elif match.lastgroup == "entity":
                back = _PUT_BACK[match["entity"].lower()]
            parts.append(source[last:start])
            parts.append(back)
            length += start - last + len(back)
            last = end
            # From this place in the normal form on, the input is this much further along.
            self._at.append(length)
            self._shift.append(end - length)
        parts.append(source[last:])
        return "".join(parts)

    def to_source(self, start: int, end: int) -> tuple[int, int]:
        """The range of the input that holds `[start, end)` of the normal form, whole."""
        if not self._at:
            return start, end
        return self._place(start), self._place(end - 1) + self._width(end - 1)

    def _place(self, index: int) -> int:
        """Where in the input the character `index` of the normal form begins."""
        found = bisect_right(self._at, index) - 1
        # A put-back character sits just before its entry: it begins where its escape begins.
        if found + 1 < len(self._at) and self._at[found + 1] == index + 1:
            before = self._shift[found] if found >= 0 else 0
            return index + before
        return index + (self._shift[found] if found >= 0 else 0)

    def _width(self, index: int) -> int:
        """How many characters of the input stand behind the character `index`."""
        found = bisect_right(self._at, index + 1) - 1
        if found >= 0 and self._at[found] == index + 1:
            end = self._at[found] + self._shift[found]
            return max(1, end - self._place(index))
        return 1
