"""sha256 over many named parts, kept so that a change costs the part's size and not the whole.

    leaf      sha256 of one part's canonical bytes
    bucket    sha256 over (name, leaf) pairs in name order; 256 of them, by sha256(name)[0]
    root      sha256 over the 256 bucket hashes

The result depends on names and parts only: not on order of change, hash seed or process.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

BUCKETS: Final = 256
_EMPTY: Final = hashlib.sha256(b"").digest()
_WIDTH: Final = len(_EMPTY)


class HashTree:
    """Add to `dirty` what changed; `root` hashes only that. A fork shares what neither changes."""

    __slots__ = ("_buckets", "_leaves", "_owned", "_root", "dirty")

    def __init__(self) -> None:
        self._leaves: list[dict[str, bytes]] = [{} for _ in range(BUCKETS)]
        self._owned = set(range(BUCKETS))
        self._buckets = bytearray(_EMPTY * BUCKETS)
        self.dirty: set[str] = set()
        self._root = hashlib.sha256(self._buckets).hexdigest()

    def root(self, part: Callable[[str], bytes]) -> str:
        """Hex root. `part(name)` gives the canonical bytes of a touched part."""
        if self.dirty:
            changed = {self._set_leaf(name, part(name)) for name in self.dirty}
            for index in changed:
                self._hash_bucket(index)
            self.dirty = set()
            self._root = hashlib.sha256(self._buckets).hexdigest()
        return self._root

    def fork(self) -> HashTree:
        """A tree that goes its own way. Only a clean one forks: call `root` first."""
        assert not self.dirty, "a fork of a dirty tree would hash the same parts twice"
        twin = HashTree.__new__(HashTree)
        twin._leaves = list(self._leaves)
        twin._owned = set()
        twin._buckets = self._buckets[:]
        twin.dirty = set()
        twin._root = self._root
        self._owned = set()
        return twin

    def _set_leaf(self, name: str, part: bytes) -> int:
        index = hashlib.sha256(name.encode()).digest()[0]
        if index not in self._owned:
            self._leaves[index] = dict(self._leaves[index])
            self._owned.add(index)
        self._leaves[index][name] = hashlib.sha256(part).digest()
        return index

    def _hash_bucket(self, index: int) -> None:
        leaves = self._leaves[index]
        hashed = hashlib.sha256()
        for name in sorted(leaves):
            hashed.update(name.encode() + b"\0" + leaves[name])
        self._buckets[index * _WIDTH : (index + 1) * _WIDTH] = hashed.digest()
