"""The frames of agent.sock: the drawing is true, and nothing dangerous is decoded."""

from __future__ import annotations

import contextlib
import json
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayfinder.adapters import wire
from wayfinder.adapters.wire import BadFrame, decode_line
from wayfinder.reducer.vocabulary.codec import Malformed

HELLO = {
    "t": "hello", "v": 1, "agent": "pi", "agentVersion": "1.6.0", "instance": "i-1", "pid": 1,
    "session": "s1", "file": None, "cwd": "/r", "parent": None, "reason": "startup", "entries": 0,
}  # fmt: skip


def line(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def drawn() -> list[str]:
    """Every `{"t":"…"}` and field name drawn at the head of wire.py."""
    assert wire.__doc__
    return re.findall(r'\{[^{}]*"t":"(\w+)"', wire.__doc__)


def test_the_drawing_names_every_frame() -> None:
    """The docstring draws exactly the frames that exist, in both directions."""
    ours = {cls.__struct_config__.tag for cls in wire.Out.__subclasses__()}
    assert set(drawn()) == {"hello", "obs", *wire.DECLARATIONS} | ours


def test_the_drawn_hello_is_accepted() -> None:
    """The hello as drawn decodes, and has no field beyond the struct's."""
    hello = decode_line(line(HELLO))
    assert isinstance(hello, wire.Hello)
    assert wire.__doc__
    block = wire.__doc__[wire.__doc__.index('{"t":"hello"') :]
    block = block[: block.index("}")]
    names = set(re.findall(r'"(\w+)":', block))
    assert names == {field.encode_name for field in msgspec.structs.fields(wire.Hello)}


@pytest.mark.parametrize("name", wire.EVENTS)
def test_every_event_decodes_by_its_name(name: str) -> None:
    """Each `ev` of the table decodes to its own struct, found in a full frame."""
    fields = {
        "prompt": {"text": "x"},
        "call_start": {"callId": "c", "tool": "bash"},
        "call_end": {"callId": "c", "tool": "bash", "isError": False},
        "reply": {"stopReason": "stop"},
        "ui": {"open": True},
        "receipt": {"correctionId": "k"},
        "drop": {"count": 3},
    }.get(name, {})
    frame = decode_line(line({"seq": 4, "t": "obs", "at": 5, "ev": name, **fields}))
    assert type(frame) is wire.EVENTS[name]


def test_a_patch_stays_raw() -> None:
    """The patch is the agent's own JSON, byte for byte."""
    frame = decode_line(b'{"seq":1,"t":"patch","at":2,"callId":"c","patch":{"ops":[ ]}}')
    assert isinstance(frame, wire.Patch)
    assert bytes(frame.patch) == b'{"ops":[ ]}'


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "malformed"),
        (b"garbage", "malformed"),
        (b"[]", "malformed"),
        (b'{"t":"obs"}', "malformed"),
        (b'{"t":"nonsense"}', "malformed"),
        (b'{"seq":7,"t":"obs","at":1,"ev":"settled","at":2}', "malformed"),
        (b'{"seq":7,"t":"obs","at":NaN,"ev":"settled"}', "malformed"),
        (b'{"seq":7,"t":"obs","at":1,"ev":"prompt","text":"\\ud800"}', "malformed"),
        (b'{"seq":7,"t":"obs","at":1,"ev":"prompt","text":"\xff"}', "malformed"),
        (b'{"seq":7,"t":"obs","at":1,"ev":"settled","more":1}', "malformed"),
        (b'{"seq":7,"t":"obs","at":' + b"9" * 5000 + b',"ev":"settled"}', "malformed"),
        (b"[" * 70 + b"]" * 70, "too_deep"),
        (b'{"t":"patch","patch":' + b"[" * 2000 + b"]" * 2000 + b"}", "too_deep"),
        (b"[" + b"{}," * 30_000 + b"0]", "too_large"),
        (b'"' + b"x" * (1 << 20) + b'"', "too_large"),
        (line({**HELLO, "v": 2}), "version"),
        (line({**HELLO, "session": "../x"}), "malformed"),
    ],
)
def test_bad_lines_are_refused_with_a_code(data: bytes, code: str) -> None:
    """Whatever is wrong becomes one error with a code and what was expected."""
    with pytest.raises(BadFrame) as bad:
        decode_line(data)
    assert bad.value.code == code
    assert bad.value.expected


def test_the_number_of_a_broken_line_is_read() -> None:
    """A line that is no frame still tells its number, so that the stream can go on behind it."""
    with pytest.raises(BadFrame) as bad:
        decode_line(b'{"seq":12,"t":"obs","ev":')
    assert bad.value.seq == 12


@given(st.binary(max_size=300))
def test_bytes_never_escape(data: bytes) -> None:
    """Any bytes decode to a frame or raise BadFrame, nothing else."""
    with contextlib.suppress(BadFrame):
        decode_line(data)


@given(st.lists(st.sampled_from([b'"', b"\\", b"{", b"}", b"[", b"a", b",", b"\n"]), max_size=400))
def test_structure_scan_never_escapes(parts: list[bytes]) -> None:
    """Quotes and escapes in any order neither confuse nor stop the scan."""
    try:
        decode_line(b"".join(parts))
    except (BadFrame, Malformed) as error:
        assert isinstance(error, BadFrame)


@pytest.mark.parametrize("unit", [b'"\\"', b'"', b"\\", b'\\"', b"{", b'"a",', b"\n"])
def test_a_megabyte_of_anything_is_scanned(unit: bytes) -> None:
    """A megabyte of one hostile unit is scanned once; were the scan quadratic, this would hang."""
    with contextlib.suppress(BadFrame):
        wire.screen(unit * ((1000 << 10) // len(unit)))
