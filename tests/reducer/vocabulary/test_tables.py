"""The vocabulary's tables are whole: every word is in exactly one place."""

from __future__ import annotations

import json
from typing import get_args

import msgspec
import pytest

from wayfinder.reducer.vocabulary import event, patch
from wayfinder.reducer.vocabulary.answer import CODES, Code

SEED_KINDS = [
    "session.started",
    "root_intent.set",
    "transition.proposed",
    "transition.activated",
    "transition.fired",
    "transition.failed",
    "transition.superseded",
    "token.moved",
    "evidence.attached",
    "path.declared",
    "path.diverged",
    "human.corrected",
    "view.focused",
    "place.confirmed",
]

SEED_ENVELOPE = [
    "schemaVersion",
    "eventId",
    "sessionSeq",
    "ts",
    "sessionId",
    "actor",
    "source",
    "kind",
    "causationId",
    "correlationId",
    "graphRevisionBefore",
    "graphRevisionAfter",
    "payload",
    "provenance",
]


def test_every_payload_has_one_kind() -> None:
    """The table kind → payload covers the union of payloads, one to one."""
    assert set(event.PAYLOADS.values()) == set(get_args(event.Payload))
    assert len(event.KIND_OF) == len(event.PAYLOADS)


@pytest.mark.parametrize("kind", SEED_KINDS)
def test_the_specification_s_kinds_exist(kind: str) -> None:
    """Every event kind of the specification that Phase 1 needs is in the table."""
    assert kind in event.PAYLOADS


def test_every_op_says_what_it_writes() -> None:
    """The table op → kinds has one row per op, and names only known kinds."""
    ops = {op.__struct_config__.tag for op in get_args(patch.PatchOp)}
    assert set(event.EVENTS_OF_OP) == ops
    assert len(ops) == 13
    for kinds in event.EVENTS_OF_OP.values():
        assert set(kinds) <= set(event.PAYLOADS)


def test_the_envelope_is_the_specification_s() -> None:
    """The envelope has the specification's fields, all of them, and no others."""
    assert list(event.Envelope.__struct_encode_fields__) == SEED_ENVELOPE


def test_the_drawing_of_the_envelope_is_true() -> None:
    """The envelope drawn in the module's head names exactly the envelope's fields."""
    drawing = (event.__doc__ or "").split("Order and batches")[0]
    drawn = json.loads("".join(drawing[drawing.index("{") :].split("\n    ")))
    assert list(drawn) == SEED_ENVELOPE


def test_every_rejection_code_has_its_sentence() -> None:
    """Each code an agent may meet is explained once."""
    assert set(CODES) == set(get_args(Code))


@pytest.mark.parametrize("struct", [*event.PAYLOADS.values(), *get_args(patch.PatchOp)])
def test_structs_are_frozen_and_strict(struct: type[msgspec.Struct]) -> None:
    """Nothing in the vocabulary can be changed after it was built, or carry unknown fields."""
    assert struct.__struct_config__.frozen
    assert struct.__struct_config__.forbid_unknown_fields
