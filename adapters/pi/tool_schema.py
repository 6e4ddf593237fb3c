"""The JSON Schema that Pi shows the model for `update_action_path`, made from the vocabulary.

Flat on purpose: one object with every field any op knows, named as on the wire, so that every
provider accepts it and it stays small in the prompt. It checks types only; values, patterns and
required fields are the reconciler's to refuse, because its refusals teach (RULES 1, DESIGN 4).

    python -m wayfinder.adapters.pi.tool_schema      writes extension/patch.schema.json anew
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import msgspec

from ...reducer.vocabulary.patch import PatchOp

FILE: Final = Path(__file__).parent / "extension" / "patch.schema.json"

# Fields whose meaning their name does not say.
NOTES: Final = {
    "arc": "flow or read: place to transition; success or failure: transition to place",
    "type": "of a place, or of a transition",
    "expectedEvidence": "what would show that the step worked; answered with keys ee1, ee2 …",
    "evidenceSelectors": "kind:name[=pass|fail] with kind assertion, test, command, file or trace",
    "evidenceIds": "may be empty when completing or failing",
    "replacesGoalId": "only with reason",
    "tokenId": "tok_main",
    "ops": "applied in order, all or none; empty reads the path back",
    "expectedEvidence[]": "text, or {key, text}",
    "subnet.places": "fields as in create_place",
    "subnet.transitions": "fields as in create_transition",
    "subnet.arcs": "fields as in connect",
    "entryMap": "{flow input of the refined transition: place in the subnet}",
    "successExitMap": "{success place of the refined transition: place in the subnet}",
    "failureExitMap": "{failure place of the refined transition: place in the subnet}",
    "proposal": "true: leave this for the person to decide instead of applying it",
}

# The channel decides an evidence's type (RULES 12), so it is not offered.
NOT_OFFERED: Final = {"evidence": {"type", "confidence"}}

Json = dict[str, Any]


def tool_schema() -> Json:
    """`{"type": "object", "properties": {"ops": …, "proposal": …}}`, deterministic."""
    whole = msgspec.json.schema(tuple[PatchOp, ...])
    defs: Json = whole["$defs"]
    fields: dict[str, list[Json]] = {}
    tags: list[str] = []
    for name in _op_names(whole):
        for key, value in defs[name]["properties"].items():
            if key == "op":
                tags.append(value["enum"][0])
            else:
                fields.setdefault(key, []).append(_plain(key, value, defs))
    properties: Json = {"op": {"type": "string", "enum": tags}}
    for key, kinds in fields.items():
        properties[key] = _noted(key, _merged(kinds))
    op = {"type": "object", "properties": properties, "required": ["op"]}
    ops = _noted("ops", {"type": "array", "items": op})
    proposal = _noted("proposal", {"type": "boolean"})
    return {"type": "object", "properties": {"ops": ops, "proposal": proposal}}


def _op_names(whole: Json) -> list[str]:
    items = whole["items"]
    branches: list[Json] = items["anyOf"]
    return [branch["$ref"].rsplit("/", 1)[1] for branch in branches]


def _plain(key: str, value: Json, defs: Json) -> Json:
    """Types and names only; closed sets become a description, since spellings are forgiven."""
    if "$ref" in value:
        return _plain(key, defs[value["$ref"].rsplit("/", 1)[1]], defs)
    if "anyOf" in value:
        return _merged([_plain(key, v, defs) for v in value["anyOf"] if v.get("type") != "null"])
    if "enum" in value:
        return {"type": "string", "description": " | ".join(map(str, value["enum"]))}
    kind = value.get("type")
    if kind == "array":
        items = _plain(f"{key}[]", value.get("items", {}), defs)
        return {"type": "array", "items": _noted(f"{key}[]", items)}
    if kind == "object" and "properties" in value:
        return {"type": "object", "properties": _inside(key, value["properties"], defs)}
    return {"type": kind} if kind else {}


def _inside(key: str, properties: Json, defs: Json) -> Json:
    """A nested object's fields; what an op of its own already explains is only named."""
    inside: Json = {}
    for name, value in properties.items():
        note = NOTES.get(f"{key}.{name}")
        if note is not None:
            inside[name] = {"type": "array", "items": {"type": "object"}, "description": note}
        elif name not in NOT_OFFERED.get(key, ()):
            inside[name] = _noted(name, _plain(name, value, defs))
    return inside


def _merged(kinds: list[Json]) -> Json:
    """One schema for a name that several ops use; no type when they differ."""
    types = {kind.get("type") for kind in kinds}
    texts = list(dict.fromkeys(k["description"] for k in kinds if "description" in k))
    merged = dict(kinds[0]) if len(types) == 1 else {}
    if texts:
        merged["description"] = "; ".join(texts)
    return merged


def _noted(key: str, value: Json) -> Json:
    note = NOTES.get(key)
    if note is None:
        return value
    known = value.get("description")
    return {**value, "description": f"{note}: {known}" if known else note}


def encoded() -> str:
    return json.dumps(tool_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(encoded(), encoding="utf-8")
