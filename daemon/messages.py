"""What travels between our own processes: one struct per message, JSON in one ZeroMQ frame.

The frames around them are drawn in `bus.py`. Everything in here is already redacted.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Raw, Struct

from ..reducer.vocabulary.annotation import ObserverPatch
from ..reducer.vocabulary.answer import AnyAnswer
from ..reducer.vocabulary.episode import Resume, Segment
from ..reducer.vocabulary.ids import (
    AgentId,
    Count,
    Label,
    OpaqueId,
    Position,
    SessionId,
    SessionSeq,
    Text,
    TimeMs,
    Wire,
)
from ..reducer.vocabulary.observation import AnyObservation, LiveNote, SessionInfo
from ..reducer.vocabulary.payload import ViewFocused
from ..reducer.vocabulary.people import Constraint, HumanIntentPatch


class Request(Wire, frozen=True, tag_field="ask"):
    """To the reconciler, on `patch.ipc` (agents' patches) or `stream.ipc` (everything else)."""


class SubmitPatch(Request, frozen=True, tag="patch"):
    """An agent's patch, at once, outside the spool; the same key makes a retry safe.

    `patch` is the agent's own JSON with its strings redacted; the reconciler decodes it strictly,
    so that every teaching error comes from one place. `proposal`: store apart, apply nothing.
    """

    info: SessionInfo
    agent_id: AgentId
    position: Position
    patch: Raw
    proposal: bool = False


class ReadStanding(Request, frozen=True, tag="standing"):
    """What an extension needs at hello: revision, standing constraints, last stream position."""

    session_id: SessionId


class SubmitSegment(Request, frozen=True, tag="segment"):
    segment: Segment


class ReadStream(Request, frozen=True, tag="stream"):
    """Where a session's observation stream is committed; the segmenter's only checkpoint."""

    session_id: SessionId


class SubmitLiveNote(Request, frozen=True, tag="live"):
    """Never logged; passed on to viewers only. A receipt note becomes an event."""

    note: LiveNote


class SubmitRemark(Request, frozen=True, tag="remark"):
    """An observer's patch."""

    patch: ObserverPatch


class TellAgents(Request, frozen=True, tag="agents"):
    """The adapter: processes that are connected as agents right now. Whoever descends from one is
    no person (see `who.py`)."""

    pids: tuple[int, ...]


class Reply(Wire, frozen=True, tag_field="reply"):
    """From the reconciler. Patches are answered with `vocabulary.answer` structs as they are."""


class Standing(Reply, frozen=True, tag="standing"):
    """`to_position` 0: nothing of this session is committed."""

    revision: Count
    to_position: Position
    constraints: tuple[Constraint, ...] = ()
    declared: bool = True  # RULES 40: the declared path may be switched off
    anchor: Text | None = None  # asked since the agent's last patch: where does it stand?


class StreamAt(Reply, frozen=True, tag="stream"):
    """After COMMIT: everything up to `to_position` is durable. Also answers a gap or a repeat."""

    session_id: SessionId
    to_position: Position
    resume: Resume


class Taken(Reply, frozen=True, tag="taken"):
    """A correction is in the log, or, if not `confirmed`, waits for a click in the page; `because`
    is the reason code of `who.py`."""

    correction_id: OpaqueId
    revision: Count
    confirmed: bool = True
    because: Label | None = None


class Waiting(Wire, frozen=True):
    """A correction that is not in the log yet: whoever sent it may not be the person."""

    correction: HumanIntentPatch
    because: Label
    detail: str
    at: TimeMs


class AllWaiting(Reply, frozen=True, tag="waiting"):
    items: tuple[Waiting, ...]


class Refused(Reply, frozen=True, tag="refused"):
    code: Label
    expected: str


class Done(Reply, frozen=True, tag="done"):
    pass


AnyRequest = (
    SubmitPatch
    | ReadStanding
    | SubmitSegment
    | ReadStream
    | SubmitLiveNote
    | SubmitRemark
    | TellAgents
)
AnyReply = Standing | StreamAt | Taken | AllWaiting | Refused | Done


# --- viewer → clients, on `view.ipc` and `snap.ipc` -------------------------------------------


class Live(Wire, frozen=True):
    """What is only known while it lasts, and never logged: the tool that runs, the question that
    is open, whether the agent is connected."""

    tool: Label | None = None
    tool_since: TimeMs = 0
    waiting: Label | None = None
    waiting_since: TimeMs = 0
    gone: bool = False


class SnapRequest(Wire, frozen=True, tag_field="ask"):
    """To the viewer. Open to every process of this user, so it is decoded as untrusted."""


class ReadSessions(SnapRequest, frozen=True, tag="sessions"):
    pass


class ReadView(SnapRequest, frozen=True, tag="view"):
    """`at_seq`: as it was after that event; such a view gets no deltas."""

    session_id: SessionId
    at_seq: SessionSeq | None = None


AnySnapRequest = ReadSessions | ReadView


class SnapReply(Wire, frozen=True, tag_field="snap"):
    pass


class SessionList(SnapReply, frozen=True, tag="sessions"):
    """`sessions`: one JSON object {session id: row}, rows as `eventlog.reader.SessionRow`."""

    epoch: str
    n: Count
    sessions: Raw


class Snapshot(SnapReply, frozen=True, tag="view"):
    """`frame` is one JSON object: `session` (its row), `live`, `view`. Deltas numbered above `n`
    in the same epoch apply to it, in order, each exactly one above the last."""

    epoch: str
    n: Count
    session_id: SessionId
    seq: Count
    frame: Raw


class NoSuchSession(SnapReply, frozen=True, tag="none"):
    session_id: SessionId


AnySnapReply = SessionList | Snapshot | NoSuchSession


class Delta(Wire, frozen=True):
    """On `view.ipc` under the session's id, or under `~sessions` for the list of sessions.

    `change` is a JSON merge patch (RFC 7396, see `viewer/merge.py`) of the frame, or of the object
    {session id: row}. `gone`: the session was purged. `pulse`: no change, only the number as it
    stands, said every now and then, so that a lost last delta is noticed too."""

    epoch: str
    n: Count
    session_id: str  # a session, or `~sessions` in a pulse of the list
    seq: Count
    change: Raw
    gone: bool = False
    pulse: bool = False


# --- reading replies --------------------------------------------------------------------------


class _Head(Struct):
    """Enough of an answer to tell which family it is of."""

    status: str | None = None


_heads: Final = msgspec.json.Decoder(_Head)
_answers: Final[msgspec.json.Decoder[AnyAnswer]] = msgspec.json.Decoder(AnyAnswer)
_replies: Final[msgspec.json.Decoder[AnyReply]] = msgspec.json.Decoder(AnyReply)


def read_reply(body: bytes) -> AnyAnswer | AnyReply:
    """Any answer of the reconciler. Raises msgspec.ValidationError for anything else."""
    if _heads.decode(body).status is not None:
        return _answers.decode(body)
    return _replies.decode(body)


# --- people, on `human.sock`: one JSON object per line, answered in order ---------------------


class HumanRequest(Wire, frozen=True, tag_field="ask"):
    """Who the caller is comes from the socket, never from the line (see `who.py`)."""


class Greet(HumanRequest, frozen=True, tag="greet"):
    """Our own web client proves itself with the key of this run: what it sends was clicked."""

    key: str


class Correct(HumanRequest, frozen=True, tag="correct"):
    """Answered with Taken, or Rejected or Conflict of `vocabulary.answer`, or Refused."""

    correction: HumanIntentPatch


class SubmitByHand(HumanRequest, frozen=True, tag="patch"):
    """A person's own GraphPatch; answered like an agent's. `proposal`: store it apart."""

    session_id: SessionId
    patch: Raw
    proposal: bool = False


class Focus(HumanRequest, frozen=True, tag="focus"):
    """What a viewer pins, folds and has seen (RULES 37). Answered with Done."""

    session_id: SessionId
    focused: ViewFocused


class ListWaiting(HumanRequest, frozen=True, tag="waiting"):
    """Answered with AllWaiting."""


class Confirm(HumanRequest, frozen=True, tag="confirm"):
    """The person clicked: only on a connection that has greeted. Answered like Correct."""

    correction_id: OpaqueId
    accepted: bool = True


class Purge(HumanRequest, frozen=True, tag="purge"):
    """Deletes a whole session for good. Answered with Done."""

    session_id: SessionId


AnyHumanRequest = Greet | Correct | SubmitByHand | Focus | ListWaiting | Confirm | Purge


# --- adapter → segmenter, on `spool.ipc` ------------------------------------------------------


class SpoolRequest(Wire, frozen=True, tag_field="ask"):
    """Segmenter to adapter."""


class Follow(SpoolRequest, frozen=True, tag="follow"):
    """At start and once a second: name every session that holds something (an empty `Pulled`)."""


class Pull(SpoolRequest, frozen=True, tag="pull"):
    """Committed up to `from_position - 1` (trim), send from there on."""

    session_id: SessionId
    from_position: Position


class Pulled(Wire, frozen=True):
    """Adapter to segmenter, in order, at most 512. `open` = more may come (the session lives).

    Sent when pulled, and again unasked when new observations stand in the spool.
    """

    info: SessionInfo
    observations: tuple[AnyObservation, ...]
    open: bool
    timings: tuple[tuple[OpaqueId, int], ...] = ()  # live only: call id, duration ms
    live: bool = True
    last_position: Position = 0  # the newest in the spool
    named: bool = False  # answers `Follow`: the session holds something; nothing was pulled


AnySpoolRequest = Follow | Pull
