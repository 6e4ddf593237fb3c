"""The one JSON encoder and decoder pair, the canonical form, and digests over it.

msgspec is strict about types, unknown fields, NaN and lone surrogates. It accepts three things
that would let two readers see two messages, so they are refused here: duplicate keys, depth
beyond `DEPTH_MAX` (it answers RecursionError) and frames over `FRAME_BYTES_MAX`.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Final, TypeVar

import msgspec

from .ids import FRAME_BYTES_MAX

DEPTH_MAX: Final = 64
T = TypeVar("T")

_encoder: Final = msgspec.json.Encoder()
_canonical: Final = msgspec.json.Encoder(order="deterministic")
_decoders: Final[dict[Any, msgspec.json.Decoder[Any]]] = {}


class Malformed(ValueError):
    """Bytes that are not one well-formed value of the wanted type. `path` is a JSON path."""

    def __init__(self, expected: str, path: str = "$") -> None:
        super().__init__(f"{path}: {expected}")
        self.expected = expected
        self.path = path


def encode(value: Any) -> bytes:
    return _encoder.encode(value)


def canonical(value: Any) -> bytes:
    """The one byte form of a value: sorted keys, no spaces. Digests are taken over this."""
    return _canonical.encode(value)


def digest(value: Any) -> str:
    return "sha256:" + hashlib.sha256(canonical(value)).hexdigest()


def decode(data: bytes, type_: type[T]) -> T:
    """Bytes from our own log or our own processes: strict types, no extra passes."""
    decoder = _decoders.get(type_)
    if decoder is None:
        decoder = _decoders[type_] = msgspec.json.Decoder(type_)
    return decoder.decode(data)


def decode_untrusted(data: bytes, type_: type[T]) -> T:
    """Bytes from anyone else. Raises Malformed, and nothing else, on whatever is wrong."""
    if len(data) > FRAME_BYTES_MAX:
        raise Malformed(f"at most {FRAME_BYTES_MAX} bytes, got {len(data)}")
    try:
        value = decode(data, type_)
        json.loads(data, object_pairs_hook=_refuse_duplicates, parse_int=_bounded_int)
    except msgspec.ValidationError as error:
        raise _explained(error) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(f"JSON ({error})") from error
    except RecursionError as error:
        raise Malformed(f"nesting of at most {DEPTH_MAX} levels") from error
    return value


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise Malformed(f"each key once, but {twice[:64]!r} stands twice")
    return found


def _bounded_int(digits: str) -> int:
    if len(digits) > 17:
        raise Malformed("integers within 2^53")
    return int(digits)


# "… - at `$.ops[0].toId`", or of a mapping's key "… - at `key` in `$.ops[0].entryMap`". The words
# before it may quote the input, so only the very end counts.
_WHERE: Final = re.compile(r"(?s)(.*) - at `(?:key` in `)*(\$[^`]*)`\Z")


def _explained(error: msgspec.ValidationError) -> Malformed:
    told = _WHERE.match(str(error))
    return Malformed(told[1], told[2]) if told else Malformed(str(error))
