"""`Session`: one fold owns one, mutates it in place, and hands out frozen records only.

Invariants (asserted in `fold.py`, checked after every step in tests):
* `seq` is the number of the last event folded; events arrive as seq + 1.
* `stream_position` only grows; episodes stand in position order, none overlap.
* `net` changes only by whole batches and by events that stand alone.
"""

from __future__ import annotations

import hashlib

from msgspec import Struct

from ..net.state import Net
from ..vocabulary.annotation import AnnotateEpisode
from ..vocabulary.codec import canonical
from ..vocabulary.episode import Episode, Resume, Timing
from ..vocabulary.event import Payload, ViewFocused
from ..vocabulary.ids import SessionId
from ..vocabulary.observation import PlanItem, SessionInfo, SettleReason
from ..vocabulary.people import HumanIntentPatch, ReceiptStage
from ..vocabulary.terms import Channel, Level
from .corridor import Corridor


class EpisodeRecord(Struct, frozen=True):
    """An episode with its stamp. A person may re-associate it; `stamped_transition_id` remains."""

    episode: Episode
    seq: int
    transition_id: str | None
    firing_id: str | None
    path_revision: int
    stamped_transition_id: str | None
    timing: Timing | None = None
    moved_by: str | None = None  # correction id


class Prompt(Struct, frozen=True):
    line: str
    position: int
    seq: int
    machine: bool = False


class RootIntent(Struct, frozen=True):
    """The North Star and how we know it."""

    text: str
    level: Level
    seq: int
    place_id: str | None = None
    reason: str | None = None


class PatchRecord(Struct, frozen=True):
    """One applied batch. `opens_window`: it changed the active transition, its arcs, reads or
    contract keys, so alignment starts counting anew (RULES 26)."""

    patch_id: str
    seq: int
    ts: str
    source: Channel
    position: int
    revision: int
    kinds: tuple[str, ...]
    active_transition_id: str | None
    firing_id: str | None
    opens_window: bool
    born_before: int = 0  # the net's birth counter before it: which nodes it found there


class Receipt(Struct, frozen=True):
    stage: ReceiptStage
    at: int
    seq: int
    because: str | None = None
    position: int = 0


class CorrectionRecord(Struct, frozen=True):
    correction: HumanIntentPatch
    seq: int
    ts: str
    position: int
    revision: int
    receipts: tuple[Receipt, ...] = ()
    undone_by: str | None = None


class Annotation(Struct, frozen=True):
    annotation: AnnotateEpisode
    confidence: float
    model_version: str
    seq: int


class Session:
    """All records of one session. Containers are private to the fold; readers must not write."""

    __slots__ = (
        "anchored",
        "annotations",
        "compactions",
        "corrections",
        "corridor",
        "episodes",
        "episodes_chain",
        "first_prompt",
        "info",
        "last_ts",
        "latest_prompt",
        "logic_version",
        "net",
        "notes",
        "open_batch",
        "patches",
        "plan",
        "plan_position",
        "prompt_count",
        "resume",
        "root",
        "roots",
        "seq",
        "session_id",
        "settled",
        "settled_at",
        "started_ts",
        "stream_position",
        "viewers",
    )

    def __init__(self, session_id: SessionId) -> None:
        self.session_id = session_id
        self.seq = 0
        self.info: SessionInfo | None = None
        self.logic_version = 0
        self.started_ts = ""
        self.last_ts = ""
        self.net = Net()
        self.corridor = Corridor()
        self.root: RootIntent | None = None
        self.roots: list[RootIntent] = []
        self.first_prompt: Prompt | None = None
        self.latest_prompt: Prompt | None = None
        self.prompt_count = 0
        self.episodes: dict[str, EpisodeRecord] = {}
        self.episodes_chain = hashlib.sha256()
        self.stream_position = 0
        self.resume = Resume()
        self.plan: tuple[PlanItem, ...] = ()
        self.plan_position = 0
        self.settled: SettleReason | None = None
        self.settled_at = 0
        self.notes: dict[str, int] = {}
        self.compactions: list[int] = []  # their positions
        self.patches: list[PatchRecord] = []
        self.corrections: dict[str, CorrectionRecord] = {}
        self.annotations: dict[str, tuple[Annotation, ...]] = {}
        self.anchored: dict[str, int] = {}  # cause id → seq of the request
        self.viewers: dict[str, ViewFocused] = {}
        self.open_batch: list[Payload] = []

    @property
    def revision(self) -> int:
        return self.net.revision

    def episode_list(self) -> list[EpisodeRecord]:
        return list(self.episodes.values())

    def last_patch(self) -> PatchRecord | None:
        return self.patches[-1] if self.patches else None

    def declared(self) -> bool:
        """Whether the agent has declared a path at all (else everything is observed or coarse)."""
        return any(patch.source is Channel.DECLARED_PATH for patch in self.patches)


def episodes_digest(session: Session) -> str:
    """Over the episodes' canonical bytes in position order, without stamps and timings."""
    return "sha256:" + session.episodes_chain.copy().hexdigest()


def chain_episode(session: Session, episode: Episode) -> None:
    session.episodes_chain.update(canonical(episode))
    session.episodes_chain.update(b"\n")
