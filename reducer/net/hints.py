"""Updates that say nothing, or come too often (seed, 风险: 仪式化路径更新). Hints, never refusals.

An update is *empty* if it changes nothing, or only words, and every word was there before: a
reason turned into an action, the same sentence in other case, a claim made twice. It is *too
frequent* if the last few came with hardly any work between them. Neither is ever progress, and
an update of any kind is never evidence that something was done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET

from ..vocabulary import event as ev
from ..vocabulary.answer import Unchanged
from ..vocabulary.terms import EvidenceType
from .decide import Committed, Decision
from .state import Net

EMPTY_UPDATE: Final = "empty_update: nothing new was said; update when the path changes"
TOO_FREQUENT: Final = (
    "too_frequent: several updates with hardly any work between them; "
    "update at the boundaries of a strategy, not for every call"
)

BURST_UPDATES: Final = 4  # this many updates …
BURST_POSITIONS_MAX: Final = 8  # … within this many observations, their own marks included
BURST_MS_MAX: Final = 60_000  # … or, without a stream to count, within this time

# What an opener and a closer add to a batch says nothing by itself.
_FRAME: Final = (ev.PathDeclared, ev.HumanCorrected, ev.PatchCommitted)
_WORDS: Final = (
    "intent",
    "why_now",
    "action",
    "exit_condition",
    "failure_condition",
    "owner",
    "constraints",
    "assumptions",
    "refine_when",
    "unknowns",
)


def hints(
    net: Net, decision: Decision, recent: Sequence[tuple[int, int]], at: tuple[int, int]
) -> tuple[str, ...]:
    """`net` as it was before the patch. `recent`: (position, ms) of this agent's last updates,
    oldest first; `at`: of this one. Reads and rejections are no updates."""
    if not isinstance(decision, Committed | Unchanged):
        return ()
    found = [EMPTY_UPDATE] if is_empty(net, decision) else []
    if is_too_frequent(recent, at):
        found.append(TOO_FREQUENT)
    return tuple(found)


def is_empty(net: Net, decision: Committed | Unchanged) -> bool:
    if isinstance(decision, Unchanged):
        return True
    said = [payload for payload in decision.payloads if not isinstance(payload, _FRAME)]
    return all(_says_nothing(net, payload) for payload in said)


def _says_nothing(net: Net, payload: ev.Payload) -> bool:
    if isinstance(payload, ev.TransitionContractSet):
        return _only_old_words(net, payload)
    if isinstance(payload, ev.EvidenceAttached):
        return _claims_again(net, payload)
    return False


def _only_old_words(net: Net, payload: ev.TransitionContractSet) -> bool:
    contract = payload.contract
    step = net.transitions.get(contract.transition_id)
    given = [
        name
        for name in contract.__struct_fields__
        if name != "transition_id" and getattr(contract, name) is not UNSET
    ]
    if step is None or not set(given) <= set(_WORDS):
        return False
    known = {word for name in _WORDS for word in _plain(getattr(step, name))}
    known |= {_folded(expected.text) for expected in step.expected}
    return all(word in known for name in given for word in _plain(getattr(contract, name)))


def _claims_again(net: Net, payload: ev.EvidenceAttached) -> bool:
    """The agent's own claim, with nothing but what it said of the same node before."""
    new = payload.evidence
    node = net.places.get(new.target_id) or net.transitions.get(new.target_id)
    if node is None or new.type is not EvidenceType.AGENT_DECLARATION:
        return False
    before = [net.evidence[evidence_id] for evidence_id in node.evidence_ids]
    return any(
        _folded(old.summary) == _folded(new.summary)
        and set(new.satisfies) <= set(old.satisfies)
        and old.firing_id == new.firing_id
        and old.from_edit == new.from_edit
        for old in before
    )


def _plain(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(map(_folded, (value,) if isinstance(value, str) else value))


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()


def is_too_frequent(recent: Sequence[tuple[int, int]], at: tuple[int, int]) -> bool:
    if len(recent) < BURST_UPDATES - 1:
        return False
    position, at_ms = recent[1 - BURST_UPDATES]
    if position and at[0]:
        return at[0] - position <= BURST_POSITIONS_MAX
    return at[1] - at_ms <= BURST_MS_MAX
