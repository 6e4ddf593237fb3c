"""Two remarks of one observer model over the real bus diverge a path; nothing less does."""

from __future__ import annotations

import pytest
from msgspec import Raw

from wayfinder.daemon.eventlog.reader import Reader
from wayfinder.daemon.messages import (
    Done,
    SubmitPatch,
    SubmitRemark,
    SubmitSegment,
    read_reply,
)
from wayfinder.daemon.paths import Paths
from wayfinder.reducer.alignment.verdict import verdict
from wayfinder.reducer.session.fold import replay
from wayfinder.reducer.session.state import Session
from wayfinder.reducer.vocabulary.annotation import AnnotateEpisode, ObserverPatch
from wayfinder.reducer.vocabulary.answer import Applied
from wayfinder.reducer.vocabulary.codec import encode
from wayfinder.reducer.vocabulary.episode import Episode, EpisodeItem, FactItem, Segment
from wayfinder.reducer.vocabulary.observation import Opened, Patched, SessionInfo
from wayfinder.reducer.vocabulary.terms import (
    AlignmentStatus,
    Boundary,
    Coverage,
    EpisodeKind,
    Outcome,
)

INFO = SessionInfo("pi-1", agent="pi", started_at=1_000)
PATCH = {
    "patchId": "patch_1", "baseRevision": 0, "idempotencyKey": "call_1",
    "ops": [
        {"op": "create_place", "placeId": "pl_known", "type": "Condition", "label": "known"},
        {"op": "create_transition", "transitionId": "tr_find", "type": "Investigate",
         "intent": "find the cause", "expectedEvidence": ["a failing test"],
         "exitCondition": "one place is known"},
        {"op": "connect", "fromId": "pl_start", "toId": "tr_find", "arc": "flow"},
        {"op": "connect", "fromId": "tr_find", "toId": "pl_known", "arc": "success"},
        {"op": "activate_transition", "transitionId": "tr_find"},
    ],
}  # fmt: skip


def episode(first: int) -> EpisodeItem:
    return EpisodeItem(
        Episode(f"ep_{first}", first, first, EpisodeKind.INSPECT, Outcome.OK, Boundary.CALLS_CAP,
                Coverage.FULL, ended_at=1_000 * first, calls=1, files_changed=0)
    )  # fmt: skip


def told(paths: Paths) -> Session:
    reader = Reader.open(paths.database)
    try:
        return replay(reader.events("pi-1"), "pi-1", verify=True)
    finally:
        reader.close()


@pytest.mark.parametrize(
    ("confidences", "models", "diverges"),
    [
        ((0.9, 0.9), ("m1", "m1"), True),
        ((0.9, 0.7), ("m1", "m1"), False),
        ((0.9, 0.9), ("m1", "m2"), False),
    ],
)
def test_two_sure_remarks_of_one_model_diverge(
    child, peer, paths: Paths, confidences, models, diverges: bool
) -> None:
    """The second one turns the verdict, and the marker in the log says by which clause."""
    child("wayfinder.daemon.reconciler").ready()
    patch = SubmitPatch(INFO, "main", 2, Raw(encode(PATCH)), False)
    assert isinstance(read_reply(peer.ask("patch.ipc", encode(patch))), Applied)
    segment = Segment(
        INFO, 1, 4,
        (FactItem(Opened(1, 1_000, INFO)), FactItem(Patched(2, 2_000, "call_1")),
         episode(3), episode(4)),
    )  # fmt: skip
    read_reply(peer.ask("stream.ipc", encode(SubmitSegment(segment))))
    assert verdict(told(paths)).status is AlignmentStatus.ALIGNED
    for number, (confidence, model) in enumerate(zip(confidences, models, strict=True), start=3):
        remark = ObserverPatch(
            f"remark_{number}", "pi-1", f"ep_{number}", model, confidence,
            (AnnotateEpisode(intent_class="tidying up"),),
        )  # fmt: skip
        answer = read_reply(peer.ask("stream.ipc", encode(SubmitRemark(remark))))
        assert isinstance(answer, Done)
    now = verdict(told(paths))
    reader = Reader.open(paths.database)
    markers = [each for each in reader.events("pi-1") if each.kind == "path.diverged"]
    reader.close()
    if diverges:
        assert (now.status, now.clause, now.episode_ids) == (
            AlignmentStatus.DIVERGED, 3, ("ep_3", "ep_4"),
        )  # fmt: skip
        assert len(markers) == 1
    else:
        assert now.status is AlignmentStatus.ALIGNED
        assert markers == []
