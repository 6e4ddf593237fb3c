"""`net_digest`: one hash of structure, marking, states and contracts, equal everywhere.

Evidence has a digest of its own, and so have episodes; evidence ids on nodes are left out here.
Locks are left out too: they are the person's words, told by the corrections (RULES 16).
"""

from __future__ import annotations

import hashlib
from typing import Final

from msgspec.structs import replace

from ..vocabulary.codec import canonical
from .hashtree import HashTree
from .state import Net

# No id can be this: the goal is a part of the net without an id of its own.
GOAL_PART: Final = "~goal"


def net_digest(net: Net) -> str:
    """`sha256:…`, computed for what changed since it was last asked."""
    return "sha256:" + net.tree.root(lambda name: _part(net, name))


def full_digest(net: Net) -> str:
    """The same, from nothing: what `net_digest` must always equal."""
    tree = HashTree()
    for names in (net.places, net.transitions, net.tokens):
        for name in names:
            tree.dirty.add(name)
    if net.goal is not None:
        tree.dirty.add(GOAL_PART)
    return "sha256:" + tree.root(lambda name: _part(net, name))


def evidence_digest(net: Net) -> str:
    """Over all evidence in the order it was attached."""
    return "sha256:" + net.evidence_chain.hexdigest()


def empty_evidence_digest() -> str:
    return "sha256:" + hashlib.sha256().hexdigest()


def _part(net: Net, name: str) -> bytes:
    place = net.places.get(name)
    if place is not None:
        return canonical(replace(place, evidence_ids=()) if place.evidence_ids else place)
    transition = net.transitions.get(name)
    if transition is not None:
        return canonical(
            replace(transition, evidence_ids=()) if transition.evidence_ids else transition
        )
    token = net.tokens.get(name)
    return canonical(token if token is not None else (net.goal, net.retired_goals))
