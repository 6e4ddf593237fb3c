"""All that one message does to one session, built up and then written at once.

Events are folded as they are told, so that each next step sees what the one before it did. Nothing
has reached the log until `service.py` writes `envelopes` and runs `beside`; if something raises
before that, the folded session is dropped and folded again from the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...reducer.session.fold import fold
from ...reducer.session.seal import Cause, seal
from ...reducer.session.state import Session
from ...reducer.vocabulary.event import Envelope, Payload
from ..eventlog.writer import Writer


class Change:
    def __init__(self, session: Session, now_ms: int) -> None:
        self.session = session
        self.now_ms = now_ms
        self.envelopes: list[Envelope] = []
        # Rows that stand beside the events, written after them in the same transaction.
        self.beside: list[Callable[[Writer], None]] = []

    def tell(self, cause: Cause, *payloads: Payload) -> None:
        """Events that stand alone: the revision stays."""
        self._seal(payloads, cause, advance=0)

    def batch(self, cause: Cause, payloads: Sequence[Payload]) -> list[Envelope]:
        """One applied patch, opener to `patch.committed`: the revision advances by one."""
        return self._seal(payloads, cause, advance=1)

    def _seal(self, payloads: Sequence[Payload], cause: Cause, advance: int) -> list[Envelope]:
        session = self.session
        sealed = seal(
            payloads,
            cause,
            session_id=session.session_id,
            last_seq=session.seq,
            revision_before=session.revision,
            revision_after=session.revision + advance,
            now_ms=self.now_ms,
        )
        for envelope in sealed:
            fold(session, envelope)
        self.envelopes += sealed
        return sealed
