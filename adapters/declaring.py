"""An agent's declarations and receipts, from the connection to the outbox.

A patch goes to the reconciler at once, with the position its call has in the order: that of the
reply that announced it, else where it arrives. What the reconciler must never see is refused here:
an id that looks like a secret, the patch of a second live instance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..daemon.redact.patches import SecretId, clean
from ..reducer.vocabulary.answer import CODES, Fault, Rejected
from ..reducer.vocabulary.codec import encode
from ..reducer.vocabulary.observation import AnyObservation, LiveNote, Patched
from ..reducer.vocabulary.people import Constraint, ReceiptStage
from . import wire
from .outbox import Outbox
from .privacy import Privacy
from .server import Agent
from .sessions import Bound, Session
from .spool import Spool
from .spooled import Errand


class Declaring:
    """`stamp` appends drafts to a session's stream and returns the last position given."""

    def __init__(
        self,
        spool: Spool,
        privacy: Privacy,
        outbox: Outbox,
        *,
        stamp: Callable[[Session, Iterable[AnyObservation]], int],
        send: Callable[[Agent, wire.AnyOut], None],
    ) -> None:
        self._spool = spool
        self._privacy = privacy
        self._outbox = outbox
        self._stamp = stamp
        self._send = send

    def declare(self, bound: Bound, frame: wire.Patch | wire.Propose) -> None:
        """Also for a frame that is sent again: the same key makes that safe, and the answer may
        have been lost on the way."""
        session, instance, call_id = bound.session, bound.hello.instance, frame.call_id
        if self._spool.has_errand(instance, call_id):
            return
        if not session.claim(instance):
            self._reject(bound, call_id, Fault("second_instance", "$", CODES["second_instance"]))
            return
        position = self._spool.place_of(session.session_id, call_id)
        if position == 0 and isinstance(frame, wire.Patch):
            position = self._stamp(session, (Patched(0, frame.at, call_id),))
        try:
            body = clean(frame.patch, call_id, self._privacy.texts)
        except SecretId as secret:
            self._reject(bound, call_id, secret.fault)
            return
        position = position or self._spool.last_position(session.session_id)
        kind = "propose" if isinstance(frame, wire.Propose) else "patch"
        self._outbox.put(Errand(session.session_id, instance, kind, call_id, position, body))

    def receipt(self, bound: Bound, frame: wire.Receipt) -> None:
        """A constraint stood in a model request: kept until the reconciler has it."""
        self._put_receipt(bound, ReceiptStage.IN_TURN, frame.correction_id, frame.at)

    def handed_over(self, bound: Bound, constraints: Iterable[Constraint], at: int) -> None:
        """These were written to the agent's socket just now; told once for each."""
        for constraint in constraints:
            if constraint.correction_id not in bound.session.handed_over:
                bound.session.handed_over.add(constraint.correction_id)
                self._put_receipt(bound, ReceiptStage.SENT, constraint.correction_id, at)

    def _put_receipt(self, bound: Bound, stage: ReceiptStage, correction_id: str, at: int) -> None:
        session_id = bound.session.session_id
        after = self._spool.last_position(session_id)
        note = LiveNote(session_id, "receipt", at, after, name=stage.value, ref=correction_id)
        call_id = f"{stage.value}:{correction_id}"
        self._outbox.put(
            Errand(session_id, bound.hello.instance, "receipt", call_id, after, encode(note))
        )

    def _reject(self, bound: Bound, call_id: str, fault: Fault) -> None:
        answer = Rejected(bound.session.revision, (fault,))
        self._send(bound.agent, wire.AnswerFrame(call_id, answer))
