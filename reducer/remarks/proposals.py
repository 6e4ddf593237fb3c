"""What waits for a person: a GraphPatch of an agent, or a remark of the observer. Pure.

A proposal changes nothing until it is accepted. Until then the view only marks the nodes it speaks
of as provisional, so that a person sees on the map where the question lies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, cast

import msgspec

from ..net.state import Net
from ..session.state import Session
from ..vocabulary.annotation import ObserverPatch
from ..vocabulary.codec import decode
from ..vocabulary.patch import GraphPatch

OBSERVER_ID: Final = "observer"  # the agent id a remark is stored under


def opened(agent_id: str, body: bytes) -> GraphPatch | ObserverPatch:
    """As it was stored: whose it is says what it is."""
    return decode(body, ObserverPatch if agent_id == OBSERVER_ID else GraphPatch)


def speaks_of(session: Session, waiting: Iterable[GraphPatch | ObserverPatch]) -> frozenset[str]:
    """Ids of the nodes, existing ones only, that any of these would touch."""
    return frozenset(node for proposal in waiting for node in _nodes(session, proposal))


def _nodes(session: Session, proposal: GraphPatch | ObserverPatch) -> Iterator[str]:
    if isinstance(proposal, ObserverPatch):
        record = session.episodes.get(proposal.episode_id)
        if record is not None and record.transition_id is not None:
            yield record.transition_id
    yield from _named(session.net, msgspec.to_builtins(proposal.ops))


def _named(net: Net, value: Any) -> Iterator[str]:
    """Every id of a node, wherever in an op it stands: no op needs to be known here."""
    if isinstance(value, str):
        if value in net.transitions or value in net.places:
            yield value
    elif isinstance(value, dict):
        yield from _named(net, list(cast("dict[str, Any]", value).values()))
    elif isinstance(value, list | tuple):
        for each in cast("Sequence[Any]", value):
            yield from _named(net, each)
