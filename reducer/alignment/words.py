"""Every sentence of this room, once: a key with parameters in values, English in one table.

A value never holds prose, so that verdicts are compared and stored without their wording.
Wording is neutral: it names what was declared and what was seen, and blames nobody.
"""

from __future__ import annotations

from typing import Final

from ..vocabulary.ids import Wire


class Words(Wire, frozen=True):
    """`code` is a key of `SENTENCES`; `params` fill it, in the order given."""

    code: str
    params: tuple[tuple[str, str], ...] = ()

    def get(self, name: str) -> str:
        return dict(self.params).get(name, "")


def words(code: str, **params: object) -> Words:
    return Words(code, tuple((name, str(value)) for name, value in params.items()))


def say(said: Words) -> str:
    """One plain line. Parameters may hold untrusted text: escape the result before showing it."""
    return SENTENCES[said.code].format_map(dict(said.params))


SENTENCES: Final[dict[str, str]] = {
    # verdicts
    "denied_retire": "a person said this branch no longer matters",
    "denied_only": "a person asked to work on {target} alone for now",
    "denied_wrong_step": "a person said this is not the step to do now",
    "blind": "what happened could not be seen well enough to tell ({coverage} coverage)",
    "alternate_step": "{count} episodes in a row looked like work on {alternate}",
    "alternate_intent": "{count} episodes in a row looked like another intent: {alternate}",
    "confirmed": "observed evidence matched what was declared",
    "satisfied_declared": "the agent says its expected evidence is met (declared only)",
    "satisfied_person": "a person says the expected evidence is met",
    "matching": "the work seen fits the declared step",
    "no_progress": "{count} episodes since, none brought new fitting work or evidence",
    "too_early": "too little has been seen since the step was declared",
    "nothing_declared": "no path has been declared",
    "nothing_active": "no step is active",
    "between_steps": "no step is active yet",
    # sides of tensions: declared
    "says_working_on": "working on: {intent}",
    "says_done": "done: {intent}",
    "says_satisfied": "condition holds: {label}",
    "says_goal": "new goal: {label}",
    "says_path": "a path was declared",
    "person_retired": "a person set this branch aside: {intent}",
    "person_only": "a person asked for {intent} alone",
    "person_gate": "a person decides at: {label}",
    "person_denied": "a person said otherwise",
    "needs_precondition": "needs: {label}",
    # sides of tensions: observed
    "saw_nothing_new": "{count} episodes without new fitting work or evidence",
    "saw_other_kinds": "{count} episodes of {kinds}, declared were {allowed}",
    "saw_other_work": "work that looks like {alternate}",
    "saw_gate": "gate {label} is {state}",
    "saw_place": "{label} is {state}",
    "saw_fail": "last result seen: {fact}",
    "saw_failures": "{count} failures in a row, no recovery declared",
    "saw_failed_still_working": "the step failed, work goes on, no recovery declared",
    "saw_no_step": "{count} episodes while no step was active",
    "saw_acts_on": "work went on at: {intent}",
    "saw_old_goal": "goal until then: {label}",
    "saw_still_on": "still on: {intent}",
    # what resolves a tension
    "by_repath": "a path update that says what is being done now",
    "by_activation": "a path update that activates a step",
    "by_recovery": "a declared failure branch, another approach, or a passing result",
    "by_gate": "the gate opens, or the step is taken back",
    "by_pass": "a passing result, or the claim is taken back",
    "by_precondition": "the condition holds again, or the step is set aside",
    "by_leaving": "the agent leaves it, or the person takes the correction back",
    "by_person_goal": "a person confirms or corrects the goal",
    # watch
    "loop_signature": "the same trouble {count} times without a changed approach",
    "loop_command": "the same command failed in {count} episodes without a changed approach",
    "gate_refused": "refused {count} times",
    "tombstone_same": "back on a path set aside: {intent}",
    "tombstone_work": "work fits a path set aside: {intent}",
    "tombstone_trouble": "the trouble that ended {intent} is back",
    # anchors and receipts
    "acted_within": "the first acts after it keep to it",
    "acted_against": "the first acts after it went against it",
    "patch_after": "a path update after it",
    "taken_back": "taken back",
    "target_completed": "its step completed first",
    "replaced": "a later correction replaced it",
}
