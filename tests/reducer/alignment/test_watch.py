"""Low-information loops, the gate ledger, tombstones: what repeats, and what must stay silent."""

from __future__ import annotations

import pytest
from declared_story import Story, activate, complete, fail, refused, step, trouble

from wayfinder.reducer.alignment.gates import QUIET_EPISODES, ledger
from wayfinder.reducer.alignment.loops import Watch, WatchKind
from wayfinder.reducer.alignment.tensions import watches
from wayfinder.reducer.alignment.words import say
from wayfinder.reducer.vocabulary.patch import RetireTransition, SupersedeTransition
from wayfinder.reducer.vocabulary.terms import EpisodeKind, Outcome

TEST, EDIT, INSPECT, RUN = (
    EpisodeKind.TEST,
    EpisodeKind.EDIT,
    EpisodeKind.INSPECT,
    EpisodeKind.RUN,
)


@pytest.fixture
def story() -> Story:
    return Story()


def only(story: Story) -> Watch:
    (watch,) = watches(story.session)
    return watch


def test_the_same_trouble_without_a_changed_approach(story: Story) -> None:
    """Raised at the third repeat, naming count and fact; the id stays while it lasts."""
    story.episode(TEST, signatures=[trouble(1, 2)], outcome=Outcome.FAILED)
    assert watches(story.session) == []
    story.episode(TEST, signatures=[trouble(1, 3)], outcome=Outcome.FAILED)
    first = only(story)
    assert (first.kind, first.count, first.quote) == (WatchKind.LOOP, 3, "trouble 1")
    story.episode(TEST, signatures=[trouble(1, 5)], outcome=Outcome.FAILED)
    again = only(story)
    assert (again.watch_id, again.count) == (first.watch_id, 5)
    assert say(again.words) == "the same trouble 5 times without a changed approach"


def test_an_edit_ends_a_loop(story: Story) -> None:
    """The approach changed: silent until the trouble has repeated anew."""
    story.episode(TEST, signatures=[trouble(1, 4)], outcome=Outcome.FAILED)
    story.episode(EDIT, changed=[1])
    assert watches(story.session) == []
    story.episode(TEST, signatures=[trouble(1, 1)], outcome=Outcome.FAILED)
    assert watches(story.session) == []


def test_edit_test_edit_with_the_same_trouble_stays_silent(story: Story) -> None:
    """A repair cycle is work, however long."""
    for number in range(12):
        story.episode(EDIT, changed=[number], signatures=[trouble(1, 1)], outcome=Outcome.FAILED)
        assert watches(story.session) == []


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome.REFUSED_BY_USER,
        Outcome.SIBLING_FAILED,
        Outcome.PROVIDER_OUTAGE,
        Outcome.RATE_LIMIT,
        Outcome.ABORTED,
        Outcome.OK,
    ],
)
def test_what_is_not_own_trouble_never_loops(story: Story, outcome: Outcome) -> None:
    """Refusals by a person, cascades, outages and polling are not the agent going in circles."""
    for number in range(1, 9):
        story.episode(RUN, signatures=[trouble(1, number, outcome)], outcome=outcome)
        assert watches(story.session) == []


def test_a_loop_left_behind_goes_away(story: Story) -> None:
    """Three episodes of other work and it no longer asks for attention."""
    story.episode(TEST, signatures=[trouble(1, 3)], outcome=Outcome.FAILED)
    for number in range(3):
        assert len(watches(story.session)) == 1
        story.episode(INSPECT, f"file:{number}")
    assert watches(story.session) == []


def test_the_same_command_failing_in_ever_new_words(story: Story) -> None:
    """The trouble looks new each time, the command does not."""
    for number in range(3):
        assert watches(story.session) == []
        story.episode(
            RUN, "command:deploy=fail", signatures=[trouble(number)], outcome=Outcome.FAILED
        )
    watch = only(story)
    assert (watch.count, watch.quote) == (3, "deploy")
    story.episode(RUN, "command:deploy=pass")
    assert watches(story.session) == []


def test_a_command_that_passes_in_between_is_no_loop(story: Story) -> None:
    """Polling a flaky command is not the same as failing for ever."""
    for result in ("fail", "fail", "pass", "fail", "fail"):
        outcome = Outcome.OK if result == "pass" else Outcome.FAILED
        story.episode(RUN, f"command:poll={result}", outcome=outcome)
        assert watches(story.session) == []


# --- gates ------------------------------------------------------------------------------------


def test_a_refusal_met_again_is_one_gate(story: Story) -> None:
    """Counted by its digest, raised at the third and once, with age and quote."""
    first = story.episode(RUN, refusals=[refused(1)])
    story.episode(RUN, refusals=[refused(1), refused(2)])
    assert watches(story.session) == []
    third = story.episode(RUN, refusals=[refused(1)])
    watch = only(story)
    assert (watch.kind, watch.count, watch.since_id) == (WatchKind.GATE, 3, third)
    assert watch.quote == "refused 1"
    assert watch.last_ms - watch.since_ms == 120_000
    for _ in range(20):
        story.episode(RUN, refusals=[refused(1)])
    assert only(story).watch_id == watch.watch_id
    entry, other = ledger(story.session)
    assert (entry.count, entry.first_id, other.count) == (23, first, 1)


def test_three_refusals_in_one_episode(story: Story) -> None:
    """Counts inside an episode count."""
    story.episode(RUN, refusals=[refused(1, 3)])
    assert only(story).count == 3


def test_a_gate_not_met_for_long_stands_no_more(story: Story) -> None:
    """It stays in the ledger, and leaves the list of what to watch."""
    story.episode(RUN, refusals=[refused(1, 3)])
    for number in range(QUIET_EPISODES):
        assert len(watches(story.session)) == 1
        story.episode(INSPECT, f"file:{number}")
    assert watches(story.session) == []
    assert ledger(story.session)[0].count == 3


# --- tombstones -------------------------------------------------------------------------------


def retired(story: Story) -> None:
    story.start("tr_ui", intent="Patch the UI", selectors=["test:ui"])
    story.episode(TEST, "test:ui=fail", signatures=[trouble(9)], outcome=Outcome.FAILED)
    story.patch(fail("tr_ui"), RetireTransition("tr_ui", "the UI is not at fault"))


def test_the_same_words_again(story: Story) -> None:
    """A step that says what a retired one said names it, with the reason it was left."""
    retired(story)
    story.start("tr_again", intent="patch the  UI.")
    watch = only(story)
    assert watch.kind is WatchKind.TOMBSTONE
    assert say(watch.words) == "back on a path set aside: Patch the UI"
    assert watch.quote == "the UI is not at fault"


def test_work_that_fits_a_retired_step(story: Story) -> None:
    """Facts of the newest episode hit its selectors and not the active step's."""
    retired(story)
    story.start("tr_srv", intent="look at the server", selectors=["test:srv"])
    assert watches(story.session) == []
    story.episode(TEST, "test:ui=fail", outcome=Outcome.FAILED)
    assert only(story).words.code == "tombstone_work"
    story.episode(TEST, "test:srv=pass")
    assert watches(story.session) == []


def test_a_suite_that_runs_an_old_test_is_no_return(story: Story) -> None:
    """An episode that fits the active step is its work, whatever else was run along with it."""
    retired(story)
    story.start("tr_all", intent="run the whole suite", selectors=["test:srv"])
    story.episode(TEST, "test:ui=pass", "test:srv=pass")
    assert watches(story.session) == []


def test_the_old_trouble_is_back(story: Story) -> None:
    """The signature that ended a retired step fails again under another."""
    retired(story)
    story.start("tr_srv", intent="look at the server")
    story.episode(RUN, signatures=[trouble(9)], outcome=Outcome.FAILED)
    watch = only(story)
    assert (watch.words.code, watch.quote) == ("tombstone_trouble", "trouble 9")


def test_a_successor_is_no_return(story: Story) -> None:
    """Superseding a step by one with the same selectors is the detour itself."""
    story.start("tr_old", intent="fix it", selectors=["test:x"], failure="pl_no")
    story.patch(
        fail("tr_old"),
        *step("tr_new", intent="fix it otherwise", selectors=["test:x"], flow="pl_no"),
        SupersedeTransition("tr_old", "tr_new", "another way"),
        activate("tr_new"),
    )
    assert watches(story.session) == []


def test_new_work_after_finished_work_is_no_return(story: Story) -> None:
    """Completed steps are not tombstones."""
    story.start("tr_a", intent="run the tests")
    story.patch(complete("tr_a"))
    story.start("tr_b", intent="run the tests", flow="pl_tr_a")
    assert watches(story.session) == []
