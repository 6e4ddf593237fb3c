"""RULES 25–30, a golden case each; the specification's six clauses."""

from __future__ import annotations

import pytest
from declared_story import Story, activate, complete, step, tell, trouble

from wayfinder.reducer.alignment.verdict import history, sequence_of, verdict
from wayfinder.reducer.alignment.window import OpenedBy
from wayfinder.reducer.alignment.words import SENTENCES, say
from wayfinder.reducer.vocabulary.patch import SetTransitionContract
from wayfinder.reducer.vocabulary.people import CorrectionType
from wayfinder.reducer.vocabulary.terms import (
    AlignmentStatus,
    Coverage,
    EpisodeKind,
    Outcome,
    TransitionType,
)

ALIGNED, LAGGING = AlignmentStatus.ALIGNED, AlignmentStatus.LAGGING
DIVERGED, PENDING, UNKNOWN = (
    AlignmentStatus.DIVERGED,
    AlignmentStatus.PENDING,
    AlignmentStatus.UNKNOWN,
)
EDIT, INSPECT, TEST, PLAN = (
    EpisodeKind.EDIT,
    EpisodeKind.INSPECT,
    EpisodeKind.TEST,
    EpisodeKind.PLAN,
)
IMPLEMENT = TransitionType.IMPLEMENT


@pytest.fixture
def story() -> Story:
    return Story()


def status(story: Story) -> tuple[AlignmentStatus, int]:
    now = verdict(story.session)
    return now.status, now.clause


def test_a_new_step_is_pending(story: Story) -> None:
    """Clause 6: just activated, nothing seen."""
    story.start("tr_a")
    assert status(story) == (PENDING, 6)


def test_matching_work_aligns(story: Story) -> None:
    """Clause 4: an episode of an allowed kind, stamped with the step, is matching activity."""
    story.start("tr_a")
    episode = story.episode(INSPECT)
    now = verdict(story.session)
    assert (now.status, now.clause, now.episode_ids) == (ALIGNED, 4, (episode,))


def test_work_of_other_kinds_lags_at_the_third_episode_exactly(story: Story) -> None:
    """Clause 5: declared implementing, three episodes of reading, not two."""
    story.start("tr_fix", type=IMPLEMENT)
    seen = []
    for number in range(3):
        story.episode(INSPECT, f"file:{number}")
        seen.append(status(story))
    assert seen == [(PENDING, 6), (PENDING, 6), (LAGGING, 5)]


def test_lagging_dates_from_the_episode_that_made_it(story: Story) -> None:
    """`since` names the third episode, and stays there while lagging lasts."""
    story.start("tr_fix", type=IMPLEMENT)
    episodes = [story.episode(INSPECT, f"file:{number}") for number in range(5)]
    now = verdict(story.session)
    assert now.since_id == episodes[2]
    assert sequence_of(story.session, now.since_id) == story.session.episodes[episodes[2]].seq
    after = history(story.session)
    assert [after[each].status for each in episodes] == [PENDING, PENDING] + [LAGGING] * 3


def test_an_observed_hit_confirms_whatever_the_kind(story: Story) -> None:
    """Confirming evidence needs a selector, not an allowed kind."""
    story.start("tr_fix", type=IMPLEMENT, selectors=["test:auth=pass"])
    episode = story.episode(PLAN, "test:auth=pass")
    now = verdict(story.session)
    assert (now.status, now.clause, say(now.reason)) == (ALIGNED, 4, SENTENCES["confirmed"])
    assert now.episode_ids == (episode,)
    assert now.evidence_ids == (f"obs_{story.session.episodes[episode].episode.from_position}_1",)


def test_the_other_outcome_does_not_confirm(story: Story) -> None:
    """RULES 10: `=pass` is not met by a failure."""
    story.start("tr_fix", type=IMPLEMENT, selectors=["test:auth=pass"])
    for _ in range(3):
        story.episode(PLAN, "test:auth=fail")
    assert status(story) == (LAGGING, 5)


def test_a_stable_failure_can_be_the_evidence(story: Story) -> None:
    """RULES 10: an unqualified selector is met by either outcome."""
    story.start("tr_a", selectors=["assertion:refresh-token"])
    story.episode(TEST, "assertion:refresh-token=fail", outcome=Outcome.FAILED)
    assert status(story) == (ALIGNED, 4)


def test_confirming_evidence_counts_until_three_later_episodes(story: Story) -> None:
    """RULES 25: aligned after one and two later episodes, lagging after the third."""
    story.start("tr_fix", type=IMPLEMENT, selectors=["test:auth=pass"])
    story.episode(TEST, "test:auth=pass")
    seen = []
    for number in range(3):
        story.episode(PLAN, f"file:{number}")
        seen.append(status(story))
    assert seen == [(ALIGNED, 4), (ALIGNED, 4), (LAGGING, 5)]


def test_only_the_latest_three_episodes_are_looked_at(story: Story) -> None:
    """A matching episode slides out of the window."""
    story.start("tr_fix", type=IMPLEMENT)
    story.episode(EDIT, changed=[1])
    for number in range(2):
        story.episode(PLAN, f"file:{number}")
    assert status(story) == (ALIGNED, 4)
    story.episode(PLAN)
    assert status(story) == (LAGGING, 5)


def test_the_same_failing_test_for_ever_lags(story: Story) -> None:
    """RULES 27: a key already seen in this firing counts as nothing, even if a selector hits."""
    story.start("tr_a", selectors=["test:auth"])
    seen = []
    for number in range(5):
        story.episode(
            TEST, "test:auth=fail", outcome=Outcome.FAILED, signatures=[trouble(1, number + 1)]
        )
        seen.append(status(story)[0])
    assert seen == [ALIGNED, ALIGNED, ALIGNED, LAGGING, LAGGING]


def test_edit_and_test_again_is_progress(story: Story) -> None:
    """RULES 27: another file changed makes another key."""
    story.start("tr_fix", type=IMPLEMENT)
    for number in range(6):
        story.episode(EDIT, "test:auth=fail", changed=[number], outcome=Outcome.FAILED)
        assert status(story) == (ALIGNED, 4)


def test_an_episode_that_began_before_the_window_does_not_count(story: Story) -> None:
    """RULES 25: its first source position decides, not when it was committed."""
    story.start("tr_a")
    story.session.episodes  # noqa: B018
    before = story.position
    story.patch(SetTransitionContract("tr_a", evidence_selectors=("test:x",)))
    late = story.position
    story.position = before
    story.position = late
    story.episode(INSPECT)
    assert verdict(story.session).window.opened_position == late
    assert verdict(story.session).window.completed == 1


def test_a_late_episode_is_judged_by_where_it_stood(story: Story) -> None:
    """An episode committed after the next patch still belongs to the step active back then."""
    story.start("tr_a", type=IMPLEMENT)
    early = story.position
    story.position += 3
    story.patch(complete("tr_a"), *step("tr_b", flow="pl_tr_a"), activate("tr_b"))
    here, story.position = story.position, early
    late = story.episode(EDIT, changed=[1])
    story.position = here
    assert story.session.episodes[late].transition_id == "tr_a"
    assert status(story) == (PENDING, 6)
    assert history(story.session)[late].status is ALIGNED


@pytest.mark.parametrize(
    ("contract", "opens"),
    [
        (SetTransitionContract("tr_fix", evidence_selectors=("test:x",)), True),
        (SetTransitionContract("tr_fix", expected_evidence=("another proof",)), True),
        (SetTransitionContract("tr_fix", why_now="other words"), False),
        (SetTransitionContract("tr_fix", intent="another name for it"), False),
    ],
)
def test_words_open_no_window(story: Story, contract: SetTransitionContract, opens: bool) -> None:
    """RULES 26: contract keys are progress, words are not."""
    story.start("tr_fix", type=IMPLEMENT)
    for number in range(3):
        story.episode(INSPECT, f"file:{number}")
    story.patch(contract)
    assert status(story) == ((PENDING, 6) if opens else (LAGGING, 5))


def test_attaching_evidence_without_keys_is_no_progress(story: Story) -> None:
    """RULES 26: an attach-only patch opens no window."""
    story.start("tr_fix", type=IMPLEMENT)
    for number in range(3):
        story.episode(INSPECT, f"file:{number}")
    story.patch(tell("tr_fix"))
    assert status(story) == (LAGGING, 5)


def test_unrelated_nodes_are_no_progress(story: Story) -> None:
    """RULES 26: declaring far steps does not say what is being done now."""
    story.start("tr_fix", type=IMPLEMENT)
    for number in range(3):
        story.episode(INSPECT, f"file:{number}")
    story.patch(*step("tr_far", flow="pl_tr_fix"))
    assert status(story) == (LAGGING, 5)


def test_the_agents_own_word_confirms_once_per_key(story: Story) -> None:
    """RULES 29: `satisfies` opens a window once, shown as declared only."""
    story.start("tr_fix", type=IMPLEMENT)
    story.patch(tell("tr_fix", "ee1"))
    now = verdict(story.session)
    assert (now.status, now.clause, now.declared_only) == (ALIGNED, 4, True)
    assert now.window.opened_by is OpenedBy.SATISFIED
    for number in range(3):
        story.episode(INSPECT, f"file:{number}")
    assert status(story) == (LAGGING, 5)
    story.patch(tell("tr_fix", "ee1"))
    assert status(story) == (LAGGING, 5)


def test_blind_windows_are_unknown(story: Story) -> None:
    """Clause 2: coverage is that of the worst episode; matching work does not help."""
    story.start("tr_a")
    story.episode(INSPECT)
    blind = story.episode(INSPECT, "file:x", coverage=Coverage.UNKNOWN)
    now = verdict(story.session)
    assert (now.status, now.clause, now.episode_ids) == (UNKNOWN, 2, (blind,))


def test_partial_coverage_is_no_blindness(story: Story) -> None:
    """Clause 2 asks for unknown, not for partial."""
    story.start("tr_a")
    story.episode(INSPECT, coverage=Coverage.PARTIAL)
    now = verdict(story.session)
    assert (now.status, now.window.coverage) == (ALIGNED, Coverage.PARTIAL)


def test_observed_evidence_sees_through_blindness(story: Story) -> None:
    """Clause 2 yields to direct observed evidence, and not to the agent's own word (RULES 29)."""
    story.start("tr_a", selectors=["test:auth"])
    story.episode(TEST, "test:auth=pass")
    story.episode(INSPECT, coverage=Coverage.UNKNOWN)
    assert status(story) == (ALIGNED, 4)
    story.patch(tell("tr_a", "ee1"))
    story.episode(INSPECT, coverage=Coverage.UNKNOWN)
    assert status(story) == (UNKNOWN, 2)


# --- clause 3 ---------------------------------------------------------------------------------


def two_episodes(story: Story) -> tuple[str, str]:
    story.start("tr_a")
    story.patch(*step("tr_other"))
    return story.episode(INSPECT, "file:1"), story.episode(INSPECT, "file:2")


def test_two_sure_annotations_of_one_alternate_diverge(story: Story) -> None:
    """Clause 3: same step named twice in a row by one model version."""
    first, second = two_episodes(story)
    story.annotate(first, step="tr_other")
    assert status(story) == (ALIGNED, 4)
    story.annotate(second, step="tr_other")
    now = verdict(story.session)
    assert (now.status, now.clause, now.episode_ids) == (DIVERGED, 3, (first, second))
    assert now.since_id == second


@pytest.mark.parametrize(
    ("one", "two", "diverges"),
    [
        ({"intent": "refactoring"}, {"intent": "refactoring"}, True),
        ({"step": "tr_other", "intent": "x"}, {"intent": "x"}, True),
        ({"step": "tr_other", "intent": "x"}, {"step": "tr_more", "intent": "x"}, False),
        ({"step": "tr_other"}, {"step": "tr_other", "confidence": 0.84}, False),
        ({"step": "tr_other"}, {"step": "tr_other", "model": "model-2"}, False),
        ({"step": "tr_a"}, {"step": "tr_a"}, False),
        ({"intent": "Investigate"}, {"intent": "investigate"}, False),
        ({"supports": "test:x"}, {"supports": "test:x"}, False),
        ({"intent": "one"}, {"intent": "another"}, False),
    ],
)
def test_what_is_the_same_alternate(
    story: Story, one: dict[str, str], two: dict[str, str], diverges: bool
) -> None:
    """RULES 29: same step id, else same intent; one model version; sure; and another than ours."""
    first, second = two_episodes(story)
    story.annotate(first, **one)  # type: ignore[arg-type]
    story.annotate(second, **two)  # type: ignore[arg-type]
    assert (status(story) == (DIVERGED, 3)) is diverges


def test_episodes_must_be_adjacent(story: Story) -> None:
    """RULES 29: one unmarked episode between two marked ones breaks the run."""
    first, _ = two_episodes(story)
    third = story.episode(INSPECT, "file:3")
    story.annotate(first, step="tr_other")
    story.annotate(third, step="tr_other")
    assert status(story) == (ALIGNED, 4)


def test_a_path_update_ends_divergence(story: Story) -> None:
    """Clause 3 holds only while the agent has not updated its path."""
    first, second = two_episodes(story)
    story.annotate(first, step="tr_other")
    story.annotate(second, step="tr_other")
    story.patch(SetTransitionContract("tr_a", evidence_selectors=("test:new",)))
    assert status(story) == (PENDING, 6)


def test_a_late_annotation_re_evaluates_its_own_episode(story: Story) -> None:
    """RULES 29: history changes where the annotation belongs, not where it arrived."""
    first, second = two_episodes(story)
    for number in range(3, 7):
        story.episode(INSPECT, f"file:{number}")
    story.annotate(first, step="tr_other")
    story.annotate(second, step="tr_other")
    after = history(story.session)
    assert (after[first].status, after[second].status) == (ALIGNED, DIVERGED)
    assert verdict(story.session).status is not DIVERGED


# --- clause 1 ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "target", "denies"),
    [
        (CorrectionType.RETIRE, "tr_a", True),
        (CorrectionType.WRONG_STEP, "tr_a", True),
        (CorrectionType.WRONG_STEP, None, True),
        (CorrectionType.ONLY, "tr_other", True),
        (CorrectionType.ONLY, "tr_a", False),
        (CorrectionType.REDESCRIBE, "tr_a", False),
        (CorrectionType.RETIRE, "tr_other", False),
        (CorrectionType.GATE, "tr_a", False),
        (CorrectionType.TEXT, None, False),
    ],
)
def test_what_denies_the_current_step(
    story: Story, type: CorrectionType, target: str | None, denies: bool
) -> None:
    """RULES 28: retire, only another, wrong step; not a new description, not free words."""
    two_episodes(story)
    assert story.human(type, target, text="as I say") is None
    assert (status(story) == (DIVERGED, 1)) is denies


def test_denial_beats_all_and_holds_until_a_counted_patch(story: Story) -> None:
    """RULES 28: neither matching work nor evidence nor words end it; the next real update does."""
    story.start("tr_a", selectors=["test:auth"])
    story.human(CorrectionType.WRONG_STEP)
    correction = story.newest_correction
    story.episode(TEST, "test:auth=pass")
    story.patch(tell("tr_a", "ee1"))
    now = verdict(story.session)
    assert (now.status, now.clause, now.since_id) == (DIVERGED, 1, correction)
    story.patch(SetTransitionContract("tr_a", evidence_selectors=("test:other",)))
    assert status(story)[0] is not DIVERGED


def test_an_undone_denial_denies_nothing(story: Story) -> None:
    """The person takes it back."""
    story.start("tr_a")
    story.human(CorrectionType.WRONG_STEP)
    story.human(CorrectionType.UNDO, story.newest_correction)
    assert status(story) == (PENDING, 6)


# --- nothing active ---------------------------------------------------------------------------


def test_nothing_declared(story: Story) -> None:
    """RULES 30: unknown after one completed episode, stale after three."""
    seen = [verdict(story.session)]
    for number in range(3):
        story.episode(INSPECT, f"file:{number}")
        seen.append(verdict(story.session))
    assert [(each.status, each.stale) for each in seen] == [
        (PENDING, False),
        (UNKNOWN, False),
        (UNKNOWN, False),
        (UNKNOWN, True),
    ]
    assert seen[-1].reason.code == "nothing_declared"


def test_silence_between_steps(story: Story) -> None:
    """RULES 30: after the last step ended, counting starts anew."""
    story.start("tr_a")
    story.episode(INSPECT)
    story.patch(complete("tr_a"))
    assert verdict(story.session).reason.code == "between_steps"
    story.episode(INSPECT)
    now = verdict(story.session)
    assert (now.status, now.reason.code, now.window.completed) == (UNKNOWN, "nothing_active", 1)


# --- association ------------------------------------------------------------------------------


def test_a_person_moves_an_episode_and_the_stamp_stays(story: Story) -> None:
    """Seed, 关联顺序 4: the moved episode counts for the other step, its origin is kept."""
    story.start("tr_a", type=IMPLEMENT)
    story.patch(*step("tr_other"))
    moved = story.episode(EDIT, changed=[1])
    assert status(story) == (ALIGNED, 4)
    story.human(CorrectionType.REASSOCIATE, moved, other="tr_other")
    assert status(story) == (PENDING, 6)
    assert story.session.episodes[moved].stamped_transition_id == "tr_a"
    story.human(CorrectionType.UNDO, story.newest_correction)
    assert status(story) == (ALIGNED, 4)


def test_an_episode_that_names_its_step_belongs_to_it(story: Story) -> None:
    """Seed, 关联顺序 1: an explicit id beats the active step; an unknown one does not."""
    story.start("tr_a", type=IMPLEMENT)
    story.patch(*step("tr_other"))
    named = story.episode(EDIT, changed=[1], transition_id="tr_other")
    unknown = story.episode(EDIT, changed=[2], transition_id="tr_nowhere")
    assert story.session.episodes[named].transition_id == "tr_other"
    assert story.session.episodes[unknown].transition_id == "tr_a"
