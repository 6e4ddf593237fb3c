"""Tokens a day: counted before the call, corrected after it, a hard stop at the limit. Pure."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

DAY_MS: Final = 86_400_000
CHARS_PER_TOKEN: Final = 3  # an estimate that errs high for English, about right for Chinese
ANSWER_TOKENS_MAX: Final = 400


class Budget(Struct, frozen=True):
    day: int = 0
    spent_tokens: int = 0
    calls: int = 0


def estimate_tokens(prompt_chars: int) -> int:
    return prompt_chars // CHARS_PER_TOKEN + ANSWER_TOKENS_MAX


def reserve(budget: Budget, tokens: int, limit: int, now_ms: int) -> Budget | None:
    """The budget with the call's estimate taken, or None: today's limit would be passed."""
    day = now_ms // DAY_MS
    if day != budget.day:
        budget = Budget(day=day)
    if budget.spent_tokens + tokens > limit:
        return None
    return replace(budget, spent_tokens=budget.spent_tokens + tokens, calls=budget.calls + 1)


def settle(budget: Budget, estimated: int, used: int | None) -> Budget:
    """Replaces the estimate by what the provider says was used, if it says so."""
    if used is None:
        return budget
    return replace(budget, spent_tokens=max(0, budget.spent_tokens - estimated + used))
