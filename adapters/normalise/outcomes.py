"""Sentences that say how a call ended, common to the agents. Each agent adds its own before these.

A sentence counts only in a result that is flagged as an error, and only near its start: tool
output is written by strangers, and a file that quotes such a sentence must not become a refusal.
"""

from __future__ import annotations

import re
from typing import Final

from ...reducer.vocabulary.terms import Outcome as O

_HEAD_CHARS: Final = 600

_SAID: Final[tuple[tuple[re.Pattern[str], O], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), outcome)
    for pattern, outcome in (
        (r"sibling tool call errored|cancelled: parallel tool call", O.SIBLING_FAILED),
        (r"user (?:doesn't want|does not want|rejected|declined|denied|refused|chose not|dismissed)"
         r"|(?:rejected|denied|cancell?ed|declined|refused|dismissed) by (?:the )?user"
         r"|user cancell?ed|tool use was rejected|request was rejected by the user", O.REFUSED_BY_USER),
        (r"request interrupted by user|command aborted|operation aborted|tool execution aborted"
         r"|tool execution was (?:aborted|cancelled|interrupted)|^aborted\b|\babort(?:ed)? by user"
         r"|interrupted by user|prompt was aborted|signal is aborted|was interrupted|aborterror", O.ABORTED),
        (r"phase boundary|blocked by|denied by|not allowed in \w+ mode|plan mode (?:is active|restricts)"
         r"|read-only (?:mode|sandbox)|permission to use .{1,80} (?:has been|was) denied"
         r"|requires? (?:your )?approval|requested permissions? to|hook (?:blocked|denied|error)"
         r"|prevented by|disallowed|is not permitted|policy (?:denied|violation|forbids)|forbidden by"
         r"|rejected by (?:policy|sandbox|hook)|sandbox denied|mode gate|not permitted in"
         r"|outside (?:of )?the (?:workspace|project)(?: root)?|escapes the workspace"
         r"|because (?:of|your) permission|haven't granted|auto-denied|guard(?:rail)? (?:blocked|refused)"
         r"|is (?:disabled|restricted) (?:by|in)|was blocked\b|blocked for security"
         r"|only allowed working directories|in don't ask mode", O.BLOCKED_BY_POLICY),
    )
)  # fmt: skip

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
