"""An observer's remark by its band: applied, kept for a person, or nothing at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from commits import INFO, SESSION, Committing

from wayfinder.clients.web.past import proposals as listed
from wayfinder.daemon.messages import SubmitRemark, SubmitSegment
from wayfinder.daemon.viewer.outside import outside_of
from wayfinder.reducer.attention.look import view_of
from wayfinder.reducer.net.digest import net_digest
from wayfinder.reducer.vocabulary.annotation import AnnotateEpisode, ObserverPatch
from wayfinder.reducer.vocabulary.episode import Episode, EpisodeItem, Segment
from wayfinder.reducer.vocabulary.people import CorrectionType, HumanIntentPatch


@pytest.fixture
def committing(tmp_path: Path) -> Iterator[Committing]:
    made = Committing(tmp_path / "wayfinder.db")
    made.submit(0)
    episode = msgspec.convert(
        {
            "episodeId": "ep_2", "fromPosition": 1, "toPosition": 3, "kind": "test",
            "outcome": "ok", "boundary": "settled", "coverage": "full", "endedAt": 1, "calls": 2,
        },
        Episode,
    )  # fmt: skip
    handled(made, SubmitSegment(Segment(INFO, 1, 3, (EpisodeItem(episode),))))
    yield made
    made.close()


def handled(committing: Committing, request: object) -> None:
    with committing.writer.transaction():
        committing.service.handle(request)


def remark(confidence: float, number: int = 1, **fields: str) -> SubmitRemark:
    ops = (AnnotateEpisode(intent_class="Verify", **fields),)
    patch = ObserverPatch(f"obs_{number}", SESSION, "ep_2", "stub/1", confidence, ops)
    return SubmitRemark(patch)


def decide(committing: Committing, kind: CorrectionType) -> None:
    correction = HumanIntentPatch(f"cor_{kind.value}", SESSION, kind, target_id="obs_1")
    with committing.writer.transaction():
        committing.service.correct(correction)


def waiting(committing: Committing) -> list[str]:
    proposals = committing.writer.read.proposals(SESSION)
    return [proposal.proposal_id for proposal in proposals if proposal.decision is None]


def annotations(committing: Committing) -> int:
    return len(committing.service.sessions.get(SESSION).annotations.get("ep_2", ()))


@pytest.mark.parametrize(
    ("confidence", "applied", "waits"),
    [(1.0, 1, 0), (0.85, 1, 0), (0.8499, 0, 1), (0.6, 0, 1), (0.5999, 0, 0), (0.0, 0, 0)],
)
def test_the_confidence_decides_the_band(
    committing: Committing, confidence: float, applied: int, waits: int
) -> None:
    """From 0.85 on it is attached, from 0.60 on it waits for a person, below it is Unknown."""
    before = net_digest(committing.service.sessions.get(SESSION).net)
    handled(committing, remark(confidence))
    handled(committing, remark(confidence))  # sent again: taken once
    assert annotations(committing) == applied
    assert len(waiting(committing)) == waits
    assert net_digest(committing.service.sessions.get(SESSION).net) == before


@pytest.mark.parametrize(
    ("kind", "applied"), [(CorrectionType.ACCEPT, 1), (CorrectionType.REJECT, 0)]
)
def test_a_person_decides_what_waits(
    committing: Committing, kind: CorrectionType, applied: int
) -> None:
    """Accepted, it is attached with the observer's own confidence; rejected, it is gone."""
    handled(committing, remark(0.7))
    decide(committing, kind)
    assert waiting(committing) == []
    assert annotations(committing) == applied
    for note in committing.service.sessions.get(SESSION).annotations.get("ep_2", ()):
        assert (note.confidence, note.model_version) == (0.7, "stub/1")


def test_what_waits_is_drawn_dashed_until_it_is_decided(committing: Committing) -> None:
    """The step a waiting remark speaks of is provisional on the map; decided, it is not."""

    def dashed() -> set[str]:
        session = committing.service.sessions.get(SESSION)
        rows = committing.writer.read.waiting_proposals(SESSION)
        scene = view_of(session, outside=outside_of(session, rows)).scene
        nodes = {**scene.places, **scene.steps}
        return {node for node, drawn in nodes.items() if drawn.provisional}

    step = next(iter(committing.service.sessions.get(SESSION).net.transitions))
    assert dashed() == set()
    handled(committing, remark(0.7, alternate_transition_id=step))
    assert dashed() == {step}
    decide(committing, CorrectionType.REJECT)
    assert dashed() == set()


def test_the_page_lists_remarks_beside_patches(committing: Committing, tmp_path: Path) -> None:
    """A waiting remark is no GraphPatch; the list of what waits shows both in plain parts."""
    handled(committing, remark(0.7))
    (shown,) = listed(tmp_path / "wayfinder.db", SESSION)
    assert (shown.agent_id, shown.ops) == (
        "observer",
        ({"op": "annotate_episode", "intentClass": "Verify"},),
    )


def test_a_remark_about_what_is_not_there_is_refused(committing: Committing) -> None:
    """An alternate step that does not exist changes nothing and waits nowhere, however sure."""
    for number, confidence in enumerate((0.99, 0.7), start=1):
        handled(committing, remark(confidence, number, alternate_transition_id="tr_none"))
    assert annotations(committing) == 0
    assert waiting(committing) == []
