"""Folds every golden log and prints name and digests; run with any PYTHONHASHSEED, any paging."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from wayfinder.reducer.net.digest import evidence_digest, net_digest
from wayfinder.reducer.session.fold import fold
from wayfinder.reducer.session.state import Session
from wayfinder.reducer.vocabulary.codec import decode
from wayfinder.reducer.vocabulary.event import Envelope

HERE = Path(__file__).resolve().parent


def refolded(log: Path, page_bytes: int) -> tuple[str, str]:
    """Digests of net and evidence; the log arrives in pages that respect no border."""
    session = Session("pi-0001")
    for line in _lines(log.read_bytes(), page_bytes):
        fold(session, decode(line, Envelope))
    return net_digest(session.net), evidence_digest(session.net)


def _lines(data: bytes, page_bytes: int) -> Iterator[bytes]:
    rest = b""
    for start in range(0, len(data), page_bytes):
        *whole, rest = (rest + data[start : start + page_bytes]).split(b"\n")
        yield from whole


if __name__ == "__main__":
    for path in sorted(HERE.glob("*.jsonl")):
        print(path.stem, *refolded(path, int(sys.argv[1])))
