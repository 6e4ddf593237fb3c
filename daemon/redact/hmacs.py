"""References to raw things that cannot be guessed back: keyed, domain-separated, 128 bits.

    hmac-sha256:<32 hex digits>  =  HMAC-SHA-256(key, "wf1|" domain "|" raw)[:16]

A plain digest of a path, a branch or a six-digit code is reversible by trying all of them. The key
is made once per installation; a new key makes all older references unlinkable.
"""

import hmac
import os
import re
from pathlib import Path

KEY_BYTES = 32
_DIGEST_BYTES = 16
_DOMAIN = re.compile(r"[a-z][a-z0-9-]{0,31}")


class KeyFileError(Exception):
    """The key file exists but must not be used; the message says why and what is expected."""


class References:
    """Makes references under one key. The key is never shown, not even by `repr`."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a reference key has {KEY_BYTES} bytes, not {len(key)}")
        self._key = key

    def __repr__(self) -> str:
        return "References(…)"

    def ref(self, domain: str, raw: str) -> str:
        """`hmac-sha256:<32 hex>` of `raw`; equal values in two domains have unequal references."""
        if _DOMAIN.fullmatch(domain) is None:
            raise ValueError(f"domain must match {_DOMAIN.pattern}: {domain!r}")
        message = b"wf1|" + domain.encode() + b"|" + raw.encode("utf-8", "surrogatepass")
        digest = hmac.digest(self._key, message, "sha256")
        return "hmac-sha256:" + digest[:_DIGEST_BYTES].hex()


def load_key(path: Path) -> bytes:
    """Read the key of this installation, or make it: 32 random bytes in a 0600 file.

    Raises KeyFileError if the file is a link, belongs to another user, is readable by others, or
    has another length. Two processes that start at once agree on one key.
    """
    try:
        return _read(path)
    except FileNotFoundError:
        pass
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        os.write(descriptor, os.urandom(KEY_BYTES))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(fresh, path)  # the first one wins; a rename would let the second one win
    except FileExistsError:
        pass
    finally:
        fresh.unlink()
    return _read(path)


def _read(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise KeyFileError(f"{path} cannot be opened as a plain file: {error.strerror}") from error
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid():
            raise KeyFileError(f"{path} belongs to user {status.st_uid}, expected {os.geteuid()}")
        if status.st_mode & 0o077:
            raise KeyFileError(
                f"{path} has mode {status.st_mode & 0o777:04o}, expected 0600 (chmod 600)"
            )
        key = os.read(descriptor, KEY_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(key) != KEY_BYTES:
        raise KeyFileError(f"{path} holds {len(key)} bytes, expected {KEY_BYTES}; remove it")
    return key
