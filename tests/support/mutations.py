"""Bytes one step away from good ones, cheaply: enough of them to find what nobody thought of."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

# What parsers stumble over: numbers at limits, escapes, nesting, keys twice, foreign bytes.
FRAGMENTS: tuple[bytes, ...] = (
    *(b"NaN", b"Infinity", b"-0", b"1e999", b"9007199254740992", b"1" * 40, b"0.1", b"1E400"),
    *(b"null", b"true", b"{}", b"[]", b'""', b"[[[[[[[[", b'{"a":' * 40, b"[" * 3000, b"]"),
    *(b"\\u0000", b"\\ud800", b"\\udc00\\ud800", b"\\x", b"\x00", b"\xff\xfe", b"\xed\xa0\x80"),
    *(b'"op":"connect",', b'"ops":[],', b'"patchId":"x",', b'"label":"b",', b'"type":"Goal",'),
    *(b"\xe2\x80\xae", "登录".encode(), b"\\u202e", b"/*", b"'", b",,", b'"', b"\\", b"\n", b"\t"),
)


def mutations(seeds: list[bytes], random_: random.Random) -> Iterator[bytes]:
    """Endless: one to three small changes to one of the seeds, or a splice of two."""
    while True:
        data = random_.choice(seeds)
        for _ in range(random_.choice((1, 1, 1, 2, 3))):
            data = random_.choice(CHANGES)(data, random_, seeds)
        yield data


Change = Callable[[bytes, random.Random, list[bytes]], bytes]


def _flip(data: bytes, random_: random.Random, _: list[bytes]) -> bytes:
    at = random_.randrange(len(data) or 1)
    return data[:at] + bytes((random_.randrange(256),)) + data[at + 1 :]


def _insert(data: bytes, random_: random.Random, _: list[bytes]) -> bytes:
    at = random_.randrange(len(data) + 1)
    return data[:at] + random_.choice(FRAGMENTS) + data[at:]


def _cut(data: bytes, random_: random.Random, _: list[bytes]) -> bytes:
    at = random_.randrange(len(data) + 1)
    return data[:at] + data[at + random_.randrange(1, 24) :]


def _repeat(data: bytes, random_: random.Random, _: list[bytes]) -> bytes:
    at = random_.randrange(len(data) + 1)
    end = at + random_.randrange(1, 60)
    return data[:end] + data[at:end] + data[end:]


def _splice(data: bytes, random_: random.Random, seeds: list[bytes]) -> bytes:
    other = random_.choice(seeds)
    return data[: random_.randrange(len(data) + 1)] + other[random_.randrange(len(other) + 1) :]


def _replace_value(data: bytes, random_: random.Random, _: list[bytes]) -> bytes:
    """What stands after a colon gives way to a fragment: mostly well-formed, mostly wrong."""
    at = data.find(b":", random_.randrange(len(data) + 1)) + 1
    end = at
    while end < len(data) and data[end] not in b",}]":
        end += 1
    return data[:at] + random_.choice(FRAGMENTS) + data[end:]


CHANGES: tuple[Change, ...] = (_flip, _flip, _insert, _cut, _repeat, _splice, _replace_value)
