"""The killable child: reads calls on stdin, answers on stdout, ends with its parent.

    frame   4 bytes big-endian length │ that many bytes of JSON (`Call` in, `Heard` out)
    first   an empty frame out, once the library is loaded: the parent's clock starts then

It is started in a neutral folder, with an environment of its own (see `caller.py`). End of file
on stdin, which is what the parent's death looks like, ends it.
"""

from __future__ import annotations

import struct
import sys
from typing import IO

import msgspec

from .model import Call, complete, load

FRAME_BYTES_MAX = 4 << 20


def read_frame(stream: IO[bytes]) -> bytes | None:
    """The next frame, or None at the end. Raises ValueError on a frame over the limit."""
    head = stream.read(4)
    if len(head) < 4:
        return None
    (length,) = struct.unpack(">I", head)
    if length > FRAME_BYTES_MAX:
        raise ValueError(f"frame of {length} bytes, at most {FRAME_BYTES_MAX}")
    body = stream.read(length)
    return body if len(body) == length else None


def write_frame(stream: IO[bytes], body: bytes) -> None:
    stream.write(struct.pack(">I", len(body)) + body)
    stream.flush()


def main() -> None:
    # Libraries print; stdout carries frames only.
    frames_out = sys.stdout.buffer
    sys.stdout = sys.stderr
    load()
    write_frame(frames_out, b"")
    while (body := read_frame(sys.stdin.buffer)) is not None:
        heard = complete(msgspec.json.decode(body, type=Call))
        write_frame(frames_out, msgspec.json.encode(heard))


if __name__ == "__main__":
    main()
