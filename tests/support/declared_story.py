"""Sessions for tests, told act by act and folded from real events: decide, seal, fold, admit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wayfinder.reducer.alignment.confirm import admit
from wayfinder.reducer.net.decide import Committed, decide
from wayfinder.reducer.people.correct import Corrected, correct
from wayfinder.reducer.session.fold import LOGIC_VERSION, fold
from wayfinder.reducer.session.seal import Cause, seal
from wayfinder.reducer.session.stamp import stamp
from wayfinder.reducer.session.state import Session
from wayfinder.reducer.vocabulary import event as ev
from wayfinder.reducer.vocabulary.annotation import AnnotateEpisode
from wayfinder.reducer.vocabulary.answer import Answer
from wayfinder.reducer.vocabulary.episode import Episode, RefusalCount, SignatureCount
from wayfinder.reducer.vocabulary.evidence import EvidenceDraft
from wayfinder.reducer.vocabulary.ids import MAIN_TOKEN_ID, START_PLACE_ID
from wayfinder.reducer.vocabulary.observation import (
    Fact,
    Refusal,
    SessionInfo,
    SettleReason,
    Signature,
)
from wayfinder.reducer.vocabulary.patch import (
    ActivateTransition,
    Actor,
    AttachEvidence,
    CompleteTransition,
    Connect,
    CreatePlace,
    CreateTransition,
    FailTransition,
    GraphPatch,
    PatchOp,
)
from wayfinder.reducer.vocabulary.people import CorrectionType, HumanIntentPatch, ReceiptStage
from wayfinder.reducer.vocabulary.terms import (
    ActorType,
    ArcKind,
    Boundary,
    Channel,
    Coverage,
    EpisodeKind,
    FactKind,
    FactResult,
    Outcome,
    PlaceType,
    TransitionType,
)

SESSION_ID = "pi-story"
_ACTOR = {
    Channel.DECLARED_PATH: ActorType.AGENT,
    Channel.HUMAN: ActorType.HUMAN,
    Channel.OBSERVED: ActorType.ADAPTER,
    Channel.OBSERVER: ActorType.OBSERVER,
    Channel.SYSTEM: ActorType.SYSTEM,
}


def fact(spelling: str) -> Fact:
    """`test:auth=fail` as a fact."""
    kind, _, rest = spelling.partition(":")
    name, _, result = rest.partition("=")
    return Fact(FactKind(kind), name, FactResult(result) if result else None)


def ref(number: int) -> str:
    return f"hmac-sha256:{number:032x}"


def trouble(number: int, streak: int = 1, outcome: Outcome = Outcome.FAILED) -> SignatureCount:
    signature = Signature(ref(number), EpisodeKind.TEST, outcome, f"trouble {number}")
    return SignatureCount(signature, 1, streak)


def refused(number: int, count: int = 1) -> RefusalCount:
    return RefusalCount(Refusal(ref(number), f"refused {number}"), count)


def step(
    name: str,
    *,
    type: TransitionType = TransitionType.INVESTIGATE,
    intent: str | None = None,
    flow: str = START_PLACE_ID,
    success: str | None = None,
    failure: str | None = None,
    reads: Sequence[str] = (),
    selectors: Sequence[str] = (),
    kinds: Sequence[EpisodeKind] = (),
    expected: Sequence[str] = ("the cause is known",),
) -> tuple[PatchOp, ...]:
    """A step with its success place (new, `pl_<name>`, unless named) and arcs."""
    target = success or f"pl_{name}"
    ops: list[PatchOp] = []
    if success is None:
        ops.append(CreatePlace(target, PlaceType.CONDITION, f"after {name}"))
    if failure is not None:
        ops.append(CreatePlace(failure, PlaceType.CONDITION, f"{name} failed"))
    ops.append(
        CreateTransition(
            name,
            type,
            intent or f"do {name}",
            expected_evidence=tuple(expected),
            evidence_selectors=tuple(selectors),
            allowed_episode_kinds=tuple(kinds),
            exit_condition="it is known",
        )
    )
    ops.append(Connect(flow, name, ArcKind.FLOW))
    ops.append(Connect(name, target, ArcKind.SUCCESS))
    ops.extend(Connect(place_id, name, ArcKind.READ) for place_id in reads)
    if failure is not None:
        ops.append(Connect(name, failure, ArcKind.FAILURE))
    return tuple(ops)


def activate(name: str) -> PatchOp:
    return ActivateTransition(name, MAIN_TOKEN_ID)


def complete(name: str, *evidence_ids: str) -> PatchOp:
    return CompleteTransition(name, MAIN_TOKEN_ID, evidence_ids)


def fail(name: str) -> PatchOp:
    return FailTransition(name, MAIN_TOKEN_ID)


def tell(target: str, *satisfies: str, evidence_id: str | None = None) -> PatchOp:
    return AttachEvidence(
        target, EvidenceDraft("seen by the agent", evidence_id=evidence_id, satisfies=satisfies)
    )


class Story:
    """One session in the making. Positions and times advance by themselves."""

    def __init__(self) -> None:
        self.session = Session(SESSION_ID)
        self.envelopes: list[ev.Envelope] = []
        self.position = 1
        self.now_ms = 1_700_000_000_000
        self.count = 0
        info = SessionInfo(SESSION_ID, "pi")
        started = ev.SessionStarted(info, LOGIC_VERSION, START_PLACE_ID, MAIN_TOKEN_ID)
        self.write([started], Channel.SYSTEM, "open")

    def write(
        self, payloads: Sequence[ev.Payload], source: Channel, cause: str, batch: bool = False
    ) -> None:
        revision = self.session.revision
        sealed = seal(
            payloads,
            Cause(source, Actor(_ACTOR[source]), cause),
            session_id=SESSION_ID,
            last_seq=self.session.seq,
            revision_before=revision,
            revision_after=revision + batch,
            now_ms=self.now_ms,
        )
        for envelope in sealed:
            fold(self.session, envelope)
        self.envelopes.extend(sealed)

    def patch(self, *ops: PatchOp) -> Answer | None:
        """An agent's patch; its marker takes a position. None if it was applied."""
        self.position += 1
        self.count += 1
        name = f"patch_{self.count}"
        decision = decide(
            self.session.net,
            GraphPatch(name, self.session.revision, name, ops),
            channel=Channel.DECLARED_PATH,
            position=self.position,
            now_ms=self.now_ms,
        )
        if not isinstance(decision, Committed):
            return decision
        self.write(decision.payloads, Channel.DECLARED_PATH, name, batch=True)
        return None

    def start(self, name: str, **named: Any) -> None:
        """Declares a step and activates it."""
        refused_because = self.patch(*step(name, **named), activate(name))
        assert refused_because is None, refused_because

    def episode(
        self,
        kind: EpisodeKind = EpisodeKind.INSPECT,
        *facts: str,
        outcome: Outcome = Outcome.OK,
        coverage: Coverage = Coverage.FULL,
        signatures: Sequence[SignatureCount] = (),
        refusals: Sequence[RefusalCount] = (),
        changed: Sequence[int] = (),
        transition_id: str | None = None,
        facts_before_edit: int = 0,
        span: int = 3,
    ) -> str:
        """A completed episode of `span` observations, committed and admitted. Its id."""
        self.now_ms += 60_000
        episode = Episode(
            episode_id=f"ep_{self.position + 1}",
            from_position=self.position + 1,
            to_position=self.position + span,
            kind=kind,
            outcome=outcome,
            boundary=Boundary.CALLS_CAP,
            coverage=coverage,
            ended_at=self.now_ms,
            calls=span,
            facts=tuple(fact(each) for each in facts),
            signatures=tuple(signatures),
            refusals=tuple(refusals),
            files_changed=len(changed),
            changed_refs=tuple(ref(each) for each in changed),
            transition_id=transition_id,
            facts_before_edit=facts_before_edit,
        )
        self.position += span
        return self.commit(episode)

    def commit(self, episode: Episode) -> str:
        stamped = stamp(self.session, episode)
        self.write([stamped], Channel.OBSERVED, episode.episode_id)
        admitted = admit(self.session, self.session.episodes[episode.episode_id])
        if admitted:
            self.write(admitted, Channel.OBSERVED, episode.episode_id)
        advanced = ev.StreamAdvanced(episode.to_position, self.session.resume)
        self.write([advanced], Channel.SYSTEM, episode.episode_id)
        return episode.episode_id

    def annotate(
        self,
        episode_id: str,
        *,
        step: str | None = None,
        intent: str | None = None,
        supports: str | None = None,
        confidence: float = 0.9,
        model: str = "model-1",
    ) -> None:
        annotation = AnnotateEpisode(
            intent_class=intent, alternate_transition_id=step, supports_selector=supports
        )
        annotated = ev.EpisodeAnnotated(episode_id, annotation, confidence, model)
        self.write([annotated], Channel.OBSERVER, f"remark_{self.count}")

    def human(
        self,
        type: CorrectionType,
        target: str | None = None,
        *,
        text: str | None = None,
        other: str | None = None,
        base: int | None = None,
        proposal: GraphPatch | None = None,
    ) -> Answer | None:
        """A person's correction `hc_<n>`; None if it was taken."""
        self.count += 1
        correction = HumanIntentPatch(
            f"hc_{self.count}",
            SESSION_ID,
            type,
            text=text,
            target_id=target,
            other_id=other,
            base_revision=base,
            confirmed=True,
        )
        taken = correct(
            self.session,
            correction,
            position=self.position,
            now_ms=self.now_ms,
            proposal=proposal,
        )
        if not isinstance(taken, Corrected):
            return taken
        self.write(taken.payloads, Channel.HUMAN, correction.correction_id, batch=taken.batch)
        return None

    @property
    def newest_correction(self) -> str:
        return next(reversed(self.session.corrections))

    def in_turn(self, correction_id: str | None = None) -> None:
        """The correction stood in a model request."""
        receipted = ev.ConstraintReceipted(
            correction_id or self.newest_correction,
            ReceiptStage.IN_TURN,
            self.now_ms,
            position=self.position,
        )
        self.write([receipted], Channel.SYSTEM, "receipt")

    def settle(self) -> None:
        self.position += 1
        self.now_ms += 1_000
        settled = ev.SessionSettled(SettleReason.STOP, self.position, self.now_ms)
        self.write([settled], Channel.OBSERVED, "settled")
