"""Bringing back what a person set aside by mistake: a copy in the same place, with a new id.

Retired and superseded steps never fire again (RULES 4), so an undo makes a new step with the
same contract and arcs. The old one stays as it is, with its reason.
"""

from __future__ import annotations

from ..net.state import Net, Transition
from ..vocabulary.patch import Connect, CreateTransition, PatchOp
from ..vocabulary.terms import ArcKind

_ID_CHARS_MAX = 64


def revived(net: Net, step: Transition) -> tuple[PatchOp, ...]:
    copy_id = free_id(net, step.transition_id)
    copy = CreateTransition(
        transition_id=copy_id,
        type=step.type,
        intent=step.intent,
        why_now=step.why_now,
        action=step.action,
        expected_evidence=step.expected,
        evidence_selectors=step.selectors,
        allowed_episode_kinds=() if step.kinds_inferred else step.kinds,
        exit_condition=step.exit_condition,
        failure_condition=step.failure_condition,
        owner=step.owner,
        constraints=step.constraints,
        assumptions=step.assumptions,
        refine_when=step.refine_when,
        unknowns=step.unknowns,
        hierarchical=step.hierarchical,
    )
    arcs = [Connect(place_id, copy_id, ArcKind.READ) for place_id in step.reads]
    if step.flow is not None:
        arcs.append(Connect(step.flow, copy_id, ArcKind.FLOW))
    for kind, place_id in ((ArcKind.SUCCESS, step.success), (ArcKind.FAILURE, step.failure)):
        if place_id is not None:
            arcs.append(Connect(copy_id, place_id, kind))
    return (copy, *arcs)


def free_id(net: Net, stem: str) -> str:
    """`<stem>_2`, `_3`, … the first that names nothing yet, within the length of an id."""
    number = 2
    while True:
        suffix = f"_{number}"
        name = stem[: _ID_CHARS_MAX - len(suffix)] + suffix
        if not net.knows(name) and name not in net.tokens:
            return name
        number += 1
