"""A session is what its events say: no more, no less, in order, whole batches only."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from story import AGENT, Story, goal, step

from wayfinder.reducer.net.digest import net_digest
from wayfinder.reducer.session.fold import FoldError, fold, replay
from wayfinder.reducer.session.seal import event_id, timestamp
from wayfinder.reducer.session.stamp import patch_before
from wayfinder.reducer.session.state import Session, episodes_digest
from wayfinder.reducer.vocabulary import event as ev
from wayfinder.reducer.vocabulary.codec import decode, encode
from wayfinder.reducer.vocabulary.terms import Channel


def told() -> Story:
    """A session with two steps, episodes before, between and after, and two corrections."""
    story = Story().started()
    story.prompt("Fix the login refresh")
    story.episode("inspect", calls=3)
    story.patch(goal(), *step("reproduce", end="pl_reproduced"))
    story.episode("test", "failed", facts=[("test", "auth/refresh", "fail")])
    story.patch(
        {"op": "complete_transition", "transitionId": "tr_reproduce"},
        *step("find_cause", start="pl_reproduced"),
    )
    story.episode("edit", filesChanged=1)
    story.correct("text", text="Only find the cause")
    return story


def test_a_replay_is_the_session() -> None:
    """Folding the log again gives the same digests, with every batch's digest compared."""
    story = told()
    again = replay(story.envelopes, story.session.session_id, verify=True)
    assert net_digest(again.net) == net_digest(story.session.net)
    assert episodes_digest(again) == episodes_digest(story.session)
    assert again.seq == len(story.envelopes)


def test_events_survive_their_bytes() -> None:
    """An envelope decoded from its stored bytes is the envelope that was sealed."""
    for envelope in told().envelopes:
        assert encode(decode(encode(envelope), ev.Envelope)) == encode(envelope)


@given(st.data())
def test_a_missing_repeated_or_swapped_event_is_refused(data: st.DataObject) -> None:
    """A log with a hole, a repeat or a swap never folds in silence."""
    envelopes = told().envelopes
    at = data.draw(st.integers(0, len(envelopes) - 2))
    broken = data.draw(
        st.sampled_from(
            [
                envelopes[:at] + envelopes[at + 1 :],
                envelopes[: at + 1] + envelopes[at:],
                [*envelopes[:at], envelopes[at + 1], envelopes[at], *envelopes[at + 2 :]],
            ]
        )
    )
    with pytest.raises(FoldError):
        replay(broken, "pi-story")


@given(st.data())
def test_half_a_batch_has_not_happened(data: st.DataObject) -> None:
    """At every point inside a batch the net is still what it was before the batch."""
    envelopes = told().envelopes
    cut = data.draw(st.integers(0, len(envelopes)))
    session = Session("pi-story")
    closed = ""
    for envelope in envelopes[:cut]:
        fold(session, envelope)
        if not session.open_batch:
            closed = net_digest(session.net)
    if session.open_batch:
        assert net_digest(session.net) == closed
        with pytest.raises(FoldError, match="not closed"):
            replay(envelopes[:cut], "pi-story")


def test_a_digest_that_does_not_fit_is_found() -> None:
    """`verify` names the event at which the stored digest and the fold differ."""
    story = told()
    index = max(i for i, e in enumerate(story.envelopes) if e.kind == "patch.committed")
    payload = decode(bytes(story.envelopes[index].payload), ev.PatchCommitted)
    forged = msgspec.structs.replace(payload, net_digest="sha256:" + "0" * 64)
    story.envelopes[index] = msgspec.structs.replace(
        story.envelopes[index], payload=msgspec.Raw(encode(forged))
    )
    with pytest.raises(FoldError, match=f"sessionSeq {index + 1}"):
        replay(story.envelopes, "pi-story", verify=True)


def test_a_newer_logic_is_refused() -> None:
    """A session written by a newer program is refused, not guessed at."""
    story = Story()
    with pytest.raises(FoldError, match="logic version 99"):
        story.commit(ev.SessionStarted(story.info, 99, "pl_start", "tok_main"))


def test_an_episode_belongs_where_it_happened() -> None:
    """A late episode is stamped by its source position, not with what is active now (RULES 21)."""
    story = told()
    first = story.session.episodes["ep_3"]
    assert first.transition_id is None
    stamps = [r.transition_id for r in story.session.episodes.values()]
    assert stamps == [None, "tr_reproduce", "tr_find_cause"]
    second_patch = story.session.patches[1]
    assert patch_before(story.session, second_patch.position - 1) == story.session.patches[0]


def test_reassociation_keeps_where_it_came_from_and_can_be_undone() -> None:
    """A person may move an episode to another step; the first stamp stays on record."""
    story = told()
    moved = story.correct("reassociate", targetId="ep_3", otherId="tr_find_cause")
    record = story.session.episodes["ep_3"]
    assert (record.transition_id, record.stamped_transition_id) == ("tr_find_cause", None)
    assert record.moved_by == moved.correction_id
    story.correct("undo", targetId=moved.correction_id)
    assert story.session.episodes["ep_3"].transition_id is None


def test_only_what_changes_the_active_step_opens_a_window() -> None:
    """Words alone are no progress: evidence and new far nodes open no window (RULES 26)."""
    story = told()
    story.patch({"op": "create_place", "placeId": "pl_far", "type": "Outcome", "label": "far"})
    assert not story.session.patches[-1].opens_window
    story.patch(
        {
            "op": "set_transition_contract",
            "transitionId": "tr_find_cause",
            "evidenceSelectors": ["test:auth/refresh=pass"],
        }
    )
    assert story.session.patches[-1].opens_window


def test_a_batch_that_miscounts_itself_is_refused() -> None:
    """The closing event says how many events it closes, and the fold counts."""
    story = Story().started()
    decision = story.decide(*step("a", end="pl_a"))
    payloads = decision.payloads[:-2] + decision.payloads[-1:]  # type: ignore[union-attr]
    with pytest.raises(FoldError, match="says"):
        story.commit(*payloads, channel=Channel.DECLARED_PATH, actor=AGENT, batch=True)


@given(st.integers(0, 4_102_444_800_000))
def test_times_are_written_in_one_form(epoch_ms: int) -> None:
    """Three decimals, UTC, sortable as text."""
    written = timestamp(epoch_ms)
    assert len(written) == 24
    assert written.endswith("Z")
    assert timestamp(epoch_ms + 1) > written


def test_event_ids_derive_from_session_and_number() -> None:
    """The same event of a restored or repeated import has the same id; others differ."""
    assert event_id("pi-a", 1) == event_id("pi-a", 1)
    assert len({event_id(s, n) for s in ("pi-a", "pi-b") for n in range(50)}) == 100
