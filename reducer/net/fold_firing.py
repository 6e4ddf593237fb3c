"""What the events that move a token mean. Part of `fold.py`; its rules for editors hold here."""

from __future__ import annotations

from msgspec.structs import replace

from ..vocabulary import event as ev
from ..vocabulary.terms import TransitionState
from .state import Net, Transition, merged


def transition_activated(net: Net, activated: ev.TransitionActivated) -> None:
    """A shell holds no token of its own: `token.moved` takes it to the entry place."""
    step = net.transitions[activated.transition_id]
    net.firings += 1
    net.put_transition(
        replace(
            step,
            state=TransitionState.ACTIVE,
            firing_id=activated.firing_id,
            firings=step.firings + 1,
            changed_revision=net.revision + 1,
        )
    )
    if step.refinement is None:
        token = net.tokens[activated.token_id]
        net.put_token(replace(token, reserved_by=step.transition_id))


def transition_fired(net: Net, fired: ev.TransitionFired) -> None:
    step = _end_firing(net, fired, TransitionState.COMPLETED)
    _claim(net, step.success, fired.firing_id)
    net.end_locks(lambda lock: lock.target_id == step.transition_id)


def transition_failed(net: Net, failed: ev.TransitionFailed) -> None:
    step = _end_firing(net, failed, TransitionState.FAILED)
    _claim(net, step.failure, failed.firing_id)


def _end_firing(
    net: Net, ended: ev.TransitionFired | ev.TransitionFailed, state: TransitionState
) -> Transition:
    step = net.transitions[ended.transition_id]
    net.put_transition(
        replace(
            step,
            state=state,
            evidence_ids=merged(step.evidence_ids, ended.evidence_ids),
            changed_revision=net.revision + 1,
        )
    )
    token = net.tokens[ended.token_id]
    if token.reserved_by is not None:
        net.put_token(replace(token, reserved_by=None))
    return step


def _claim(net: Net, place_id: str | None, firing_id: str) -> None:
    if place_id is not None:
        net.put_place(replace(net.places[place_id], claimed_by=firing_id))


def token_moved(net: Net, moved: ev.TokenMoved) -> None:
    net.put_token(replace(net.tokens[moved.token_id], place_id=moved.to_place_id))
