"""R14: values that are known to be secret, because the environment names them so.

Held in the memory of the redactor only: never written, never logged, never sent. Each value is
looked for as it stands, in base64 and percent-encoded.
"""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote

from .keys import MEDIUM, strength
from .shapes import NOTHING, grade, is_uuid
from .spans import Hit
from .view import View

VALUE_MIN = 8
_LETTERS = re.compile(r"[A-Za-z_./\-]+")


class ExactValues:
    """An immutable set of values to mask wherever they appear."""

    __slots__ = ("_needles", "shortest_word")

    def __init__(self, values: Iterable[str] = ()) -> None:
        needles: set[str] = set()
        for value in values:
            if len(value) < VALUE_MIN:
                continue
            needles.add(value)
            needles.add(quote(value, safe=""))
            raw = value.encode("utf-8", "surrogatepass")
            for encode in (base64.b64encode, base64.urlsafe_b64encode):
                needles.add(encode(raw).decode().rstrip("="))
        # Longest first, so that one value inside another does not leave a rest.
        self._needles = sorted(needles, key=len, reverse=True)
        words = [len(n) for n in self._needles if _LETTERS.fullmatch(n)]
        self.shortest_word = min(words, default=0)

    def __len__(self) -> int:
        return len(self._needles)

    def __repr__(self) -> str:
        return f"ExactValues({len(self._needles)} forms)"

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "ExactValues":
        """The values of variables whose name tells of a secret; paths and switches are left out."""
        return cls(
            value
            for name, value in environ.items()
            if strength(name) >= MEDIUM
            and len(value) >= VALUE_MIN
            and (grade(value[:400]) != NOTHING or is_uuid(value) or value.isdigit())
        )

    def touches(self, text: str) -> bool:
        """Whether any of the values stands in `text`."""
        return any(needle in text for needle in self._needles)

    def find(self, view: View) -> Iterator[Hit]:
        """Yield every place where one of the values stands."""
        text = view.text
        for needle in self._needles:
            at = text.find(needle)
            while at >= 0:
                yield at, at + len(needle), "exact"
                at = text.find(needle, at + len(needle))


NO_VALUES = ExactValues()
