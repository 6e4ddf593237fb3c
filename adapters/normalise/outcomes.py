"""Sentences that say how a call ended, common to the agents. Each agent adds its own before these.

A sentence counts only in a result that is flagged as an error, and only near its start: tool
output is written by strangers, and a file that quotes such a sentence must not become a refusal.
"""

from __future__ import annotations

import re
from typing import Final

from ...reducer.vocabulary.observation import SettleReason
from ...reducer.vocabulary.terms import Outcome as O

_HEAD_CHARS: Final = 600


def _any(outcome: O, *sentences: str) -> tuple[re.Pattern[str], O]:
    return re.compile("|".join(sentences), re.IGNORECASE), outcome


_SAID: Final[tuple[tuple[re.Pattern[str], O], ...]] = (
    _any(
        O.SIBLING_FAILED,
        r"sibling tool call errored",
        r"cancelled: parallel tool call",
    ),
    _any(
        O.REFUSED_BY_USER,
        r"user (?:doesn't|does not) want",
        r"user (?:rejected|declined|denied|refused|chose not|dismissed)",
        r"(?:rejected|denied|cancell?ed|declined|refused|dismissed)"
        r" by (?:the )?user\b(?! approval)",
        r"user cancell?ed",
        r"tool use was rejected",
    ),
    _any(
        O.ABORTED,
        r"request interrupted by user",
        r"(?:command|operation|tool execution) aborted",
        r"tool execution was (?:aborted|cancelled|interrupted)",
        r"^aborted\b",
        r"\babort(?:ed)? by user",
        r"interrupted by user",
        r"prompt was aborted",
        r"signal is aborted",
        r"was interrupted",
        r"aborterror",
    ),
    _any(
        O.BLOCKED_BY_POLICY,
        r"phase boundary",
        r"(?:blocked|denied|prevented|disallowed|forbidden) by",
        r"rejected by (?:policy|sandbox|hook|user approval)",
        r"not (?:allowed|permitted) in \w+ mode",
        r"plan mode (?:is active|restricts)",
        r"read-only (?:mode|sandbox)",
        r"permission to use .{1,80} (?:has been|was) denied",
        r"requires? (?:your )?approval",
        r"requested permissions? to",
        r"haven't granted",
        r"hook (?:blocked|denied|error)",
        r"is not permitted",
        r"policy (?:denied|violation|forbids)",
        r"sandbox denied",
        r"outside (?:of )?the (?:workspace|project)(?: root)?",
        r"escapes the workspace",
        r"auto-denied",
        r"guard(?:rail)? (?:blocked|refused)",
        r"is (?:disabled|restricted) (?:by|in)",
        r"was blocked\b",
        r"blocked for security",
        r"only allowed working directories",
        r"in don't ask mode",
        r"specified a rule which prevents",
    ),
)

_RATE: Final = re.compile(
    r"rate.?limit|too many requests|\b429\b|usage limit|quota (?:exceeded|exhausted)"
    r"|exhausted your capacity|hit your limit|limit reached|limit will reset|out of credits"
    r"|insufficient_quota|resource_exhausted|RESOURCE_EXHAUSTED",
    re.IGNORECASE,
)
_OUTAGE: Final = re.compile(
    r"overloaded|\b5(?:00|02|03|04|20|22|24|29)\b|service unavailable|bad gateway|internal server"
    r"|connection (?:error|reset|refused|closed)|econnreset|econnrefused|etimedout|enotfound"
    r"|socket hang up|fetch failed|timed? ?out|terminated|stream (?:disconnected|closed|ended)"
    r"|network error|unable to connect|upstream|premature close|other side closed|server_error"
    r"|api_error|stream error",
    re.IGNORECASE,
)
_ABORTED: Final = re.compile(r"abort|cancell?ed|interrupt", re.IGNORECASE)


def said(text: str) -> O | None:
    """What an error text says in one of the known sentences."""
    head = text[:_HEAD_CHARS]
    return next((outcome for pattern, outcome in _SAID if pattern.search(head)), None)


def provider_trouble(message: str) -> O | None:
    """A failed model request: rate limit, outage, abort, or None if it is neither."""
    head = message[:2000]
    if _RATE.search(head):
        return O.RATE_LIMIT
    if _OUTAGE.search(head):
        return O.PROVIDER_OUTAGE
    return O.ABORTED if _ABORTED.search(head) else None


_SETTLED: Final = {
    O.RATE_LIMIT: SettleReason.RATE_LIMIT,
    O.PROVIDER_OUTAGE: SettleReason.OUTAGE,
    O.ABORTED: SettleReason.ABORTED,
}


def settled_by(message: str) -> SettleReason:
    """Why a turn could not go on, by what the failed request said."""
    found = provider_trouble(message)
    return _SETTLED[found] if found is not None else SettleReason.ERROR
