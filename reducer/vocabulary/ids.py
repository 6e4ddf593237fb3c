"""Ids, texts and numbers with their bounds: the one place where a pattern or a limit is written.

Every bound exists twice on purpose: here, where decoding enforces it, and in the error a person
or an agent reads. Ids are checked and rejected, never rewritten (RULES 15).
"""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

INT_MAX: Final = 2**53 - 1  # JSON numbers above this lose digits in other languages.
OPS_MAX: Final = 64
LABEL_CHARS_MAX: Final = 200
TEXT_CHARS_MAX: Final = 600
LIST_ITEMS_MAX: Final = 32
FRAME_BYTES_MAX: Final = 1 << 20  # one message on any socket

# Tab and newline may stand in a text; other control characters never mean anything to a person.
_TEXT_PATTERN: Final = r"\A[^\x00-\x08\x0b-\x1f\x7f]*\Z"

Count = Annotated[int, Meta(ge=0, le=INT_MAX)]
Revision = Annotated[int, Meta(ge=0, le=INT_MAX)]
SessionSeq = Annotated[int, Meta(ge=1, le=INT_MAX)]
Position = Annotated[int, Meta(ge=0, le=INT_MAX)]  # 0 = before anything the agent sent
TimeMs = Annotated[int, Meta(ge=0, le=INT_MAX)]  # event time, Unix epoch milliseconds
Confidence = Annotated[float, Meta(ge=0.0, le=1.0)]

NodeId = Annotated[str, Meta(pattern=r"\A[A-Za-z][A-Za-z0-9_.-]{0,63}\Z")]
TokenId = NodeId
EvidenceId = NodeId
AgentId = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}\Z")]
# `<agent>-<the agent's own session id>`: unique across agents, and a person can type its start.
SessionId = Annotated[str, Meta(pattern=r"\A[a-z0-9]+-[A-Za-z0-9][A-Za-z0-9_.-]{0,127}\Z")]
OpaqueId = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_.:|/=+-]{0,199}\Z")]
Key = Annotated[str, Meta(min_length=1, max_length=64, pattern=_TEXT_PATTERN)]
Selector = Annotated[str, Meta(pattern=r"\A(assertion|test|command|file|trace):.{1,160}\Z")]

Label = Annotated[str, Meta(min_length=1, max_length=LABEL_CHARS_MAX, pattern=_TEXT_PATTERN)]
Text = Annotated[str, Meta(min_length=1, max_length=TEXT_CHARS_MAX, pattern=_TEXT_PATTERN)]

# `hmac-sha256:` for references to raw material (keyed, so a short value cannot be guessed back),
# `sha256:` for digests of our own canonical JSON (RULES 16).
HmacRef = Annotated[str, Meta(pattern=r"\Ahmac-sha256:[0-9a-f]{32}\Z")]
Digest = Annotated[str, Meta(pattern=r"\Asha256:[0-9a-f]{64}\Z")]

START_PLACE_ID: Final = "pl_start"
MAIN_TOKEN_ID: Final = "tok_main"
MAIN_AGENT_ID: Final = "main"


class Wire(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """Base of everything that crosses a process border or is stored."""
