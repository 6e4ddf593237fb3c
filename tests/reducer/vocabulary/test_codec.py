"""The one decoder: what it lets in, what it refuses, and that it refuses in one way."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfinder.reducer.vocabulary.codec import (
    Malformed,
    canonical,
    decode_untrusted,
    digest,
    encode,
)
from wayfinder.reducer.vocabulary.ids import FRAME_BYTES_MAX
from wayfinder.reducer.vocabulary.patch import GraphPatch

OP = {"op": "create_place", "placeId": "pl_a", "type": "Condition", "label": "a"}
GOOD: dict[str, object] = {
    "patchId": "patch_1",
    "baseRevision": 0,
    "idempotencyKey": "call_1",
    "ops": [OP],
}


def changed(**fields: object) -> bytes:
    return json.dumps({**GOOD, **fields}).encode()


REFUSED = {
    "not JSON": b"nonsense",
    "not UTF-8": b'{"patchId":"\xff"}',
    "cut": json.dumps(GOOD).encode()[:-3],
    "trailing bytes": json.dumps(GOOD).encode() + b"{}",
    "an array": b"[]",
    "a deep array": b"[" * 100_000,
    "deep inside a field": b'{"patchId":' + b'{"a":' * 100_000,
    "an unknown field": changed(note="x"),
    "an unknown op": changed(ops=[{"op": "drop_table"}]),
    "a missing field": json.dumps({k: v for k, v in GOOD.items() if k != "patchId"}).encode(),
    "a wrong type": changed(baseRevision="0"),
    "a negative revision": changed(baseRevision=-1),
    "an integer beyond 2^53": changed(baseRevision=2**53),
    "an integer beyond 64 bits": changed(baseRevision=10**40),
    "NaN": changed().replace(b'"baseRevision": 0', b'"baseRevision": NaN'),
    "a key twice": changed().replace(b'{"patchId"', b'{"patchId":"x","patchId"'),
    "a key twice deep inside": changed().replace(b'"op":', b'"label":"x","op":'),
    "a NUL in a label": changed(ops=[{**OP, "label": "a\0b"}]),
    "a lone surrogate": changed().replace(b'"label": "a"', b'"label": "\\ud800"'),
    "an empty label": changed(ops=[{**OP, "label": ""}]),
    "a label too long": changed(ops=[{**OP, "label": "a" * 201}]),
    "an id with a space": changed(ops=[{**OP, "placeId": "pl a"}]),
    "too many ops": changed(ops=[OP] * 65),
    "a frame too large": b" " * (FRAME_BYTES_MAX + 1),
    "another schema version": changed(schemaVersion=2),
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED.keys())
def test_refuses_with_a_reason_and_a_place(data: bytes) -> None:
    """Whatever is wrong with untrusted bytes, the one error, Malformed, says what and where."""
    with pytest.raises(Malformed) as caught:
        decode_untrusted(data, GraphPatch)
    assert caught.value.expected
    assert caught.value.path.startswith("$")


def test_accepts_what_the_specification_writes() -> None:
    """A patch in the specification's spelling decodes, and re-encodes to the same value."""
    patch = decode_untrusted(json.dumps(GOOD).encode(), GraphPatch)
    assert decode_untrusted(encode(patch), GraphPatch) == patch


def test_a_wrong_key_of_a_map_is_told_by_the_map_s_path() -> None:
    """Where a mapping's key is wrong, the path names the mapping, whatever the input quotes."""
    op = {"op": "refine_transition", "transitionId": "tr_a", "subnet": {}}
    maps = {"entryMap": {"no id": "pl_a"}, "successExitMap": {"pl_b": "pl_c"}}
    with pytest.raises(Malformed) as caught:
        decode_untrusted(changed(ops=[{**op, **maps}]), GraphPatch)
    assert caught.value.path == "$.ops[0].entryMap"
    with pytest.raises(Malformed) as caught:
        decode_untrusted(changed(**{"a - at `$.b` or so": 1}), GraphPatch)
    assert caught.value.path == "$"


@pytest.mark.parametrize("spelling", ["Information Need", "information_need", "InformationNeed"])
def test_spaced_type_names_are_accepted(spelling: str) -> None:
    """Agents may write type names with spaces or underscores; one member is meant (RULES 8)."""
    patch = decode_untrusted(changed(ops=[{**OP, "type": spelling}]), GraphPatch)
    assert canonical(patch).count(b'"InformationNeed"') == 1


@given(st.dictionaries(st.text(max_size=8), st.integers(-(2**53), 2**53), max_size=8))
def test_canonical_bytes_do_not_depend_on_order(value: dict[str, int]) -> None:
    """Two dicts with the same content have the same canonical bytes and digest."""
    turned = dict(reversed(list(value.items())))
    assert canonical(value) == canonical(turned)
    assert digest(value) == digest(turned)
