"""Sessions that are one JSON document: read whole, bounded, again when the file has changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from .jsonl import Skips

T = TypeVar("T")

DOCUMENT_BYTES_MAX: Final = 256 << 20


class Document(Generic[T]):
    """`changed` yields the decoded document when it is there and new; nothing otherwise."""

    def __init__(self, path: Path, type_: type[T], skips: Skips) -> None:
        self._path = path
        self._decoder = msgspec.json.Decoder(type_)
        self._skips = skips
        self._seen: tuple[int, int] | None = None

    def changed(self) -> Iterator[T]:
        status = self._path.stat()
        version = status.st_size, status.st_mtime_ns
        if version == self._seen:
            return
        self._seen = version
        if status.st_size > DOCUMENT_BYTES_MAX:
            self._skips.lost["document_too_large"] += 1
            return
        data = self._path.read_bytes()
        for attempt in (data, data.decode("utf-8", "replace").encode()):
            try:
                yield self._decoder.decode(attempt)
                return
            except msgspec.ValidationError:
                self._skips.lost["odd_shape"] += 1
                return
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue
            except RecursionError:
                self._skips.lost["too_deep"] += 1
                return
        self._skips.lost["not_json"] += 1
