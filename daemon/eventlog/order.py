"""The invariants of one session's events, as one object fed with each event in turn.

The same object checks before every write and after every read (pair assertions): a fault between
the two, in SQLite, the disk or us, cannot pass for data.

1. `sessionSeq` is the last one plus one.
2. `graphRevisionBefore` is the revision so far; After is the same, or one more inside a batch.
3. A batch is closed by `patch.committed` before anything else may come, and names one cause.
4. Each event's `chain` is the digest of its bytes and of the chain before it.
"""

from __future__ import annotations

import hashlib
from typing import Final

from ...reducer.vocabulary.event import Envelope

CLOSER: Final = "patch.committed"
CHAIN_BYTES: Final = 16


class OutOfOrder(ValueError):
    """Events that cannot follow one another. Nothing may be written or shown beyond this point."""


class Order:
    """`revision` None: reading starts in the middle, and the first event says where it stands."""

    __slots__ = ("chain", "open_cause", "revision", "seq", "session_id")

    def __init__(
        self, session_id: str, seq: int = 0, revision: int | None = 0, chain: bytes = b""
    ) -> None:
        self.session_id = session_id
        self.seq = seq
        self.revision = revision
        self.chain = chain
        self.open_cause: str | None = None

    def step(self, envelope: Envelope, body: bytes) -> bytes:
        """Checks 1 to 3 and moves on; returns the chain that belongs to the event."""
        before, after = envelope.graph_revision_before, envelope.graph_revision_after
        if envelope.session_id != self.session_id:
            raise self._broken(f"it belongs to session {envelope.session_id}")
        if envelope.session_seq != self.seq + 1:
            raise self._broken(f"it has sessionSeq {envelope.session_seq}")
        if before != (before if self.revision is None else self.revision):
            raise self._broken(f"revision {self.revision} was expected before it, it says {before}")
        if after not in (before, before + 1):
            raise self._broken(f"it takes the revision from {before} to {after}")
        self._check_batch(envelope, in_batch=after != before)
        self.seq += 1
        self.revision = after if envelope.kind == CLOSER else before
        self.chain = hashlib.sha256(self.chain + body).digest()[:CHAIN_BYTES]
        return self.chain

    def finish(self) -> None:
        """A write, and a whole log, may not end inside a batch."""
        if self.open_cause is not None:
            raise self._broken(f"the batch of {self.open_cause} is not closed")

    def _check_batch(self, envelope: Envelope, *, in_batch: bool) -> None:
        if self.open_cause is not None and not in_batch:
            raise self._broken(f"the batch of {self.open_cause} is not closed")
        if self.open_cause is not None and envelope.causation_id != self.open_cause:
            raise self._broken(f"it is in the batch of {self.open_cause}, but has another cause")
        if envelope.kind == CLOSER and not in_batch:
            raise self._broken("it closes a batch that was never opened")
        self.open_cause = envelope.causation_id if in_batch and envelope.kind != CLOSER else None

    def _broken(self, what: str) -> OutOfOrder:
        return OutOfOrder(f"session {self.session_id}, event {self.seq + 1}: {what}")
