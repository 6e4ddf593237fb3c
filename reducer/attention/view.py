"""The shapes of what is seen. Frozen, camelCase on the wire, complete without any lookup."""

from __future__ import annotations

from ..alignment.loops import Watch
from ..alignment.verdict import Verdict
from ..vocabulary.ids import Wire
from ..vocabulary.people import CorrectionType, ReceiptStage
from ..vocabulary.terms import (
    AlignmentStatus,
    ArcKind,
    Coverage,
    EpisodeKind,
    EvidenceType,
    FactResult,
    GateState,
    Level,
    Outcome,
    PlaceType,
    TransitionState,
    TransitionType,
)


class Line(Wire, frozen=True, omit_defaults=False):
    """One claim. `source` is its mark; `because` names the fact it rests on, where it ranks."""

    text: str
    source: Level
    evidence_ids: tuple[str, ...] = ()
    node_id: str | None = None
    because: str | None = None


class NextStep(Wire, frozen=True, omit_defaults=False):
    """One way on. `when`: then (on success), else (on failure), ready (enabled now), planned."""

    when: str
    line: Line


class WatchLine(Wire, frozen=True, omit_defaults=False):
    """Ranked: the lower `rank`, the more it wants a person."""

    rank: int
    kind: str
    line: Line


class TensionView(Wire, frozen=True, omit_defaults=False):
    """Both sides in words, each with its mark, and what would resolve it."""

    id: str
    kind: str
    declared: Line
    observed: Line
    resolves: str
    since_id: str
    news: bool


class Answer(Wire, frozen=True, omit_defaults=False):
    """One of the eight questions, answered."""

    number: int
    question: str
    line: Line


class PlaceView(Wire, frozen=True):
    id: str
    type: PlaceType
    label: str
    standing: str
    column: int
    lane: int
    band: str
    gate: GateState | None = None
    parent: str | None = None
    provisional: bool = False  # a proposal that waits speaks of it


class StepView(Wire, frozen=True):
    """`contract` fields are None where nothing was declared: shown as Unknown."""

    id: str
    type: TransitionType
    intent: str
    state: TransitionState
    column: int
    lane: int
    band: str
    why_now: str | None = None
    action: str | None = None
    expected: tuple[str, ...] = ()
    expected_met: tuple[bool, ...] = ()  # in step with `expected`: evidence names it
    exit_condition: str | None = None
    failure_condition: str | None = None
    owner: str | None = None
    reason: str | None = None
    superseded_by: str | None = None
    parent: str | None = None
    shell: bool = False
    firings: int = 0
    episodes: int = 0
    evidence: int = 0
    evidence_ids: tuple[str, ...] = ()
    enabled: bool = False
    pinned: bool = False
    folded: bool = False
    tension: bool = False
    provisional: bool = False  # a proposal that waits speaks of it


class ArcView(Wire, frozen=True):
    source: str
    target: str
    kind: ArcKind


class TokenView(Wire, frozen=True):
    """`at` is where it is drawn: on the step that reserves it, else on its place."""

    id: str
    agent: str
    at: str
    status: str


class Scene(Wire, frozen=True, omit_defaults=False):
    """Keyed, so that a delta (JSON merge patch) costs what changed and not the net."""

    places: dict[str, PlaceView]
    steps: dict[str, StepView]
    arcs: dict[str, ArcView]
    tokens: dict[str, TokenView]


class Spine(Wire, frozen=True):
    """One fired step of the causal spine, in order."""

    id: str
    intent: str
    state: TransitionState
    seq: int


class Retired(Wire, frozen=True):
    """A path that was set aside, with its reason: already tried."""

    id: str
    intent: str
    reason: str
    by: Level
    successor: str | None = None


class ReceiptView(Wire, frozen=True, omit_defaults=False):
    """A correction and how far it got; `stage` None: not sent yet."""

    correction_id: str
    type: CorrectionType
    at: int
    undone: bool
    text: str | None = None
    target_id: str | None = None
    stage: ReceiptStage | None = None
    because: str | None = None


class EpisodeView(Wire, frozen=True):
    """What the evidence drawer lists: counts, never file names or output."""

    id: str
    kind: EpisodeKind
    outcome: Outcome
    calls: int
    ended_at: int
    step_id: str | None
    facts: tuple[str, ...] = ()
    signatures: tuple[tuple[str, int], ...] = ()
    refusals: tuple[tuple[str, int], ...] = ()
    files_read: int = 0
    files_changed: int = 0
    moved: bool = False


class EvidenceView(Wire, frozen=True):
    """One piece of evidence: what it says, how we know it and who vouches for it."""

    id: str
    type: EvidenceType
    summary: str
    level: Level
    at: int
    target_id: str
    satisfies: tuple[str, ...] = ()
    result: FactResult | None = None


class PlanLine(Wire, frozen=True):
    text: str
    state: str
    reason: str | None = None


class View(Wire, frozen=True, omit_defaults=False):
    """A session as it is to be seen. `now, why, next, watch` fit the budget together."""

    session_id: str
    seq: int
    revision: int
    agent: str
    project: str | None
    started_ts: str
    last_ts: str
    settled: str | None
    north_star: Line
    alignment: AlignmentStatus
    alignment_reason: Line
    now: Line
    why: Line
    next: Line
    watch: Line
    expected: Line
    if_fails: Line
    set_aside: Line
    next_steps: tuple[NextStep, ...]
    watches: tuple[WatchLine, ...]
    answers: tuple[Answer, ...]
    latest_ask: Line | None
    verdict: Verdict
    tensions: tuple[TensionView, ...]
    repeats: tuple[Watch, ...]
    retired: tuple[Retired, ...]
    spine: tuple[Spine, ...]
    receipts: tuple[ReceiptView, ...]
    plan: tuple[PlanLine, ...]
    since: tuple[Line, ...]
    coverage: Coverage
    coverage_reason: str | None
    next_record: tuple[int, int]
    scene: Scene
    episodes: dict[str, EpisodeView]
    evidence: dict[str, EvidenceView]
