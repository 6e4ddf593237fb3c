from __future__ import annotations

from declared_story import Story, complete, step, tell

from wayfinder.reducer.alignment.scorecard import Share, scorecard
from wayfinder.reducer.session.state import Session
from wayfinder.reducer.vocabulary.observation import NoteCode
from wayfinder.reducer.vocabulary.payload import SessionNoted
from wayfinder.reducer.vocabulary.terms import Channel, EpisodeKind, TransitionType

TEST, PLAN = EpisodeKind.TEST, EpisodeKind.PLAN


def test_an_empty_session_measures_nothing() -> None:
    """None, not zero, where there is nothing to measure."""
    card = scorecard(Session("pi-x"))
    assert (card.coverage.ratio, card.lead_median, card.by_quarter) == (None, None, ())


def test_a_session_that_declares_half_of_its_work() -> None:
    """Coverage, lead, hit rate, usefulness and idle patches of a small story."""
    story = Story()
    story.episode(TEST)
    story.start("tr_a", selectors=["test:auth"])
    story.episode(PLAN)
    story.episode(TEST, "test:auth=pass")
    story.patch(tell("tr_a"))
    story.patch(complete("tr_a"), *step("tr_b", flow="pl_tr_a", selectors=["test:never"]))
    story.episode(PLAN)
    card = scorecard(story.session)
    assert card.coverage == Share(2, 4)
    assert card.lead_median == 4.0  # three observations of planning first
    assert card.hit_rate == Share(1, 1)
    assert card.usefulness == Share(1, 1)
    assert card.idle_patches == Share(1, 3)
    assert card.statuses == {"aligned": 1, "pending": 1}


def test_a_step_declared_for_forms_sake_is_not_useful() -> None:
    """No fitting act after it: no lead, no use."""
    story = Story()
    story.start("tr_a", type=TransitionType.IMPLEMENT, selectors=["test:auth"])
    story.patch(complete("tr_a"))
    card = scorecard(story.session)
    assert (card.usefulness, card.hit_rate, card.lead_median) == (Share(0, 1), Share(0, 1), None)


def test_decay_after_compaction() -> None:
    """What is declared before and after the agent's memory was cut."""
    story = Story()
    story.start("tr_a")
    story.episode(TEST)
    story.patch(complete("tr_a"))
    story.position += 1
    noted = SessionNoted(NoteCode.COMPACTION, story.position)
    story.write([noted], Channel.OBSERVED, "note")
    story.episode(PLAN)
    card = scorecard(story.session)
    assert (card.before_compaction, card.after_compaction) == (Share(1, 1), Share(0, 1))
