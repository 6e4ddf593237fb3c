"""The whole net as one JSON document: records in wire names, nodes in order of birth.

{"schemaVersion":1,"revision":18,"netDigest":"sha256:…","goal":{…},"retiredGoals":[…],
 "places":[…],"transitions":[…],"tokens":[…],"evidence":[…],"locks":[…]}
"""

from __future__ import annotations

import msgspec

from ..digest import net_digest
from ..state import Net


def to_json(net: Net) -> str:
    """Indented, deterministic."""
    document = {
        "schemaVersion": 1,
        "revision": net.revision,
        "netDigest": net_digest(net),
        "goal": net.goal,
        "retiredGoals": net.retired_goals,
        "places": sorted(net.places.values(), key=lambda place: place.born),
        "transitions": sorted(net.transitions.values(), key=lambda step: step.born),
        "tokens": list(net.tokens.values()),
        "evidence": list(net.evidence.values()),
        "locks": list(net.locks.values()),
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
