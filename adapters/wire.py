"""The frames of agent.sock, and the one way bytes from an agent become structs.

One JSON object per line, UTF-8, at most 1 MiB with its newline. A frame of the extension that
must not be lost carries `seq`, written first, counted 1, 2, 3 … per instance without holes.

  extension → adapter
    {"t":"hello","v":1,"agent":"pi","agentVersion":"1.6.0","instance":"<uuid>","pid":1,
     "session":"<the agent's id>","file":"/…/x.jsonl"|null,"cwd":"/…","parent":"<id>"|null,
     "reason":"startup|resume|fork|new|reload","entries":0,"startedAt":<ms of the header>|null}
    {"seq":1,"t":"obs","at":<ms>,"ev":"<name>", …fields of EVENTS[name]…}
    {"seq":2,"t":"patch","at":<ms>,"callId":"…","patch":{…}}      {"seq":3,"t":"propose", …same}
  adapter → extension
    {"t":"welcome","v":1,"ack":0,"revision":0,"declared":true,"constraints":[…],"bound":true}
    {"t":"ack","seq":1}                            everything up to seq is durable
    {"t":"answer","callId":"…","answer":{…}}       vocabulary/answer.py; may come much later
    {"t":"constraints","items":[…]}                all that stand, after each correction
    {"t":"anchor","text":"…"}                      one request to say where the agent stands
    {"t":"error","code":"…","expected":"…"}        after `version`, `busy`, `uid` we close

For whoever writes an extension:
* `at` is the agent's own message timestamp wherever the event has one (prompt, reply, call_end,
  compact: the entry's), so that live feed and session file say the same; else the clock.
* `reply.patches` names those of `reply.calls` that are update_action_path calls: their place in
  the order is the reply, whether or not the tool then runs. A `patch` frame whose call was not
  announced is placed where it arrives.
* `hello.entries` counts the messages the session held before this instance: above 0 with nothing
  known here, the session file is read first.
* What was resent after a reconnect is recognised by (instance, seq) and dropped; a frame that
  cannot be understood is answered with an error, counted as a gap, and acknowledged.
* The first frame is `hello`, within `HELLO_MS` and `HELLO_BYTES_MAX`.

What must not be here: sockets, redaction, meaning. Decoding raises `BadFrame` and nothing else.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Raw, Struct

from ..reducer.vocabulary.answer import AnyAnswer
from ..reducer.vocabulary.codec import DEPTH_MAX, Malformed, decode_untrusted, encode
from ..reducer.vocabulary.ids import FRAME_BYTES_MAX, INT_MAX, Count, OpaqueId, TimeMs, Wire
from ..reducer.vocabulary.people import Constraint

VERSION: Final = 1
LINE_BYTES_MAX: Final = FRAME_BYTES_MAX
HELLO_BYTES_MAX: Final = 16 * 1024
HELLO_MS: Final = 5_000
VALUES_MAX: Final = 20_000  # containers and members of one frame; a full patch has about 4,000

Seq = Annotated[int, Meta(ge=1, le=INT_MAX)]
Name = Annotated[str, Meta(min_length=1, max_length=200)]
Short = Annotated[str, Meta(max_length=4096)]
Args = dict[str, Any]


class Hello(Wire, frozen=True):
    """Binds the connection to (session, instance)."""

    t: Literal["hello"]
    v: int
    agent: Annotated[str, Meta(pattern=r"\A[a-z0-9]{1,32}\Z")]
    instance: OpaqueId
    session: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,127}\Z")]
    agent_version: Name | None = None
    pid: Count = 0
    file: Short | None = None
    cwd: Short = ""
    parent: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,127}\Z")] | None = None
    reason: Name = "startup"
    entries: Count = 0
    started_at: TimeMs | None = None


class Frame(Wire, frozen=True):
    """A numbered frame. `at`: event time, ms."""

    seq: Seq
    t: str
    at: TimeMs


class Prompt(Frame, frozen=True):
    ev: Literal["prompt"]
    text: str
    source: Name | None = None
    entry: OpaqueId | None = None


class CallStart(Frame, frozen=True):
    ev: Literal["call_start"]
    call_id: OpaqueId
    tool: Name
    args: Args = msgspec.field(default_factory=dict[str, Any])


class CallEnd(Frame, frozen=True):
    """`text`: head and tail of the result; `leaf`: entry id of the reply that made the call."""

    ev: Literal["call_end"]
    call_id: OpaqueId
    tool: Name
    is_error: bool
    text: str = ""
    args: Args = msgspec.field(default_factory=dict[str, Any])
    details: Args | None = None
    exit_code: int | None = None
    duration_ms: Count | None = None
    leaf: Name | None = None


class Reply(Frame, frozen=True):
    ev: Literal["reply"]
    stop_reason: Name
    calls: Annotated[tuple[OpaqueId, ...], Meta(max_length=1000)] = ()
    patches: Annotated[tuple[OpaqueId, ...], Meta(max_length=1000)] = ()
    error: str | None = None


class Settled(Frame, frozen=True):
    ev: Literal["settled"]
    aborted: bool = False


class Compact(Frame, frozen=True):
    ev: Literal["compact"]


class Tree(Frame, frozen=True):
    ev: Literal["tree"]


class Ui(Frame, frozen=True):
    ev: Literal["ui"]
    open: bool
    kind: Name | None = None
    title: Short | None = None


class Receipt(Frame, frozen=True):
    """A constraint stood in a model request."""

    ev: Literal["receipt"]
    correction_id: OpaqueId


class Shutdown(Frame, frozen=True):
    ev: Literal["shutdown"]
    reason: Name = "quit"


class Drop(Frame, frozen=True):
    """The extension's queue overflowed: `count` records before this one are lost."""

    ev: Literal["drop"]
    count: Count


class Patch(Frame, frozen=True):
    """The agent's own JSON, still unredacted: never stored as it is."""

    call_id: OpaqueId
    patch: Raw


class Propose(Frame, frozen=True):
    call_id: OpaqueId
    patch: Raw


Obs = (
    Prompt | CallStart | CallEnd | Reply | Settled | Compact | Tree | Ui | Receipt | Shutdown | Drop
)
Numbered = Obs | Patch | Propose

EVENTS: Final[dict[str, type[Obs]]] = {
    "prompt": Prompt,
    "call_start": CallStart,
    "call_end": CallEnd,
    "reply": Reply,
    "settled": Settled,
    "compact": Compact,
    "tree": Tree,
    "ui": Ui,
    "receipt": Receipt,
    "shutdown": Shutdown,
    "drop": Drop,
}
DECLARATIONS: Final[dict[str, type[Patch | Propose]]] = {"patch": Patch, "propose": Propose}


# --- adapter → extension ----------------------------------------------------------------------


class Out(Wire, frozen=True, tag_field="t", omit_defaults=False):
    pass


class Welcome(Out, frozen=True, tag="welcome"):
    v: int
    ack: int
    revision: int
    declared: bool
    constraints: tuple[Constraint, ...]
    bound: bool
    reason: str | None = None


class Ack(Out, frozen=True, tag="ack"):
    seq: int


class AnswerFrame(Out, frozen=True, tag="answer"):
    call_id: str
    answer: AnyAnswer


class Constraints(Out, frozen=True, tag="constraints"):
    items: tuple[Constraint, ...]


class Anchor(Out, frozen=True, tag="anchor"):
    text: str


class Error(Out, frozen=True, tag="error"):
    code: str
    expected: str


AnyOut = Welcome | Ack | AnswerFrame | Constraints | Anchor | Error


def line(frame: AnyOut) -> bytes:
    return encode(frame) + b"\n"


# --- decoding ---------------------------------------------------------------------------------


class BadFrame(ValueError):
    """A line that is no frame. `seq` is the number it carried, if that much could be read."""

    def __init__(self, code: str, expected: str, seq: int | None = None) -> None:
        super().__init__(f"{code}: {expected}")
        self.code = code
        self.expected = expected
        self.seq = seq


class _Head(Struct):
    t: str
    ev: str | None = None


_heads: Final = msgspec.json.Decoder(_Head)
_SEQ: Final = re.compile(rb'\A\{"seq":([1-9][0-9]{0,15}),')
# A string (its end may be missing: then it is the rest) or one structural byte; linear.
_STRUCTURE: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\],]', re.DOTALL)


def decode_line(data: bytes) -> Hello | Numbered:
    """One line without its newline. Raises BadFrame; `version` for a hello of another version."""
    try:
        screen(data)
        head = _heads.decode(data)
        if head.t == "hello":
            return _hello(data)
        return decode_untrusted(data, _type_of(head))
    except BadFrame as error:
        raise BadFrame(error.code, error.expected, seq_of(data)) from None
    except Malformed as error:
        raise BadFrame("malformed", str(error), seq_of(data)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadFrame("malformed", f"one JSON object with `t` ({error})", seq_of(data)) from error


def seq_of(data: bytes) -> int | None:
    """The number a line claims, however broken the rest: extensions write it first."""
    found = _SEQ.match(data)
    return int(found[1]) if found else None


def screen(data: bytes) -> None:
    """Refuses what would cost much to decode, at the cost of one scan over the structure.

    The bytes need not be JSON; the decoder behind this says so. Raises BadFrame.
    """
    if len(data) > LINE_BYTES_MAX:
        raise BadFrame("too_large", f"a line of at most {LINE_BYTES_MAX} bytes")
    depth = values = 0
    for token in _STRUCTURE.finditer(data):
        first = data[token.start()]
        if first == 0x22:  # a string, whatever stands in it
            continue
        values += 1
        if first in b"{[":
            depth += 1
        elif first in b"}]":
            depth -= 1
        if depth > DEPTH_MAX:
            raise BadFrame("too_deep", f"nesting of at most {DEPTH_MAX} levels")
        if values > VALUES_MAX:
            raise BadFrame("too_large", f"at most {VALUES_MAX} values in one frame")


def _hello(data: bytes) -> Hello:
    spoken = msgspec.json.decode(data, type=_Version).v
    if spoken != VERSION:
        raise BadFrame("version", f"protocol version {VERSION}, got {spoken}")
    return decode_untrusted(data, Hello)


class _Version(Struct):
    v: int


def _type_of(head: _Head) -> type[Numbered]:
    if head.t == "obs":
        known = EVENTS.get(head.ev or "")
        if known is None:
            raise BadFrame("malformed", f"`ev` one of {', '.join(EVENTS)}")
        return known
    if head.t in DECLARATIONS:
        return DECLARATIONS[head.t]
    raise BadFrame("malformed", f"`t` one of hello, obs, patch, propose; got {head.t[:32]!r}")
