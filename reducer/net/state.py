"""The records of a net, and `Net`, the container that one fold owns.

Records are frozen: a change replaces one. `Net` is mutable and belongs to whoever folds; `decide`
works on `net.overlay()`, which costs the same for every size of net and never shows through.

What lives here: values, and the two reverse indexes that keep every rule's cost local.
What does not: what is allowed (`rules.py`), what an event means (`fold.py`).
Invariants are listed and checked in `invariants.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, MutableMapping

from msgspec import Struct

from ..vocabulary.evidence import Evidence
from ..vocabulary.ids import MAIN_AGENT_ID, START_PLACE_ID
from ..vocabulary.patch import ExpectedEvidence
from ..vocabulary.people import CorrectionType
from ..vocabulary.terms import (
    EpisodeKind,
    GateState,
    Level,
    PlaceState,
    PlaceType,
    TransitionState,
    TransitionType,
)
from .hashtree import HashTree
from .layer import Layer

__all__ = ["Evidence", "Goal", "Lock", "Net", "Place", "Refinement", "Token", "Transition"]


class Record(Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """Base of what a net holds. New fields carry defaults, so that old digests stay true."""


class Place(Record, frozen=True):
    """A condition. `state` is what is believed of it, apart from the token (RULES 3).

    `claimed_by`: the firing that last reached it. `parent`: the shell whose inside it belongs to.
    `changed_revision`: the first revision that includes its last structural change.
    """

    place_id: str
    type: PlaceType
    label: str
    state: PlaceState = PlaceState.UNKNOWN
    gate_state: GateState | None = None
    selectors: tuple[str, ...] = ()
    parent: str | None = None
    born: int = 0
    claimed_by: str | None = None
    evidence_ids: tuple[str, ...] = ()
    changed_revision: int = 0
    superseded_by: str | None = None  # a Goal that another Goal replaced


class Refinement(Record, frozen=True):
    """The inside of a shell: its three border places. Members name the shell as `parent`."""

    entry: str
    success_exit: str
    failure_exit: str | None = None


class Transition(Record, frozen=True):
    """An intended action, its contract and its arcs.

    `firing_id` is the current or last firing, `firings` their number. Absent text is Unknown.
    `reason` says why it was retired or superseded. `refinement` makes it a shell.
    """

    transition_id: str
    type: TransitionType
    intent: str
    why_now: str | None = None
    action: str | None = None
    expected: tuple[ExpectedEvidence, ...] = ()
    selectors: tuple[str, ...] = ()
    kinds: tuple[EpisodeKind, ...] = ()
    kinds_inferred: bool = False
    exit_condition: str | None = None
    failure_condition: str | None = None
    owner: str | None = None
    constraints: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    refine_when: str | None = None
    unknowns: tuple[str, ...] = ()
    hierarchical: bool = False
    state: TransitionState = TransitionState.IDLE
    contract_version: int = 1
    flow: str | None = None
    reads: tuple[str, ...] = ()
    success: str | None = None
    failure: str | None = None
    parent: str | None = None
    refinement: Refinement | None = None
    firing_id: str | None = None
    firings: int = 0
    superseded_by: str | None = None
    reason: str | None = None
    born: int = 0
    changed_revision: int = 0
    evidence_ids: tuple[str, ...] = ()


class Token(Record, frozen=True):
    """One execution flow. `place_id` is the formal marking, also while a firing reserves it."""

    token_id: str
    agent_id: str
    place_id: str
    reserved_by: str | None = None


class Lock(Record, frozen=True):
    """A person's standing decision (RULES 39). `gate_id`: the gate it brought with it."""

    correction_id: str
    type: CorrectionType
    revision: int
    target_id: str | None = None
    text: str | None = None
    gate_id: str | None = None

    def holds_gate(self, place_id: str | None) -> bool:
        return self.type is CorrectionType.GATE and place_id in (self.gate_id, self.target_id)


class Goal(Record, frozen=True):
    """The North Star with its source. `place_id` is absent while it is only inferred."""

    text: str
    level: Level
    place_id: str | None = None
    reason: str | None = None


class Net:
    """`flows_from`, `read_by` and `led_to_by` are the arcs seen from the place, kept by the fold.

    `born` and `firings` count nodes and firings ever made; ids and order come from them.
    `edits` counts observed edits, so that evidence can be told older than the last one (RULES 3).
    """

    __slots__ = (
        "born",
        "correction_id",
        "edits",
        "evidence",
        "evidence_chain",
        "firings",
        "flows_from",
        "goal",
        "led_to_by",
        "locks",
        "logic_version",
        "places",
        "read_by",
        "retired_goals",
        "revision",
        "tokens",
        "transitions",
        "tree",
    )

    def __init__(self) -> None:
        self.logic_version = 1
        self.revision = 0
        self.places: MutableMapping[str, Place] = {}
        self.transitions: MutableMapping[str, Transition] = {}
        self.tokens: MutableMapping[str, Token] = {}
        self.evidence: MutableMapping[str, Evidence] = {}
        self.locks: dict[str, Lock] = {}
        self.goal: Goal | None = None
        self.retired_goals: tuple[Goal, ...] = ()
        self.born = 0
        self.firings = 0
        self.edits = 0
        self.correction_id: str | None = None  # of the batch being folded, if a person's
        self.flows_from: MutableMapping[str, tuple[str, ...]] = {}
        self.read_by: MutableMapping[str, tuple[str, ...]] = {}
        self.led_to_by: MutableMapping[str, tuple[str, ...]] = {}
        self.tree = HashTree()
        self.evidence_chain = hashlib.sha256()

    def overlay(self) -> Net:
        """A net that starts equal and goes its own way; this one must rest meanwhile.

        The tree must be clean (`digest.net_digest` makes it so).
        """
        over = Net.__new__(Net)
        over.logic_version = self.logic_version
        over.revision = self.revision
        over.places = Layer(self.places)
        over.transitions = Layer(self.transitions)
        over.tokens = Layer(self.tokens)
        over.evidence = Layer(self.evidence)
        over.locks = dict(self.locks)
        over.goal = self.goal
        over.retired_goals = self.retired_goals
        over.born = self.born
        over.firings = self.firings
        over.edits = self.edits
        over.correction_id = self.correction_id
        over.flows_from = Layer(self.flows_from)
        over.read_by = Layer(self.read_by)
        over.led_to_by = Layer(self.led_to_by)
        over.tree = self.tree.fork()
        over.evidence_chain = self.evidence_chain.copy()
        return over

    def put_place(self, place: Place) -> None:
        self.places[place.place_id] = place
        self.tree.dirty.add(place.place_id)

    def put_transition(self, transition: Transition) -> None:
        self.transitions[transition.transition_id] = transition
        self.tree.dirty.add(transition.transition_id)

    def put_token(self, token: Token) -> None:
        self.tokens[token.token_id] = token
        self.tree.dirty.add(token.token_id)

    def knows(self, node_id: str) -> bool:
        return node_id in self.places or node_id in self.transitions

    def token_of(self, agent_id: str = MAIN_AGENT_ID) -> Token | None:
        for token in self.tokens.values():
            if token.agent_id == agent_id:
                return token
        return None

    def active_transition(self, agent_id: str = MAIN_AGENT_ID) -> Transition | None:
        """The innermost active one: what reserves the agent's token, else the shell around it."""
        token = self.token_of(agent_id)
        if token is None:
            return None
        inner = token.reserved_by or self.places[token.place_id].parent
        return self.transitions[inner] if inner else None

    def note_edit(self) -> None:
        """An edit was observed: evidence from before it no longer verifies."""
        self.edits += 1

    def end_locks(self, is_over: Callable[[Lock], bool]) -> None:
        if self.locks:
            self.locks = {key: lock for key, lock in self.locks.items() if not is_over(lock)}

    def __repr__(self) -> str:
        return f"<Net revision {self.revision}: {len(self.places)} places, {len(self.transitions)}>"


START_LABEL = "Session started"


def start_place(place_id: str = START_PLACE_ID) -> Place:
    return Place(place_id, PlaceType.CONDITION, START_LABEL, state=PlaceState.SATISFIED)


def merged(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """Both in order, each once. Usually nothing is new, and then nothing is copied."""
    return (*old, *(item for item in dict.fromkeys(new) if item not in old)) if new else old
