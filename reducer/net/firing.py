"""Ops that move the token: activate, complete, fail, and superseding what is active.

Reservation firing (seed, "Place state、Marking 与 Transition firing"): activation reserves the
token where it stands, completion moves it to the success place, failure to the failure place or,
without one, lets it go where it was. Firing never sets a place's condition (RULES 3).

Shells (seed, "Hierarchical refinement firing"): activation moves the token to the entry place;
a step that ends on an exit place ends the shell in the same batch.
"""

from __future__ import annotations

from ..vocabulary import event as ev
from ..vocabulary import patch as op_
from ..vocabulary.answer import Fault
from ..vocabulary.terms import TransitionState
from . import contract
from .patching import Draft, Refused, refuse
from .rules import is_live, obstacles
from .state import Refinement, Token, Transition


def activate_transition(draft: Draft, op: op_.ActivateTransition, path: str) -> None:
    token = draft.token(op.token_id, f"{path}.tokenId")
    step = draft.transition(op.transition_id, f"{path}.transitionId")
    found = obstacles(draft.net, step, token)
    if found:
        where = f"{path}.transitionId"
        raise Refused(*(Fault(code, where, text, known) for code, text, known in found))
    if not draft.by_person:
        _must_promise(step, path)
    _warn(draft, step)
    draft.emit(
        ev.TransitionActivated(
            step.transition_id, token.token_id, f"fi_{draft.net.firings + 1}", draft.op_index
        )
    )
    if step.refinement is not None:
        _move(draft, token.token_id, step.refinement.entry)


def _must_promise(step: Transition, path: str) -> None:
    missing = contract.missing_for_activation(step)
    if missing:
        raise refuse(
            "contract_incomplete",
            f"{path}.transitionId",
            f"{' and '.join(missing)} on {step.transition_id} (set_transition_contract)",
            missing,
        )


def _warn(draft: Draft, step: Transition) -> None:
    missing = contract.missing_near(step)
    if missing:
        draft.warnings.append(f"{step.transition_id}: shown as Unknown: {', '.join(missing)}")
    if step.hierarchical and step.refinement is None:
        draft.warnings.append(f"{step.transition_id}: not refined, its inner steps are Unknown")


def complete_transition(draft: Draft, op: op_.CompleteTransition, path: str) -> None:
    token = draft.token(op.token_id, f"{path}.tokenId")
    step = draft.transition(op.transition_id, f"{path}.transitionId")
    if step.refinement is not None:
        raise refuse(
            "shell_not_completable",
            f"{path}.transitionId",
            f"its inside to reach {step.refinement.success_exit}",
            (step.refinement.success_exit,),
        )
    _must_hold(step, token, path)
    draft.evidence_known(op.evidence_ids, path)
    _fire(draft, step, token.token_id, op.evidence_ids)
    _leave_shell(draft, token.token_id)


def fail_transition(draft: Draft, op: op_.FailTransition, path: str) -> None:
    token = draft.token(op.token_id, f"{path}.tokenId")
    step = draft.transition(op.transition_id, f"{path}.transitionId")
    if step.refinement is None:
        _must_hold(step, token, path)
    else:
        _must_be_between_children(draft, step, token, path)
    draft.evidence_known(op.evidence_ids, path)
    _fail(draft, step, token.token_id, op.evidence_ids)
    _leave_shell(draft, token.token_id)


def _must_hold(step: Transition, token: Token, path: str) -> None:
    if token.reserved_by != step.transition_id:
        held = f"it is held by {token.reserved_by}" if token.reserved_by else "nothing is active"
        raise refuse(
            "not_active",
            f"{path}.transitionId",
            f"the transition that holds {token.token_id}; {held}",
            (token.reserved_by,) if token.reserved_by else (),
        )


def _must_be_between_children(draft: Draft, shell: Transition, token: Token, path: str) -> None:
    if draft.net.places[token.place_id].parent != shell.transition_id:
        raise refuse("not_active", f"{path}.transitionId", f"{token.token_id} inside it")
    if token.reserved_by is not None:
        raise refuse(
            "shell_child_active",
            f"{path}.transitionId",
            f"{token.reserved_by} completed or failed first",
            (token.reserved_by,),
        )


def supersede_transition(draft: Draft, op: op_.SupersedeTransition, path: str) -> None:
    """Nothing is inherited. A person may force an active one; its token goes back (RULES 5)."""
    old = draft.transition(op.old_transition_id, f"{path}.oldTransitionId")
    new = draft.transition(op.new_transition_id, f"{path}.newTransitionId")
    for step, field in ((old, "oldTransitionId"), (new, "newTransitionId")):
        if not is_live(step):
            raise refuse("not_live", f"{path}.{field}", f"a live transition, not {step.state}")
    if new is old:
        raise refuse("not_live", f"{path}.newTransitionId", "a transition other than the old one")
    released = None
    if old.state is TransitionState.ACTIVE:
        if not draft.by_person:
            raise refuse(
                "is_active", f"{path}.oldTransitionId", "complete or fail it before superseding it"
            )
        released = _token_within(draft, old)
    draft.emit(
        ev.TransitionSuperseded(
            op.old_transition_id,
            op.new_transition_id,
            op.reason,
            draft.op_index,
            released.token_id if released else None,
        )
    )
    if released is not None and old.flow is not None and released.place_id != old.flow:
        _move(draft, released.token_id, old.flow)


def _token_within(draft: Draft, step: Transition) -> Token:
    net = draft.net
    return next(
        token
        for token in net.tokens.values()
        if token.reserved_by == step.transition_id
        or net.places[token.place_id].parent == step.transition_id
    )


# --- what the ops share -----------------------------------------------------------------------


def _fire(draft: Draft, step: Transition, token_id: str, evidence_ids: tuple[str, ...]) -> None:
    assert step.firing_id is not None and step.success is not None
    draft.emit(
        ev.TransitionFired(
            step.transition_id, token_id, step.firing_id, evidence_ids, draft.op_index
        )
    )
    _move(draft, token_id, step.success)


def _fail(draft: Draft, step: Transition, token_id: str, evidence_ids: tuple[str, ...]) -> None:
    assert step.firing_id is not None and step.flow is not None
    draft.emit(
        ev.TransitionFailed(
            step.transition_id, token_id, step.firing_id, evidence_ids, draft.op_index
        )
    )
    _move(draft, token_id, step.failure or step.flow)


def _move(draft: Draft, token_id: str, to_place_id: str) -> None:
    at = draft.net.tokens[token_id].place_id
    if at != to_place_id:
        draft.emit(ev.TokenMoved(token_id, at, to_place_id, draft.op_index))


def _leave_shell(draft: Draft, token_id: str) -> None:
    """On an exit place the shell ends at once; nobody ever sees the token rest there."""
    net = draft.net
    at = net.places[net.tokens[token_id].place_id]
    shell = net.transitions[at.parent] if at.parent else None
    if shell is None:
        return
    inside: Refinement | None = shell.refinement
    assert inside is not None
    if at.place_id == inside.success_exit:
        _fire(draft, shell, token_id, ())
    elif at.place_id == inside.failure_exit:
        _fail(draft, shell, token_id, ())
