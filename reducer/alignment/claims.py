"""What was declared done or true, against what was last seen of it.

A claim that nothing has shown yet is *claimed*, not in tension (RULES 3). A tension needs a fact
that speaks against it: a gate that is not open, or the newest result of what it named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..net.state import Place, Transition
from ..session.state import EpisodeRecord
from ..vocabulary.observation import Fact
from ..vocabulary.terms import (
    FactResult,
    GateState,
    Level,
    PlaceState,
    TransitionState,
    TransitionType,
)
from .drifts import since_place, state_words
from .selectors import names, parse, spelled
from .situation import Situation
from .tension import Detector, Tension, TensionKind, raised
from .words import words

# Steps whose own point may be a failure: for these only `=pass` asks for a pass.
_FAILURE_IS_WELCOME: Final = frozenset(
    {TransitionType.INVESTIGATE, TransitionType.BRANCH, TransitionType.DECIDE}
)


def done_but_gate(at: Situation) -> Iterator[Tension]:
    """Declared done, the gate not passed."""
    net = at.session.net
    for step in net.transitions.values():
        if step.state is not TransitionState.COMPLETED:
            continue
        for place_id in dict.fromkeys((*step.reads, step.success)):
            gate = net.places[place_id] if place_id is not None else None
            if gate is None or gate.gate_state in (None, GateState.OPEN):
                continue
            yield raised(
                TensionKind.DONE_BUT_GATE,
                at.verdict,
                declared=words("says_done", intent=step.intent),
                observed=state_words(gate),
                resolves=words("by_gate"),
                since=max(
                    since_place(at, gate), at.since_patch(step.changed_revision), key=_position
                ),
                transition_id=step.transition_id,
                place_id=gate.place_id,
                episode_ids=(),
                evidence_ids=gate.evidence_ids[-1:],
            )


def done_but_failing(at: Situation) -> Iterator[Tension]:
    """Declared done, and the newest result of what it named says otherwise."""
    said: set[str] = set()
    done = [
        step
        for step in at.session.net.transitions.values()
        if step.state is TransitionState.COMPLETED
    ]
    for step in sorted(done, key=lambda each: each.changed_revision, reverse=True):
        strict = step.type not in _FAILURE_IS_WELCOME
        for fact, record in _against(at, step.selectors, strict):
            # A failure that was shown and has gone since, as after a repair, speaks against nobody;
            # the same failure speaks against the newest claim only.
            if fact.result is FactResult.PASS or spelled(fact) in said:
                continue
            said.add(spelled(fact))
            yield _contradicted(at, TensionKind.DONE_BUT_FAILING, step, fact, record)


def condition_contradicted(at: Situation) -> Iterator[Tension]:
    """A condition declared to hold, and the newest result of what it named says otherwise."""
    for place in at.session.net.places.values():
        if place.state is PlaceState.SATISFIED and place.superseded_by is None:
            for fact, record in _against(at, place.selectors, strict=True):
                yield _contradicted(at, TensionKind.CONDITION_CONTRADICTED, place, fact, record)


def goal_changed(at: Situation) -> Iterator[Tension]:
    """The agent set another goal: news until a person confirms or corrects it (RULES 18)."""
    roots = at.session.roots
    if len(roots) < 2 or roots[-1].level is not Level.DECLARED:
        return
    old, new = roots[-2], roots[-1]
    if old.level is Level.INFERRED:
        return
    patch = next((each for each in at.session.patches if each.seq >= new.seq), None)
    yield raised(
        TensionKind.GOAL_CHANGED,
        at.verdict,
        declared=words("says_goal", label=new.text),
        observed=words("saw_old_goal", label=old.text),
        resolves=words("by_person_goal"),
        since=(patch.patch_id, patch.position) if patch else ("", 0),
        place_id=new.place_id,
        episode_ids=(),
        evidence_ids=(),
        news=True,
    )


def _against(
    at: Situation, selectors: tuple[str, ...], strict: bool
) -> Iterator[tuple[Fact, EpisodeRecord]]:
    """Newest results a selector names and did not ask for. `strict`: no outcome asks for a pass."""
    for selector in selectors:
        parts = parse(selector)
        asked = parts.result or (FactResult.PASS if strict else None) if parts else None
        if parts is None or asked is None:
            continue
        for fact, record in at.newest.values():
            if names(parts, fact) and fact.result is not asked:
                yield fact, record


def _contradicted(
    at: Situation,
    kind: TensionKind,
    node: Transition | Place,
    fact: Fact,
    record: EpisodeRecord,
) -> Tension:
    step = node if isinstance(node, Transition) else None
    place = node if isinstance(node, Place) else None
    episode = record.episode
    return raised(
        kind,
        at.verdict,
        declared=words("says_done", intent=step.intent)
        if step is not None
        else words("says_satisfied", label=place.label if place else ""),
        observed=words("saw_fail", fact=spelled(fact)),
        resolves=words("by_pass"),
        since=(episode.episode_id, episode.to_position),
        transition_id=step.transition_id if step else None,
        place_id=place.place_id if place else None,
        episode_ids=(episode.episode_id,),
        evidence_ids=tuple(
            each
            for each in node.evidence_ids
            if at.session.net.evidence[each].source == episode.episode_id
        ),
    )


def _position(since: tuple[str, int]) -> int:
    return since[1]


DETECTORS: Final[tuple[Detector, ...]] = (
    done_but_gate,
    done_but_failing,
    condition_contradicted,
    goal_changed,
)
