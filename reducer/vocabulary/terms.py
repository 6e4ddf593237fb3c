"""The closed sets of words: one enum each. Later versions may add members, never rename one.

Agents write type names in several spellings; `_missing_` accepts the spaced and snake spellings
of the specification ("Information Need", "ask_human") and nothing else (RULES 8).
"""

from __future__ import annotations

from enum import StrEnum


class Term(StrEnum):
    """An enum whose members may also be written with spaces, hyphens, underscores or other case."""

    @classmethod
    def _missing_(cls, value: object) -> Term | None:
        if not isinstance(value, str) or len(value) > 64:
            return None
        folded = _fold(value)
        return next((m for m in cls if _fold(m.value) == folded), None)

    def __str__(self) -> str:
        return self.value


def _fold(spelling: str) -> str:
    return spelling.replace(" ", "").replace("_", "").replace("-", "").lower()


class PlaceType(Term):
    GOAL = "Goal"
    CONDITION = "Condition"
    INFORMATION_NEED = "InformationNeed"
    DECISION_OUTCOME = "DecisionOutcome"
    GATE = "Gate"
    VERIFIED = "Verified"
    OUTCOME = "Outcome"


class TransitionType(Term):
    INVESTIGATE = "Investigate"
    DECIDE = "Decide"
    IMPLEMENT = "Implement"
    VERIFY = "Verify"
    RECOVER = "Recover"
    ASK_HUMAN = "AskHuman"
    BRANCH = "Branch"
    CONCLUDE = "Conclude"


class PlaceState(Term):
    UNKNOWN = "unknown"
    SATISFIED = "satisfied"
    INVALIDATED = "invalidated"


class GateState(Term):
    OPEN = "open"
    CLOSED = "closed"
    BLOCKED = "blocked"


class TransitionState(Term):
    """idle and the outcomes may fire again when enabled; retired and superseded never (RULES 4)."""

    IDLE = "idle"
    ACTIVE = "active"
    COMPLETED = "completed"
    FAILED = "failed"
    RETIRED = "retired"
    SUPERSEDED = "superseded"


class TokenStatus(Term):
    ACTIVE = "active"
    WAITING = "waiting"
    BLOCKED = "blocked"
    COMPLETE = "complete"


class ArcKind(Term):
    FLOW = "flow"
    READ = "read"
    SUCCESS = "success"
    FAILURE = "failure"


class EvidenceType(Term):
    AGENT_DECLARATION = "agent_declaration"
    TOOL_EPISODE = "tool_episode"
    TEST_RESULT = "test_result"
    ERROR_SIGNATURE = "error_signature"
    GIT_FACT = "git_fact"
    EXTERNAL_GATE = "external_gate"
    HUMAN_STATEMENT = "human_statement"
    OBSERVER_INFERENCE = "observer_inference"


class ActorType(Term):
    AGENT = "agent"
    HUMAN = "human"
    ADAPTER = "adapter"
    OBSERVER = "observer"
    SYSTEM = "system"


class Channel(Term):
    """Where an event came in; it decides the actor, never the other way round."""

    DECLARED_PATH = "declared-path"
    DECLARED_COARSE = "declared-coarse"
    OBSERVED = "observed-execution"
    HUMAN = "human"
    OBSERVER = "observer"
    SYSTEM = "system"


class Level(Term):
    """How we know. Shown as the source mark of every line a person reads."""

    DECLARED = "declared"
    OBSERVED = "observed"
    INFERRED = "inferred"
    HUMAN = "human"
    UNKNOWN = "unknown"


class EpisodeKind(Term):
    INSPECT = "inspect"
    SEARCH = "search"
    EDIT = "edit"
    TEST = "test"
    BUILD = "build"
    RUN = "run"
    INSTRUMENT = "instrument"
    PLAN = "plan"
    ASK = "ask"
    DELEGATE = "delegate"
    OTHER = "other"


class Outcome(Term):
    """How one tool call ended. These are never counted as the same thing."""

    OK = "ok"
    FAILED = "failed"  # the command ran and said no: exit code, failing test
    TOOL_ERROR = "tool_error"  # the tool itself refused: bad arguments, unknown tool, edit mismatch
    REFUSED_BY_USER = "refused_by_user"
    BLOCKED_BY_POLICY = "blocked_by_policy"
    ABORTED = "aborted"
    PROVIDER_OUTAGE = "provider_outage"
    RATE_LIMIT = "rate_limit"
    SIBLING_FAILED = "sibling_failed"  # a parallel call failed and took this one along
    UNKNOWN = "unknown"


class Coverage(Term):
    FULL = "full"
    PARTIAL = "partial"
    UNKNOWN = "unknown"


class FactKind(Term):
    """What a selector may match, and nothing else (RULES 10, 20)."""

    ASSERTION = "assertion"
    TEST = "test"
    COMMAND = "command"
    FILE = "file"
    TRACE = "trace"


class FactResult(Term):
    PASS = "pass"
    FAIL = "fail"


class Boundary(Term):
    """Why an episode closed where it did (RULES 19)."""

    PATCH = "patch"
    PROMPT = "prompt"
    SETTLED = "settled"
    ABORTED = "aborted"
    ENDED = "ended"
    NEW_SIGNATURE = "new_signature"
    THIRD_REPEAT = "third_repeat"
    GATE = "gate"
    CALLS_CAP = "calls_cap"
    TIME_CAP = "time_cap"


class AlignmentStatus(Term):
    PENDING = "pending"
    ALIGNED = "aligned"
    LAGGING = "lagging"
    DIVERGED = "diverged"
    UNKNOWN = "unknown"
