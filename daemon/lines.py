"""Cuts a stream of bytes into lines, within a bound. No I/O."""

from __future__ import annotations


class LineTooLong(ValueError):
    """More than the bound without an end of line. The stream cannot be trusted any further."""


class Lines:
    """Bytes in, whole non-empty lines out, without their end."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._rest = bytearray()  # the unfinished line; one buffer, so many tiny reads cost no more

    @property
    def held(self) -> int:
        """Bytes of the unfinished line."""
        return len(self._rest)

    def feed(self, data: bytes) -> list[bytes]:
        """Raises LineTooLong; lines that were whole before it are lost with the connection."""
        *ended, rest = data.split(b"\n")
        lines: list[bytes] = []
        for part in ended:
            lines.append(bytes(self._rest) + part)
            self._rest = bytearray()
        self._rest += rest
        if self.held > self._bytes_max or any(len(line) > self._bytes_max for line in lines):
            raise LineTooLong(f"a line of more than {self._bytes_max} bytes")
        return [line for line in lines if line]
