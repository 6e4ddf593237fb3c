"""One committed event in; the session moves on. The only writer of a `Session`.

Rules for editors of this file:
* Every payload class has exactly one entry in `_FOLDS` or is the net's own (`net/fold.py`).
* A batch (revision after = before + 1) takes effect as a whole, at `patch.committed`.
* Nothing is judged and nothing is looked up elsewhere: an event carries all it means.
* The meaning of a step changes only behind `logic_version`, which `session.started` pins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from msgspec.structs import replace

from ..net import fold as net_fold
from ..net.digest import net_digest
from ..net.state import Net, Transition
from ..vocabulary import event as ev
from ..vocabulary.codec import decode
from ..vocabulary.observation import NoteCode
from ..vocabulary.people import CorrectionType
from ..vocabulary.terms import EpisodeKind
from .state import (
    Annotation,
    CorrectionRecord,
    EpisodeRecord,
    PatchRecord,
    Prompt,
    Receipt,
    RootIntent,
    Session,
    chain_episode,
)

LOGIC_VERSION: Final = 1


class FoldError(ValueError):
    """The log is not what this program writes: a gap, a broken batch, an unknown kind."""


def fold(session: Session, envelope: ev.Envelope) -> None:
    """Raises FoldError and leaves the session unusable if the event cannot follow the last."""
    if envelope.session_seq != session.seq + 1:
        raise FoldError(f"expected sessionSeq {session.seq + 1}, got {envelope.session_seq}")
    payload_type = ev.PAYLOADS.get(envelope.kind)
    if payload_type is None:
        raise FoldError(f"unknown kind {envelope.kind!r} at sessionSeq {envelope.session_seq}")
    payload = decode(bytes(envelope.payload), payload_type)
    session.seq = envelope.session_seq
    if envelope.kind != ev.LOOKED:
        session.last_ts = envelope.ts
    in_batch = envelope.graph_revision_after != envelope.graph_revision_before
    if in_batch or session.open_batch:
        _collect(session, envelope, payload)
    else:
        _apply(session, envelope, payload)


def replay(
    envelopes: Iterable[ev.Envelope],
    session_id: str,
    *,
    verify: bool = False,
    whole: bool = True,
) -> Session:
    """Folds a log. With `verify`, the net's digest must match at every batch.

    Unless `whole`, the events may end inside a batch, which then has not happened yet.
    """
    session = Session(session_id)
    for envelope in envelopes:
        fold(session, envelope)
        if verify and envelope.kind == "patch.committed":
            _verify_digest(session, envelope)
    if whole and session.open_batch:
        raise FoldError(f"the last batch is not closed at sessionSeq {session.seq}")
    return session


def _verify_digest(session: Session, envelope: ev.Envelope) -> None:
    stored = decode(bytes(envelope.payload), ev.PatchCommitted).net_digest
    folded = net_digest(session.net)
    if stored != folded:
        raise FoldError(f"digest at sessionSeq {session.seq}: stored {stored}, folded {folded}")


def _collect(session: Session, envelope: ev.Envelope, payload: ev.Payload) -> None:
    if envelope.graph_revision_after != session.net.revision + 1:
        raise FoldError(
            f"batch for revision {envelope.graph_revision_after} at sessionSeq {session.seq}, "
            f"but the net is at {session.net.revision}"
        )
    session.open_batch.append(payload)
    if isinstance(payload, ev.PatchCommitted):
        batch, session.open_batch = session.open_batch, []
        if payload.event_count != len(batch):
            raise FoldError(f"batch of {len(batch)} events says {payload.event_count}")
        _apply_batch(session, envelope, batch)


# A tuple: a union written inside the loop would be built anew for every event of a replay.
_OPENERS: Final = (ev.PathDeclared, ev.HumanCorrected)


def _apply_batch(session: Session, envelope: ev.Envelope, batch: list[ev.Payload]) -> None:
    before, born_before = _active_facts(session.net), session.net.born
    position = 0
    for payload in batch:
        if isinstance(payload, _OPENERS):
            position = payload.position
        _apply(session, envelope, payload)
    session.corridor.settle(session.net, _born_in(batch))
    active = session.net.active_transition()
    session.patches.append(
        PatchRecord(
            patch_id=envelope.causation_id,
            seq=envelope.session_seq,
            ts=envelope.ts,
            source=envelope.source,
            position=position,
            revision=session.net.revision,
            kinds=tuple(ev.KIND_OF[type(payload)] for payload in batch),
            active_transition_id=active.transition_id if active else None,
            firing_id=active.firing_id if active else None,
            opens_window=_active_facts(session.net) != before,
            born_before=born_before,
        )
    )


def _born_in(batch: list[ev.Payload]) -> Iterator[str]:
    for payload in batch:
        if isinstance(payload, ev.PlaceConfirmed):
            yield payload.place.place_id
        elif isinstance(payload, ev.TransitionProposed):
            yield payload.transition.transition_id


def _active_facts(net: Net) -> tuple[Any, ...] | None:
    """All of the active transition that a declaration must change to count as progress."""
    active: Transition | None = net.active_transition()
    if active is None:
        return None
    return (
        active.transition_id,
        active.firing_id,
        active.flow,
        active.reads,
        active.success,
        active.failure,
        tuple(expected.key for expected in active.expected),
        active.selectors,
        active.kinds,
    )


def _apply(session: Session, envelope: ev.Envelope, payload: ev.Payload) -> None:
    own = _FOLDS.get(type(payload))
    if own is not None:
        own(session, envelope, payload)
    if type(payload) in net_fold.FOLDS:
        net_fold.fold(session.net, payload)


def _session_started(session: Session, envelope: ev.Envelope, started: ev.SessionStarted) -> None:
    if started.logic_version > LOGIC_VERSION:
        raise FoldError(
            f"the session was written by logic version {started.logic_version}; "
            f"this program knows up to {LOGIC_VERSION}"
        )
    session.info = started.info
    session.logic_version = started.logic_version
    session.started_ts = envelope.ts
    session.corridor.begin(started.start_place_id)


def _root_intent_set(session: Session, envelope: ev.Envelope, root: ev.RootIntentSet) -> None:
    session.root = RootIntent(
        root.text, root.level, envelope.session_seq, root.place_id, root.reason
    )
    session.roots.append(session.root)


def _prompt_received(session: Session, envelope: ev.Envelope, prompt: ev.PromptReceived) -> None:
    record = Prompt(prompt.line, prompt.position, envelope.session_seq, prompt.machine)
    session.prompt_count += 1
    session.settled = None
    if prompt.machine:
        return
    session.first_prompt = session.first_prompt or record
    session.latest_prompt = record


def _episode_completed(
    session: Session, envelope: ev.Envelope, completed: ev.EpisodeCompleted
) -> None:
    episode = completed.episode
    session.episodes[episode.episode_id] = EpisodeRecord(
        episode=episode,
        seq=envelope.session_seq,
        transition_id=completed.active_transition_id,
        firing_id=completed.firing_id,
        path_revision=completed.path_revision,
        stamped_transition_id=completed.active_transition_id,
        timing=completed.timing,
    )
    chain_episode(session, episode)
    session.settled = None
    if episode.kind is EpisodeKind.EDIT or episode.files_changed:
        session.net.note_edit()


def _plan_published(session: Session, _: ev.Envelope, plan: ev.PlanPublished) -> None:
    session.plan = plan.items
    session.plan_position = plan.position


def _session_settled(session: Session, _: ev.Envelope, settled: ev.SessionSettled) -> None:
    session.settled = settled.reason
    session.settled_at = settled.at


def _session_noted(session: Session, _: ev.Envelope, noted: ev.SessionNoted) -> None:
    session.notes[noted.code] = session.notes.get(noted.code, 0) + 1
    if noted.code is NoteCode.COMPACTION:
        session.compactions.append(noted.position)


def _stream_advanced(session: Session, _: ev.Envelope, advanced: ev.StreamAdvanced) -> None:
    if advanced.to_position < session.stream_position:
        raise FoldError(
            f"the stream went back from {session.stream_position} to {advanced.to_position}"
        )
    session.stream_position = advanced.to_position
    session.resume = advanced.resume


def _episode_annotated(
    session: Session, envelope: ev.Envelope, annotated: ev.EpisodeAnnotated
) -> None:
    record = Annotation(
        annotated.annotation, annotated.confidence, annotated.model_version, envelope.session_seq
    )
    earlier = session.annotations.get(annotated.episode_id, ())
    session.annotations[annotated.episode_id] = (*earlier, record)


def _human_corrected(session: Session, envelope: ev.Envelope, human: ev.HumanCorrected) -> None:
    correction = human.correction
    session.corrections[correction.correction_id] = CorrectionRecord(
        correction=correction,
        seq=envelope.session_seq,
        ts=envelope.ts,
        position=human.position,
        revision=envelope.graph_revision_after,
    )
    if correction.type is CorrectionType.UNDO:
        _mark_undone(session, correction.target_id, correction.correction_id)
    elif correction.type is CorrectionType.REASSOCIATE:
        _reassociate(session, correction.target_id, correction.other_id, correction.correction_id)


def _mark_undone(session: Session, undone_id: str | None, by: str) -> None:
    undone = session.corrections.get(undone_id or "")
    if undone is None:
        return
    session.corrections[undone.correction.correction_id] = replace(undone, undone_by=by)
    if undone.correction.type is CorrectionType.REASSOCIATE:
        record = session.episodes[undone.correction.target_id or ""]
        _reassociate(session, record.episode.episode_id, record.stamped_transition_id, None)


def _reassociate(
    session: Session, episode_id: str | None, transition_id: str | None, by: str | None
) -> None:
    record = session.episodes.get(episode_id or "")
    if record is not None:
        session.episodes[record.episode.episode_id] = replace(
            record, transition_id=transition_id, moved_by=by
        )


def _constraint_receipted(
    session: Session, envelope: ev.Envelope, receipted: ev.ConstraintReceipted
) -> None:
    record = session.corrections.get(receipted.correction_id)
    if record is None:
        raise FoldError(f"receipt for unknown correction {receipted.correction_id}")
    receipt = Receipt(
        receipted.stage, receipted.at, envelope.session_seq, receipted.because, receipted.position
    )
    session.corrections[receipted.correction_id] = replace(
        record, receipts=(*record.receipts, receipt)
    )


def _anchor_requested(
    session: Session, envelope: ev.Envelope, requested: ev.AnchorRequested
) -> None:
    session.anchored[requested.cause_id] = envelope.session_seq


def _view_focused(session: Session, _: ev.Envelope, focused: ev.ViewFocused) -> None:
    session.viewers[focused.viewer_id] = focused


_FOLDS: Final[dict[type[Any], Callable[[Session, ev.Envelope, Any], None]]] = {
    ev.SessionStarted: _session_started,
    ev.RootIntentSet: _root_intent_set,
    ev.PromptReceived: _prompt_received,
    ev.EpisodeCompleted: _episode_completed,
    ev.PlanPublished: _plan_published,
    ev.SessionSettled: _session_settled,
    ev.SessionNoted: _session_noted,
    ev.StreamAdvanced: _stream_advanced,
    ev.EpisodeAnnotated: _episode_annotated,
    ev.HumanCorrected: _human_corrected,
    ev.ConstraintReceipted: _constraint_receipted,
    ev.AnchorRequested: _anchor_requested,
    ev.ViewFocused: _view_focused,
}
