"""One-time codes and tokens. A code goes into a link, lives a minute and works once; a page
exchanges it for a token, which it keeps in memory and sends in a header. Neither is ever stored
or logged; both are compared by digest, so that comparing tells nothing.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

CODE_LIFE_S: Final = 60.0
CODES_MAX: Final = 16
TOKENS_MAX: Final = 32


class Grant(Struct, frozen=True):
    """What a page may do. `may_correct` False: it looks on, since no person was sure to ask."""

    may_correct: bool
    because: str


class Tickets:
    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._codes: OrderedDict[bytes, tuple[float, Grant]] = OrderedDict()
        self._tokens: OrderedDict[bytes, Grant] = OrderedDict()

    def code(self, grant: Grant) -> str:
        code = secrets.token_urlsafe(32)
        self._codes[_digest(code)] = (self._clock_s() + CODE_LIFE_S, grant)
        _keep(self._codes, CODES_MAX)
        return code

    def redeem(self, code: str) -> tuple[str, Grant] | None:
        """A token for a code that is fresh and was never used; else None."""
        until, grant = self._codes.pop(_digest(code), (0.0, None))
        if grant is None or self._clock_s() > until:
            return None
        token = secrets.token_urlsafe(32)
        self._tokens[_digest(token)] = grant
        _keep(self._tokens, TOKENS_MAX)
        return token, grant

    def grant(self, token: str) -> Grant | None:
        """What the token allows. The tokens in use are the last to be forgotten."""
        key = _digest(token)
        found = self._tokens.get(key)
        if found is not None:
            self._tokens.move_to_end(key)
        return found


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _keep(table: OrderedDict[bytes, Any], most: int) -> None:
    while len(table) > most:
        table.popitem(last=False)
