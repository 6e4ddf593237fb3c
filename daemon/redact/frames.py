"""Frames between the client and its worker, on the worker's stdin and stdout.

    birth      | length u32 | JSON: Birth … |                     once, from the client
    hello      | length u32 | JSON: Hello … |                     once, when the rules are loaded
    request    | length u32 | level u8 | text, UTF-8 … |          length counts level and text
    answer     | length u32 | JSON: Redacted … |                  one for each request, in order

Numbers are big-endian. A frame is at most 2 MiB: a field is capped at 256 KiB before it is sent,
and an answer holds the masked text and its spans.
"""

import struct
from typing import Final

import msgspec

from .spans import Redacted

FRAME_BYTES_MAX: Final = 2 * 1024 * 1024
_LENGTH = struct.Struct(">I")
_PROTOCOL = 1


class Birth(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What a worker is born with. The key stands on no command line and in no environment.

    `cache`: folder for compiled rules, private to the user; `cpu_ms`: processor time for one text.
    """

    cache: str | None
    key: bytes | None
    idle_ms: int
    cpu_ms: int
    second_opinion: bool = True


class Hello(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """What the worker says of itself: never a value, only counts and states.

    `word_max`: single words up to this length need not be asked about (`client._is_harmless`).
    """

    protocol: int
    kingfisher: str
    exact_forms: int
    word_max: int


class FrameError(Exception):
    """The other side broke the drawing: the connection is of no further use."""


def birth_frame(birth: Birth) -> bytes:
    """The first frame a worker receives."""
    return _framed(msgspec.json.encode(birth))


def hello_frame(kingfisher: str, exact_forms: int, word_max: int) -> bytes:
    """The first frame a worker sends."""
    return _framed(msgspec.json.encode(Hello(_PROTOCOL, kingfisher, exact_forms, word_max)))


def request_frame(text: str, level: int) -> bytes:
    """One text to redact; lone surrogates travel as U+FFFD."""
    return _framed(bytes((level,)) + _utf8(text))


def answer_frame(redacted: Redacted) -> bytes:
    """One redacted text."""
    return _framed(msgspec.json.encode(redacted))


def decode_birth(body: bytes) -> Birth:
    """The client's birth frame. Raises FrameError."""
    try:
        return msgspec.json.decode(body, type=Birth)
    except msgspec.MsgspecError as error:
        raise FrameError(f"expected a Birth: {error}") from error


def decode_request(body: bytes) -> tuple[str, int]:
    """Text and level. Raises FrameError."""
    if not body or body[0] not in (1, 2):
        raise FrameError(f"expected a level of 1 or 2, got {body[:1]!r}")
    return body[1:].decode("utf-8"), body[0]


def decode_answer(body: bytes) -> Redacted:
    """A redacted text. Raises FrameError."""
    try:
        return msgspec.json.decode(body, type=Redacted)
    except msgspec.MsgspecError as error:
        raise FrameError(f"expected a Redacted: {error}") from error


def decode_hello(body: bytes) -> Hello:
    """The worker's hello. Raises FrameError."""
    try:
        hello = msgspec.json.decode(body, type=Hello)
    except msgspec.MsgspecError as error:
        raise FrameError(f"expected a Hello: {error}") from error
    if hello.protocol != _PROTOCOL:
        raise FrameError(f"expected protocol {_PROTOCOL}, got {hello.protocol}")
    return hello


class Splitter:
    """Cuts a byte stream into frames, wherever it was chunked."""

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """The frames that are complete now. Raises FrameError for a length out of bounds."""
        self._buffer += chunk
        frames: list[bytes] = []
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > FRAME_BYTES_MAX:
                raise FrameError(f"a frame of {length} bytes; at most {FRAME_BYTES_MAX}")
            if len(self._buffer) < _LENGTH.size + length:
                break
            frames.append(bytes(self._buffer[_LENGTH.size : _LENGTH.size + length]))
            del self._buffer[: _LENGTH.size + length]
        return frames


def _framed(body: bytes) -> bytes:
    if len(body) > FRAME_BYTES_MAX:
        raise FrameError(f"a frame of {len(body)} bytes; at most {FRAME_BYTES_MAX}")
    return _LENGTH.pack(len(body)) + body


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join("\ufffd" if 0xD800 <= ord(c) < 0xE000 else c for c in text).encode("utf-8")
