"""The derived tables: what the events say, in rows, for searching and for other programs.

They may lag behind and may be thrown away: `through_position` says how far they are, and a new
`DERIVED_VERSION` builds them anew. Rows that come from one event are written from that event; the
nodes of a net come from the folded session, for whichever of them changed since.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ...reducer.net.standing import token_status
from ...reducer.session.state import Session
from ...reducer.vocabulary import payload as pl
from ...reducer.vocabulary.codec import decode, encode
from ...reducer.vocabulary.event import Envelope
from ..sessions import Sessions
from .schema import DERIVED_TABLES, DERIVED_VERSION
from .writer import Writer

EVENTS_PER_STEP: Final = 2_000
WRITTEN_MAX: Final = 64
_OneEvent = pl.EpisodeCompleted | pl.EvidenceAttached | pl.HumanCorrected
_OF_ONE_EVENT: Final[dict[str, type[_OneEvent]]] = {
    "episode.completed": pl.EpisodeCompleted,
    "evidence.attached": pl.EvidenceAttached,
    "human.corrected": pl.HumanCorrected,
}


class Derived:
    def __init__(self, writer: Writer, sessions: Sessions) -> None:
        self._writer = writer
        self._sessions = sessions
        self._db: Any = writer.connection
        self._written: dict[tuple[str, int], dict[str, Any]] = {}

    def catch_up(self, events_max: int = EVENTS_PER_STEP) -> int:
        """One bounded step, in a transaction of its own; returns how many events it took."""
        version, through = self._standing()
        if version != DERIVED_VERSION:
            self._begin_anew()
            through = 0
        found = self._db.execute(
            "SELECT position, session_key, session_id, body FROM net_events"
            " JOIN sessions USING (session_key) WHERE position > ? ORDER BY position LIMIT ?",
            (through, events_max),
        ).fetchall()
        if not found:
            return 0
        try:
            self._write(found)
        except BaseException:
            self._written.clear()  # it names rows that were rolled back
            raise
        return len(found)

    def _write(self, found: list[Any]) -> None:
        with self._writer.transaction():
            touched: dict[int, str] = {}
            for _, key, session_id, body in found:
                touched[key] = session_id
                self._from_event(key, decode(body.encode(), Envelope))
            for key, session_id in touched.items():
                self._from_session(key, self._sessions.get(session_id))
            self._db.execute("UPDATE derivation SET through_position = ?", (found[-1][0],))

    def rebuild(self) -> int:
        """Everything again from the events; returns how many there were."""
        self._begin_anew()
        total = 0
        while step := self.catch_up():
            total += step
        return total

    def _standing(self) -> tuple[int, int]:
        return self._db.execute("SELECT version, through_position FROM derivation").fetchone()

    def _begin_anew(self) -> None:
        self._written.clear()
        with self._writer.transaction():
            for table in DERIVED_TABLES:
                self._db.execute(f"DELETE FROM {table}")
            self._db.execute(
                "UPDATE derivation SET version = ?, through_position = 0", (DERIVED_VERSION,)
            )

    def _put(self, table: str, *row: Any) -> None:
        marks = ", ".join("?" * len(row))
        self._db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", row)

    def _from_event(self, key: int, envelope: Envelope) -> None:
        payload_type = _OF_ONE_EVENT.get(envelope.kind)
        if payload_type is None:
            return
        payload = decode(bytes(envelope.payload), payload_type)
        body = bytes(envelope.payload).decode()
        if isinstance(payload, pl.EpisodeCompleted):
            episode = payload.episode
            self._put(
                "episodes", key, episode.episode_id, envelope.session_seq, episode.from_position,
                episode.to_position, str(episode.kind), str(episode.outcome),
                payload.active_transition_id, episode.ended_at, body,
            )  # fmt: skip
        elif isinstance(payload, pl.EvidenceAttached):
            evidence = payload.evidence
            self._put(
                "evidence", key, evidence.evidence_id, envelope.session_seq, evidence.target_id,
                str(evidence.type), str(evidence.result) if evidence.result else None,
                evidence.observed_at, evidence.summary, body,
            )  # fmt: skip
        else:
            correction = payload.correction
            self._put(
                "human_corrections", key, correction.correction_id, envelope.session_seq,
                str(correction.type), correction.target_id, correction.text, None, body,
            )  # fmt: skip

    def _from_session(self, key: int, session: Session) -> None:
        """Nodes that changed since their row was written, and what a later event did to a row."""
        net = session.net
        for place in self._changed("places", key, list(net.places.values())):
            gate = str(place.gate_state) if place.gate_state else None
            self._put(
                "places", key, place.place_id, str(place.type), place.label, str(place.state),
                gate, place.changed_revision, encode(place).decode(),
            )  # fmt: skip
        for step in self._changed("transitions", key, list(net.transitions.values())):
            self._put(
                "transitions", key, step.transition_id, str(step.type), step.intent,
                str(step.state), step.changed_revision, encode(step).decode(),
            )  # fmt: skip
        for token in net.tokens.values():
            self._put(
                "tokens", key, token.token_id, token.agent_id, token.place_id, token.reserved_by,
                str(token_status(net, token)),
            )  # fmt: skip
        for record in session.episodes.values():
            if record.transition_id != record.stamped_transition_id or record.moved_by is not None:
                self._db.execute(
                    "UPDATE episodes SET transition_id = ?"
                    " WHERE session_key = ? AND episode_id = ?",
                    (record.transition_id, key, record.episode.episode_id),
                )
        for correction in session.corrections.values():
            if correction.undone_by is not None:
                self._db.execute(
                    "UPDATE human_corrections SET undone_by = ?"
                    " WHERE session_key = ? AND correction_id = ?",
                    (correction.undone_by, key, correction.correction.correction_id),
                )

    def _changed(self, table: str, key: int, nodes: Iterable[Any]) -> list[Any]:
        """Those that are not what their row says. Records are frozen, so the one written last is
        recognised by identity; after a restart the rows themselves are compared, once."""
        name = {"places": "place_id", "transitions": "transition_id"}[table]
        written = self._written.get((table, key))
        if written is None:
            rows = self._db.execute(
                f"SELECT {name}, body FROM {table} WHERE session_key = ?", (key,)
            ).fetchall()
            bodies = dict(rows)
            written = {
                node_id: node
                for node in nodes
                if bodies.get(node_id := getattr(node, name)) == encode(node).decode()
            }
            while len(self._written) >= WRITTEN_MAX:
                del self._written[next(iter(self._written))]
        changed = [node for node in nodes if written.get(getattr(node, name)) is not node]
        written.update((getattr(node, name), node) for node in changed)
        self._written[table, key] = written
        return changed
