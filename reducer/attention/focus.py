"""NOW, WHY, NEXT: what the agent is at, what that is for, and where it goes from here.

RULES 33–34 and 24: the declared path speaks first; before the first declaration a published plan
fills NOW and NEXT; without either, observed work fills NOW, and WHY and NEXT stay Unknown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from ..net.rules import is_live
from ..net.standing import standing
from ..net.state import Net, Transition
from ..session.state import Session
from ..vocabulary.ids import MAIN_AGENT_ID
from ..vocabulary.observation import PlanItem, PlanState
from ..vocabulary.terms import Level, TransitionState
from .horizon import reads_met
from .observed import doing
from .texts import Language, text
from .view import Line, NextStep
from .words import cut

NEXT_MAX: Final = 3
# Parts are cut before they are joined, so that a cut never hides the other half of a sentence.
WHY_WORDS_MAX: Final = 9
NEXT_WORDS_MAX: Final = 6
FAIL_WORDS_MAX: Final = 5
PATH_STEPS_MAX: Final = 64


def north_star(session: Session, language: Language) -> Line:
    if session.root is not None:
        return Line(session.root.text, session.root.level, node_id=session.root.place_id)
    if session.first_prompt is not None:
        return Line(session.first_prompt.line, Level.INFERRED)
    return Line(text("no_goal", language), Level.UNKNOWN)


def now(session: Session, language: Language) -> Line:
    active = session.net.active_transition()
    if active is not None:
        return Line(active.intent, Level.DECLARED, active.evidence_ids, active.transition_id)
    if session.declared():
        return _between(session, language)
    planned = _plan_item(session, PlanState.ACTIVE)
    if planned is not None:
        return Line(planned.text, Level.DECLARED)
    return doing(session, language)


def _between(session: Session, language: Language) -> Line:
    """The token rests on a place: the goal, or somewhere on the way."""
    net = session.net
    token = net.token_of(MAIN_AGENT_ID)
    assert token is not None, "session.started made it"
    place = net.places[token.place_id]
    said = text(f"standing_{standing(net, place.place_id)}", language)
    code = "arrived" if net.goal and net.goal.place_id == place.place_id else "between"
    says = text(code, language, place=place.label, standing=said)
    return Line(says, Level.DECLARED, place.evidence_ids, place.place_id)


def why(session: Session, language: Language) -> Line:
    """`whyNow`, and the link to the goal: it is declared if a success path leads there."""
    active = session.net.active_transition()
    if active is None or active.why_now is None:
        return Line(text("why_unknown", language), Level.UNKNOWN)
    goal = session.net.goal
    linked = goal is not None and goal.place_id and leads_to(session.net, active, goal.place_id)
    code = "why_link" if linked else "why_no_link"
    said = text(code, language, why=cut(active.why_now, WHY_WORDS_MAX))
    return Line(said, Level.DECLARED, node_id=active.transition_id)


def leads_to(net: Net, step: Transition, goal_id: str) -> bool:
    """Whether success after success arrives at the goal."""
    line: deque[str] = deque([step.success or ""])
    shell = net.transitions.get(step.parent or "")
    if shell is not None:
        line.append(shell.success or "")
    seen: set[str] = set()
    while line and len(seen) < PATH_STEPS_MAX:
        place = line.popleft()
        if place == goal_id:
            return True
        if not place or place in seen:
            continue
        seen.add(place)
        for transition_id in net.flows_from.get(place, ()):
            after = net.transitions[transition_id]
            if is_live(after) and after.success is not None:
                line.append(after.success)
    return False


def next_steps(session: Session, pinned: frozenset[str], language: Language) -> list[NextStep]:
    """Success continuations (pinned, reads met, newest), then the failure branch; at most 3."""
    net = session.net
    active = net.active_transition()
    if active is not None:
        ways = [_way("then", step) for step in _onward(net, active.success, pinned)]
        if not ways and active.success is not None:
            place = net.places[active.success]
            said = text("reaches", language, place=place.label)
            ways = [NextStep("then", Line(said, Level.DECLARED, node_id=place.place_id))]
        return [*ways[: NEXT_MAX - 1], failure_branch(net, active, language)]
    if session.declared():
        token = net.token_of(MAIN_AGENT_ID)
        here = token.place_id if token is not None else None
        return [_way("ready", step) for step in _onward(net, here, pinned)][:NEXT_MAX]
    pending = [item for item in session.plan if item.state is PlanState.PENDING]
    return [NextStep("planned", Line(item.text, Level.DECLARED)) for item in pending[:NEXT_MAX]]


def _onward(net: Net, place_id: str | None, pinned: frozenset[str]) -> list[Transition]:
    steps = [net.transitions[t] for t in net.flows_from.get(place_id or "", ())]
    live = [step for step in steps if is_live(step) and step.state is not TransitionState.ACTIVE]
    return sorted(
        live, key=lambda s: (s.transition_id not in pinned, not reads_met(net, s), -s.born)
    )


def _way(when: str, step: Transition) -> NextStep:
    line = Line(step.intent, Level.DECLARED, step.evidence_ids, step.transition_id)
    return NextStep(when, line)


def failure_branch(net: Net, active: Transition, language: Language) -> NextStep:
    """Where the token goes if the active step fails, and what would be done there."""
    if active.failure is None:
        place = net.places[active.flow or ""] if active.flow in net.places else None
        label = place.label if place is not None else text("unknown", language)
        said = text("fails_back", language, place=label)
        return NextStep("else", Line(said, Level.UNKNOWN, node_id=active.flow))
    place = net.places[active.failure]
    onward = _onward(net, active.failure, frozenset())
    said = onward[0].intent if onward else place.label
    node = onward[0].transition_id if onward else place.place_id
    return NextStep("else", Line(said, Level.DECLARED, place.evidence_ids, node))


def next_line(steps: list[NextStep], language: Language) -> Line:
    """NEXT in one sentence: "X; if it fails: Y"."""
    onward = [step.line for step in steps if step.when != "else"]
    fail = next((step.line for step in steps if step.when == "else"), None)
    if not onward and fail is None:
        return Line(text("next_unknown", language), Level.UNKNOWN)
    first = cut(onward[0].text, NEXT_WORDS_MAX) if onward else ""
    source = onward[0].source if onward else Level.DECLARED
    node = onward[0].node_id if onward else None
    if fail is None:
        return Line(first, source, node_id=node)
    if fail.source is Level.UNKNOWN:
        return Line(text("then_none", language, then=first), source, node_id=node)
    turn = cut(fail.text, FAIL_WORDS_MAX)
    if not onward:
        return Line(text("else_only", language, fail=turn), source, node_id=fail.node_id)
    said = text("then_else", language, then=first, fail=turn)
    return Line(said, source, node_id=node)


def _plan_item(session: Session, state: PlanState) -> PlanItem | None:
    return next((item for item in session.plan if item.state is state), None)


def fired(session: Session) -> Iterator[tuple[str, int]]:
    """(transition id, seq of the patch) in the order in which steps became active."""
    last: str | None = None
    for patch in session.patches:
        if patch.firing_id is not None and patch.firing_id != last:
            last = patch.firing_id
            yield patch.active_transition_id or "", patch.seq
