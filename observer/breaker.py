"""The circuit breaker: three failures open it, it doubles, one probe half-opens it. Pure.

The state is a value that the store keeps over restarts, so that a restart does not hammer.
A refused key (401) opens it until the configuration changes: asking again cannot help.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

FAILURES_TO_OPEN: Final = 3
OPEN_MS_MIN: Final = 60_000
OPEN_MS_MAX: Final = 15 * 60_000


class Breaker(Struct, frozen=True):
    """`open_until_ms` 0 = closed. `config` is the digest of the settings it was learnt under."""

    failures: int = 0
    open_until_ms: int = 0
    open_ms: int = OPEN_MS_MIN
    locked: bool = False
    config: str = ""


def may_call(breaker: Breaker, config: str, now_ms: int) -> bool:
    """True when closed, when half-open (the pause is over), or when the settings changed."""
    if breaker.config != config:
        return True
    return not breaker.locked and now_ms >= breaker.open_until_ms


def after_success(config: str) -> Breaker:
    return Breaker(config=config)


def after_failure(breaker: Breaker, config: str, now_ms: int, *, lock: bool = False) -> Breaker:
    """One more failure. A failed probe opens for twice as long, up to the limit."""
    if breaker.config != config:
        breaker = Breaker(config=config)
    failures = breaker.failures + 1
    if lock:
        return replace(breaker, failures=failures, locked=True)
    if failures < FAILURES_TO_OPEN:
        return replace(breaker, failures=failures)
    was_open = breaker.open_until_ms > 0
    open_ms = min(OPEN_MS_MAX, breaker.open_ms * 2) if was_open else OPEN_MS_MIN
    return replace(breaker, failures=failures, open_ms=open_ms, open_until_ms=now_ms + open_ms)
