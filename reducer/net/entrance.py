"""Bytes of a patch → the patch, or a rejection in the same words as every other.

Models write patches by hand, so the first thing wrong is told with what would be right: the
fields that object has, the ops there are, the members of an enum.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Any, Final, get_args

import msgspec

from ..vocabulary import patch as op_
from ..vocabulary.answer import Fault, Rejected
from ..vocabulary.codec import Malformed, decode_untrusted
from ..vocabulary.evidence import EvidenceDraft
from ..vocabulary.terms import (
    ArcKind,
    EpisodeKind,
    EvidenceType,
    FactResult,
    GateState,
    PlaceState,
    PlaceType,
    TransitionType,
)
from .patching import where
from .state import Net

OP_TAGS: Final[dict[str, type[op_.Op]]] = {
    str(cls.__struct_config__.tag): cls for cls in get_args(op_.PatchOp)
}
_LIMIT: Final = re.compile(r"of length <= \d+|at most \d+ bytes")
# The last name in the path of an object → what it is. Ops are told by their tag.
_OBJECTS: Final[dict[str, Any]] = {
    "$": op_.GraphPatch,
    "actor": op_.PatchActor,
    "subnet": op_.Subnet,
    "places": op_.CreatePlace,
    "transitions": op_.CreateTransition,
    "arcs": op_.Connect,
    "evidence": EvidenceDraft,
    "expectedEvidence": op_.ExpectedEvidence,
}
# (object, field) → its words; objects without an entry of their own share `None`.
_WORDS: Final[dict[tuple[Any, str], type[Enum]]] = {
    (op_.CreatePlace, "type"): PlaceType,
    (op_.CreateTransition, "type"): TransitionType,
    (EvidenceDraft, "type"): EvidenceType,
    (None, "arc"): ArcKind,
    (None, "gateState"): GateState,
    (None, "state"): PlaceState,
    (None, "result"): FactResult,
    (None, "allowedEpisodeKinds"): EpisodeKind,
}
# A regular expression teaches nobody; what it means does.
_PATTERNS: Final[tuple[tuple[str, str], ...]] = (
    (r"(assertion|test|command", "kind:name, the kind one of assertion test command file trace"),
    (r"\A[A-Za-z][A-Za-z0-9_.-]{0,63}", "a letter, then at most 63 letters, digits or _ . -"),
    (r"\A[A-Za-z0-9]", "a plain id without spaces"),
    (r"\x7f]*", "text without control characters"),
)


def read_patch(data: bytes, net: Net) -> op_.GraphPatch | Rejected:
    """Never raises. `data`: one GraphPatch as JSON, as an agent sent it."""
    try:
        return decode_untrusted(data, op_.GraphPatch)
    except Malformed as wrong:
        return Rejected(net.revision, (fault_of(data, wrong),), where(net))


def fault_of(data: bytes, wrong: Malformed) -> Fault:
    code = "too_large" if _LIMIT.search(wrong.expected) else "malformed"
    return Fault(code, wrong.path, _in_words(wrong.expected), _known(data, wrong))


def _in_words(expected: str) -> str:
    if "matching regex" not in expected:
        return expected
    return next((words for mark, words in _PATTERNS if mark in expected), expected)


def _known(data: bytes, wrong: Malformed) -> tuple[str, ...]:
    if wrong.expected.startswith("Object"):
        struct = _object_at(data, wrong.path)
        return tuple(struct.__struct_encode_fields__) if struct else tuple(OP_TAGS)
    parent, _, last = wrong.path.rpartition(".")
    field = last.partition("[")[0]
    if field == "op":
        return tuple(OP_TAGS)
    owner = _object_at(data, parent)
    words = _WORDS.get((owner, field)) or _WORDS.get((None, field))
    told = "enum" in wrong.expected or "Expected" in wrong.expected
    return tuple(str(word.value) for word in words) if words and told else ()


def _object_at(data: bytes, path: str) -> Any:
    """The struct that stands at a JSON path of a patch, if one does."""
    if re.fullmatch(r"\$\.ops\[\d+\]", path):
        return OP_TAGS.get(_tag_at(data, path))
    return _OBJECTS.get(path.rpartition(".")[2].partition("[")[0])


def _tag_at(data: bytes, path: str) -> str:
    """The `op` word of an op, if the bytes are JSON enough to say."""
    try:
        return str(msgspec.json.decode(data)["ops"][int(path[len("$.ops[") : -1])]["op"])
    except (msgspec.DecodeError, RecursionError, LookupError, TypeError, UnicodeDecodeError):
        return ""
