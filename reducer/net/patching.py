"""A patch being tried: the draft it is tried on, and refusals that teach.

A `Draft` holds an overlay of the net. An op function looks at `draft.net`, refuses by raising
`Refused`, or calls `draft.emit(payload)`, which folds the payload at once, so that the next op
sees what this one did, in the very meaning a replay will give it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..vocabulary.answer import Code, Fault, Where
from ..vocabulary.event import Payload
from ..vocabulary.ids import MAIN_AGENT_ID
from ..vocabulary.terms import Channel
from .fold import fold
from .rules import enabled_at
from .secretlike import looks_like_secret
from .state import Net, Place, Token, Transition

KNOWN_MAX: Final = 24


class Refused(Exception):
    """Why an op cannot be applied. Never leaves `decide`."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__(*(f"{fault.code} at {fault.path}" for fault in faults))
        self.faults = faults


def refuse(code: Code, path: str, expected: str, known: Iterable[str] = ()) -> Refused:
    return Refused(Fault(code, path, expected, tuple(known)))


class Draft:
    """One patch on its way. `op_index` is the op being tried; `source` names the patch."""

    __slots__ = (
        "channel",
        "evidence_ids",
        "evidence_keys",
        "net",
        "new_ids",
        "now_ms",
        "op_index",
        "payloads",
        "source",
        "warnings",
    )

    def __init__(self, net: Net, *, channel: Channel, source: str, now_ms: int) -> None:
        self.net = net
        self.channel = channel
        self.source = source
        self.now_ms = now_ms
        self.op_index = 0
        self.payloads: list[Payload] = []
        self.new_ids: list[str] = []
        self.evidence_ids: list[str] = []
        self.evidence_keys: dict[str, tuple[str, ...]] = {}
        self.warnings: list[str] = []

    @property
    def by_person(self) -> bool:
        """The channel decides who speaks, never the patch."""
        return self.channel is Channel.HUMAN

    def emit(self, payload: Payload) -> None:
        self.payloads.append(payload)
        fold(self.net, payload)

    # --- looking things up, or refusing with what does exist ---

    def place(self, place_id: str, path: str) -> Place:
        found = self.net.places.get(place_id)
        if found is None:
            raise refuse("unknown_id", path, "a place", similar(place_id, self.net.places))
        return found

    def transition(self, transition_id: str, path: str) -> Transition:
        found = self.net.transitions.get(transition_id)
        if found is None:
            known = similar(transition_id, self.net.transitions)
            raise refuse("unknown_id", path, "a transition", known)
        return found

    def token(self, token_id: str, path: str) -> Token:
        found = self.net.tokens.get(token_id)
        if found is None:
            raise refuse("token_unknown", path, "a token", self.net.tokens)
        return found

    def evidence_known(self, evidence_ids: tuple[str, ...], path: str) -> None:
        for index, evidence_id in enumerate(evidence_ids):
            if evidence_id not in self.net.evidence:
                raise refuse(
                    "evidence_unknown",
                    f"{path}.evidenceIds[{index}]",
                    "evidence attached before or earlier in this patch",
                    similar(evidence_id, self.net.evidence),
                )

    def claim_id(self, node_id: str, path: str) -> None:
        """A new name: free in the one namespace of places, transitions and tokens."""
        if self.net.knows(node_id) or node_id in self.net.tokens:
            raise refuse("id_taken", path, f"an id other than {node_id}", (node_id,))
        if looks_like_secret(node_id):
            raise refuse("id_like_secret", path, "a plain name, such as tr_find_root_cause")
        self.new_ids.append(node_id)


def similar(wanted: str, names: Iterable[str]) -> tuple[str, ...]:
    """At most `KNOWN_MAX` names that exist: those sharing a word first, then the newest."""
    words = {word for word in wanted.lower().split("_") if len(word) > 2}
    newest = list(names)[::-1]
    close = [name for name in newest if words & set(name.lower().split("_"))]
    return tuple(dict.fromkeys((*close, *newest[:KNOWN_MAX])))[:KNOWN_MAX]


def where(net: Net, agent_id: str = MAIN_AGENT_ID) -> Where:
    """Where the agent's token stands, what is active, what it could start (RULES 1)."""
    token = net.token_of(agent_id)
    assert token is not None, "a session starts with a token (session.started)"
    active = net.active_transition(agent_id)
    return Where(
        token_id=token.token_id,
        place_id=token.place_id,
        active=active.transition_id if active else None,
        enabled=enabled_at(net, token)[:KNOWN_MAX],
    )
