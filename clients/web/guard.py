"""Which requests are answered at all, and the headers of every answer. Pure.

| check      | why                                                                           |
|------------|-------------------------------------------------------------------------------|
| Host       | DNS rebinding: exactly one, exactly ours; Origin == Host proves nothing        |
| Origin     | any page calling loopback: absent or exactly ours; a POST must have it         |
| Fetch-Site | browsers say where a request comes from: same-origin, or typed by the person   |
| token      | everything with data, in a header no other page can send; never a cookie       |
| JSON       | a form or a plain-text POST needs no preflight; ours is not one                |

There are no CORS headers at all, so nothing else may even ask.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

BODY_BYTES_MAX: Final = 64 << 10

CSP: Final = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
    "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    "require-trusted-types-for 'script'", "trusted-types 'none'",
))  # fmt: skip
HEADERS: Final[tuple[tuple[bytes, bytes], ...]] = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-store"),
)

Headers = Iterable[tuple[bytes, bytes]]


class Refusal(Struct, frozen=True):
    status: int
    code: str
    expected: str


class Guard:
    """For one port. Header names come in lower case (ASGI)."""

    def __init__(self, port: int) -> None:
        names = ("127.0.0.1", "localhost", "[::1]")
        self._hosts = {f"{name}:{port}".encode() for name in names}
        self._origins = {b"http://" + host for host in self._hosts}

    def refuse(self, method: str, path: str, headers: Headers) -> Refusal | None:
        """Why this request is not answered, before any token is looked at; None: go on."""
        found: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            found.setdefault(name, []).append(value)
        hosts = found.get(b"host", [])
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return Refusal(403, "host", "the address that `wayfinder open` printed")
        origins = found.get(b"origin", [])
        if len(origins) > 1 or any(origin not in self._origins for origin in origins):
            return Refusal(403, "origin", "this page itself")
        if any(s not in (b"same-origin", b"none") for s in found.get(b"sec-fetch-site", [])):
            return Refusal(403, "fetch_site", "this page itself")
        if method == "POST":
            return self._refuse_post(found, bool(origins))
        return None if method == "GET" else Refusal(405, "method", "GET or POST")

    def _refuse_post(self, found: dict[bytes, list[bytes]], has_origin: bool) -> Refusal | None:
        if not has_origin:
            return Refusal(403, "origin", "a POST names its Origin")
        if found.get(b"content-type") != [b"application/json"]:
            return Refusal(415, "content_type", "application/json")
        if b"content-encoding" in found:
            return Refusal(415, "content_encoding", "no encoding")
        return None


def bearer(headers: Headers) -> str | None:
    """The token of a request, if it has exactly one Authorization header in our form."""
    values = [value for name, value in headers if name == b"authorization"]
    if len(values) != 1 or not values[0].startswith(b"Bearer "):
        return None
    return values[0][7:].decode("ascii", "replace")
