"""The JSON Schema of a GraphPatch, from the structs: one source for the tool, the docs, the CLI.

Models call the tool with it, so that form is plain: no `$ref`, no unions an API might refuse. An
op is one object whose fields are all fields of all ops; which belong to which op stands in `op`'s
description, and the reconciler checks it with better words than a schema has. What the extension
fills in (patchId, baseRevision, idempotencyKey, actor) is left out. `strict` is the exact form.
"""

from __future__ import annotations

import inspect
from typing import Any, Final, cast, get_args

import msgspec

from ..vocabulary import patch as op_

Schema = dict[str, Any]
_OPS: Final[tuple[type[op_.Op], ...]] = get_args(op_.PatchOp)

OPS_HELP: Final = (
    "Applied in order, all or none. Later ops may use ids made by earlier ones. "
    "An empty list reads back where you stand."
)
FIELD_HELP: Final[dict[str, str]] = {
    "placeId": "pl_… , chosen by you",
    "transitionId": "tr_… , chosen by you",
    "type": "create_place: a kind of condition; create_transition: a kind of action",
    "label": "The condition, as a state of the world",
    "intent": "What this step is for, one line",
    "whyNow": "Why this step comes now",
    "action": "What will concretely be done",
    "expectedEvidence": "What will be seen if it works; needed to activate. Keys ee1, ee2 …",
    "exitCondition": "When this step is over; needed to activate",
    "failureCondition": "What shows that it does not work",
    "evidenceSelectors": "kind:name[=pass|fail], kind one of assertion test command file trace",
    "allowedEpisodeKinds": "Kinds of work that fit this step; left out: by its type",
    "arc": "place to transition: flow, read; transition to place: success, failure",
    "state": "of a condition; needs evidenceIds unless unknown",
    "gateState": "of a Gate",
    "evidenceIds": "Evidence attached before or earlier in this patch",
    "replacesGoalId": "Only to change the goal: the Goal it replaces, with a reason",
    "entryMap": "{the step's flow input: the subnet's first place}",
    "successExitMap": "{the step's success output: the subnet's last place}",
    "failureExitMap": "{the step's failure output, or its flow input: a subnet place}",
    "evidence": "A summary; `satisfies` names the keys it proves, `evidenceId` its own name",
    "tokenId": "Left out: tok_main",
    "refineWhen": "When a far step should be made concrete",
    "hierarchical": "The step will get an inside later",
}
# What is checked on arrival, or says nothing to a model.
_DROPPED: Final = frozenset(
    {
        "title",
        "default",
        "pattern",
        "propertyNames",
        "minProperties",
        "maxProperties",
        "additionalProperties",
    }
)


def strict() -> Schema:
    """Draft 2020-12, exact: everything `decode` accepts, by shape."""
    schema = msgspec.json.schema(op_.GraphPatch)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def tool_parameters() -> Schema:
    """What a model sees: `{"ops": [{"op": …, …}, …]}`, flat, described, without references."""
    _, parts = msgspec.json.schema_components([op_.GraphPatch])
    fields: Schema = {}
    for op in _OPS:
        for name, field in parts[op.__name__]["properties"].items():
            if name != "op":
                fields[name] = _merged(fields.get(name), _inlined(field, parts))
    for name, text in FIELD_HELP.items():
        fields[name] = {**fields[name], "description": text}
    tags = [str(op.__struct_config__.tag) for op in _OPS]
    item = {
        "type": "object",
        "properties": {
            "op": {"type": "string", "enum": tags, "description": _op_help(parts)},
            **fields,
        },
        "required": ["op"],
    }
    return {
        "type": "object",
        "properties": {"ops": {"type": "array", "items": item, "description": OPS_HELP}},
        "required": ["ops"],
    }


def _op_help(parts: Schema) -> str:
    """One line per op: `connect(fromId, toId, arc): An arc. …`, optional fields after a `;`."""
    lines: list[str] = []
    for op in _OPS:
        part = parts[op.__name__]
        required = [name for name in part["required"] if name != "op"]
        optional = [n for n in part["properties"] if n not in required and n != "op"]
        signature = ", ".join(required) + ("; " + ", ".join(optional) if optional else "")
        lines.append(f"{op.__struct_config__.tag}({signature}): {inspect.getdoc(op)}")
    return "\n".join(lines)


def _inlined(schema: Any, parts: Schema) -> Any:
    """References replaced by what they name; of a union the plainest member; no op tags inside."""
    if isinstance(schema, list):
        return [_inlined(item, parts) for item in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    node = cast("Schema", schema)
    if "$ref" in node:
        return _inlined(parts[node["$ref"].rpartition("/")[2]], parts)
    if "anyOf" in node:
        return _inlined(_plainest(node["anyOf"]), parts)
    kept = {key: _inlined(node[key], parts) for key in node if key not in _DROPPED}
    if "enum" in kept:
        kept["type"] = "string"
    if "properties" in node:
        inner: Schema = node["properties"]
        kept["properties"] = {n: _inlined(inner[n], parts) for n in inner if n != "op"}
        kept["required"] = [name for name in node.get("required", ()) if name != "op"]
    return kept


def _plainest(branches: list[Schema]) -> Schema:
    given = [branch for branch in branches if branch != {"type": "null"}]
    return next((branch for branch in given if branch.get("type") == "string"), given[0])


def _merged(known: Any, field: Any) -> Any:
    """Ops share field names; where their words differ (`type`) both sets stand."""
    if known is None or known == field:
        return field
    return {**known, "enum": [*known["enum"], *field["enum"]]}
