"""What travels between our own processes: one struct per message, JSON in one ZeroMQ frame.

The frames around them are drawn in `bus.py`. Everything in here is already redacted.
"""

from __future__ import annotations

from msgspec import Raw

from ..reducer.vocabulary.annotation import ObserverPatch
from ..reducer.vocabulary.episode import Resume, Segment
from ..reducer.vocabulary.ids import AgentId, Count, Label, OpaqueId, Position, SessionId, Wire
from ..reducer.vocabulary.observation import AnyObservation, LiveNote, SessionInfo
from ..reducer.vocabulary.people import Constraint


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


class Reply(Wire, frozen=True, tag_field="reply"):
    """From the reconciler. Patches are answered with `vocabulary.answer` structs as they are."""


class Standing(Reply, frozen=True, tag="standing"):
    """`to_position` 0: nothing of this session is committed."""

    revision: Count
    to_position: Position
    constraints: tuple[Constraint, ...] = ()
    declared: bool = True  # RULES 40: the declared path may be switched off


class StreamAt(Reply, frozen=True, tag="stream"):
    """After COMMIT: everything up to `to_position` is durable. Also answers a gap or a repeat."""

    session_id: SessionId
    to_position: Position
    resume: Resume


class Refused(Reply, frozen=True, tag="refused"):
    code: Label
    expected: str


class Done(Reply, frozen=True, tag="done"):
    pass


AnyRequest = SubmitPatch | ReadStanding | SubmitSegment | ReadStream | SubmitLiveNote | SubmitRemark
AnyReply = Standing | StreamAt | Refused | Done


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
