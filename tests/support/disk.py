"""A disk that may lose what was not synced, and one that may fail: SQLite files below a Python VFS.

Fault model. A write is *pending* until the file it went to is synced. When the power goes, each
pending write is, by chance, lost, torn at a 512-byte sector, or kept, independently of the others.
Synced bytes stay. Deleting and creating files take effect at once. Not modelled: lost directory
entries, misdirected writes, bit rot.

The run itself happens once: every operation is recorded, and each cut is played from the record.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import apsw

SECTOR = 512
_names = itertools.count()


class Operation(NamedTuple):
    """`kind`: write, truncate, sync, delete. `acked`: what the program had promised before it."""

    kind: str
    file: str
    offset: int
    data: bytes
    acked: int


class RecordingDisk(apsw.VFS):
    """A pass-through VFS that records; `before` is called first and may raise a fault."""

    def __init__(self, before: Callable[[str, str], None] | None = None) -> None:
        self.name = f"recording-{next(_names)}"
        self.operations: list[Operation] = []
        self.acked = 0
        self.before = before or (lambda kind, file: None)
        super().__init__(self.name, "")

    def xOpen(self, name: Any, flags: list[int]) -> _File:
        return _File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.note("delete", filename)
        super().xDelete(filename, syncdir)

    def note(self, kind: str, path: str, offset: int = 0, data: bytes = b"") -> None:
        file = Path(path).name
        self.before(kind, file)
        self.operations.append(Operation(kind, file, offset, data, self.acked))


class _File(apsw.VFSFile):
    def __init__(self, disk: RecordingDisk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        self._path = name.filename() if hasattr(name, "filename") else str(name)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.note("write", self._path, offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._disk.note("truncate", self._path, newsize)
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        self._disk.note("sync", self._path)
        super().xSync(flags)


class _Image:
    """One file: what is on the platter, and what is not yet."""

    def __init__(self) -> None:
        self.durable = bytearray()
        self.pending: list[Operation] = []

    def sync(self) -> None:
        for operation in self.pending:
            _apply(self.durable, operation)
        self.pending.clear()

    def after_cut(self, chance: random.Random) -> bytes:
        image = bytearray(self.durable)
        for operation in self.pending:
            fate = chance.choice(("lost", "kept", "torn"))
            if fate == "kept" or (fate == "torn" and operation.kind == "truncate"):
                _apply(image, operation)
            elif fate == "torn":
                sectors = range(0, len(operation.data), SECTOR)
                for start in sectors:
                    if chance.random() < 0.5:
                        part = operation.data[start : start + SECTOR]
                        _apply(
                            image, operation._replace(offset=operation.offset + start, data=part)
                        )
        return bytes(image)


def _apply(image: bytearray, operation: Operation) -> None:
    if operation.kind == "truncate":
        del image[operation.offset :]
        image.extend(b"\0" * (operation.offset - len(image)))
        return
    end = operation.offset + len(operation.data)
    if len(image) < end:
        image.extend(b"\0" * (end - len(image)))
    image[operation.offset : end] = operation.data


def cuts(operations: list[Operation], seeds: int) -> Iterator[tuple[int, int, dict[str, bytes]]]:
    """(operation, seed, files as found after the power came back), before every operation."""
    files: dict[str, _Image] = {}
    for number, operation in enumerate(operations):
        for seed in range(seeds):
            chance = random.Random(f"{number}/{seed}")
            yield number, seed, {name: f.after_cut(chance) for name, f in files.items()}
        if operation.kind == "delete":
            files.pop(operation.file, None)
            continue
        image = files.setdefault(operation.file, _Image())
        if operation.kind == "sync":
            image.sync()
        else:
            image.pending.append(operation)


class FaultyDisk(RecordingDisk):
    """Raises `fault` at the n-th write, truncate or sync, and from then on while `broken`."""

    def __init__(self, at: int, fault: type[apsw.Error]) -> None:
        self._left = at
        self._fault = fault
        self.broken = False
        super().__init__(self._maybe)

    def mend(self) -> None:
        self.broken, self._left = False, -1

    def _maybe(self, kind: str, file: str) -> None:
        if kind == "delete" or self._left < 0:
            return
        self.broken = self.broken or self._left == 0
        self._left -= self._left > 0
        if self.broken:
            raise self._fault(f"injected at {kind} of {file}")
