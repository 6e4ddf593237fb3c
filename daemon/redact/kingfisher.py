"""The second opinion: the detectors of kingfisher-secret-scanner, in process and offline.

Only `Scanner` and `Rules` are imported. The same package holds classes that call providers and can
revoke real keys; a test forbids their names anywhere in this tree. The plain `Scanner` is used:
the policy variants obey markers in the text (`kingfisher:ignore`), and the text is not to be
trusted. Findings that are helpers of a pair (`visible == False`) are masked like any other.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from .shapes import NOTHING, grade
from .spans import Hit
from .view import View

SCAN_TIMEOUT_S = 1.0
_SECRET_MIN = 8


class Finding(Protocol):
    """What is used of a finding: where it is (bytes of UTF-8), and whether it was decoded."""

    @property
    def location(self) -> dict[str, int]: ...

    @property
    def secret(self) -> str: ...


class Scans(Protocol):
    """The one method used of a scanner."""

    def scan(self, data: str, *, timeout: float | None = None) -> Sequence[Finding]: ...


class SecondOpinion:
    """A compiled rule set; 3 to 6 s to compile, 0.2 to 0.5 s from the cache, 83 MB resident."""

    def __init__(self, scanner: Scans, status: str) -> None:
        self._scanner = scanner
        self.status = status

    @classmethod
    def load(cls, cache_dir: Path | None) -> "SecondOpinion | None":
        """Compile or load the rules; None if the package is not installed.

        `cache_dir` must be private to the user (0700): whoever can write there chooses the rules.
        """
        try:
            from kingfisher_sdk.rules import Rules
            from kingfisher_sdk.scanner import Scanner
        except ImportError:
            return None
        if cache_dir is not None:
            cache_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        rules = Rules(cache=cache_dir is not None, cache_dir=cache_dir)
        return cls(Scanner(rules, base64=True, dedup=False, redact=False), rules.cache_status)

    def __call__(self, view: View) -> Iterator[Hit]:
        """Yield the findings as hits. Raises TimeoutError if the scan takes too long."""
        text = view.text
        if not view.dense and not view.names:
            return
        findings = self._scanner.scan(text, timeout=SCAN_TIMEOUT_S)
        if not findings:
            return
        raw = None if text.isascii() else text.encode("utf-8")
        for finding in findings:
            place, secret = finding.location, finding.secret
            start, end = place["start_offset"], place["end_offset"]
            if raw is not None:
                start, end = _points(raw, start), _points(raw, end)
            if len(secret) >= _SECRET_MIN and grade(secret[:400]) != NOTHING:
                yield start, end, "kingfisher"


def _points(raw: bytes, offset: int) -> int:
    """Bytes of UTF-8 to code points."""
    return len(raw[:offset].decode("utf-8", "ignore"))
