"""The stories behind the golden logs: each is named after the behaviour it protects.

A story is told through `decide` and `seal`, as the reconciler does it, with clocks standing still.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from net_build import (
    SESSION_ID,
    STARTED,
    Op,
    arc,
    contract,
    evidence,
    gate,
    mark,
    on,
    patch_of,
    place,
    refine,
    state,
    step,
    supersede,
    wired,
)

from wayfinder.reducer.net.decide import Committed, apply
from wayfinder.reducer.net.evidence import evidence_of
from wayfinder.reducer.net.fold import fold
from wayfinder.reducer.net.state import Net
from wayfinder.reducer.session.seal import Cause, seal
from wayfinder.reducer.vocabulary.event import (
    Envelope,
    EvidenceAttached,
    GateMarked,
    HumanCorrected,
    Payload,
    RootIntentSet,
)
from wayfinder.reducer.vocabulary.evidence import EvidenceDraft
from wayfinder.reducer.vocabulary.patch import Actor
from wayfinder.reducer.vocabulary.people import CorrectionType, HumanIntentPatch
from wayfinder.reducer.vocabulary.terms import (
    ActorType,
    Channel,
    EvidenceType,
    FactResult,
    GateState,
    Level,
)

NOW_MS: Final = 1_784_000_000_000
_ACTORS: Final = {
    Channel.DECLARED_PATH: Actor(ActorType.AGENT),
    Channel.HUMAN: Actor(ActorType.HUMAN),
    Channel.SYSTEM: Actor(ActorType.SYSTEM),
    Channel.OBSERVED: Actor(ActorType.ADAPTER),
}


class Teller:
    def __init__(self) -> None:
        self.net = Net()
        self.log: list[Envelope] = []
        self.alone(STARTED, Channel.SYSTEM)

    def patch(self, *ops: Op, opener: HumanCorrected | None = None) -> None:
        before = self.net.revision
        channel = Channel.HUMAN if opener else Channel.DECLARED_PATH
        made = patch_of(list(ops), before, f"call_{before}")
        told = apply(self.net, made, channel=channel, position=before, now_ms=NOW_MS, opener=opener)
        assert isinstance(told, Committed), told
        self._seal(told.payloads, channel, made.patch_id, before)

    def correct(self, type_: CorrectionType, *ops: Op, **said: Any) -> None:
        number = len(self.log)
        correction = HumanIntentPatch(f"cor_{number}", SESSION_ID, type_, confirmed=True, **said)
        opener = HumanCorrected(correction, self.net.revision)
        if ops:
            self.patch(*ops, opener=opener)
        else:
            self.alone(opener, Channel.HUMAN)

    def observe(self, target: str, result: FactResult) -> None:
        draft = EvidenceDraft("12 tests", type=EvidenceType.TEST_RESULT, result=result)
        name = f"ev_seen_{len(self.log)}"
        channel = Channel.OBSERVED
        stored = evidence_of(
            self.net, target, draft, evidence_id=name, channel=channel, source="ep_1", now_ms=NOW_MS
        )
        self.alone(EvidenceAttached(stored), channel)

    def alone(self, payload: Payload, channel: Channel) -> None:
        fold(self.net, payload)
        self._seal((payload,), channel, "cause_0", self.net.revision)

    def _seal(
        self, payloads: tuple[Payload, ...], channel: Channel, cause: str, before: int
    ) -> None:
        self.log += seal(
            payloads,
            Cause(channel, _ACTORS[channel], cause),
            session_id=SESSION_ID,
            last_seq=len(self.log),
            revision_before=before,
            revision_after=self.net.revision,
            now_ms=NOW_MS,
        )


def _two_steps(tell: Teller) -> None:
    tell.patch(
        place("pl_a", label="刷新失败已稳定复现"),
        place("pl_goal", "Goal", label="登录刷新问题被可靠修复"),
        place("pl_bad"),
        *wired("tr_a", "pl_start", "pl_a"),
        *wired("tr_b", "pl_a", "pl_goal", "pl_bad", type_="Implement"),
    )


def failure_without_a_branch_returns_the_token(tell: Teller) -> None:
    _two_steps(tell)
    tell.patch(on("activate", "tr_a"))
    tell.patch(on("fail", "tr_a"))
    tell.patch(on("activate", "tr_a"), on("complete", "tr_a"))
    tell.patch(on("activate", "tr_b"), on("fail", "tr_b"))


def a_shell_ends_in_the_batch_that_reaches_its_exit(tell: Teller) -> None:
    tell.patch(place("pl_a"), place("pl_bad"), *wired("tr_s", "pl_start", "pl_a", "pl_bad"))
    tell.patch(refine("tr_s", "pl_start", "pl_a", "pl_bad"))
    tell.patch(on("activate", "tr_s"), on("activate", "tr_s_step"))
    tell.patch(on("complete", "tr_s_step"))
    tell.patch(*wired("tr_back", "pl_a", "pl_start"))
    tell.patch(on("activate", "tr_back"), on("complete", "tr_back"))
    tell.patch(on("activate", "tr_s"), on("activate", "tr_s_step"), on("fail", "tr_s_step"))


def an_inside_grows_by_what_is_connected_to_it(tell: Teller) -> None:
    tell.patch(place("pl_a"), gate("gate_a"), *wired("tr_s", "pl_start", "pl_a"))
    tell.patch(refine("tr_s", "pl_start", "pl_a"))
    tell.patch(step("tr_more"), arc("pl_s_bad", "tr_more", "flow"))
    tell.patch(arc("tr_more", "pl_s_in", "success"), arc("gate_a", "tr_more", "read"))
    tell.patch(on("activate", "tr_s"), on("activate", "tr_s_step"), on("fail", "tr_s_step"))
    tell.patch(on("activate", "tr_more"), on("complete", "tr_more"))
    tell.patch(on("fail", "tr_s"))


def superseding_inherits_nothing(tell: Teller) -> None:
    _two_steps(tell)
    tell.patch(step("tr_new", "Implement"), supersede("tr_b", "tr_new", "the session owns it"))
    tell.patch(on("retire", "tr_a", reason="the signature is known already"))


def evidence_keys_keep_their_meaning(tell: Teller) -> None:
    _two_steps(tell)
    tell.patch(contract("tr_a", expectedEvidence=["it shows", "a second proof"], whyNow="first"))
    tell.patch(on("activate", "tr_a"), evidence("tr_a", "ev_a", "ee1"))
    tell.patch(contract("tr_a", expectedEvidence=["it shows", "a third proof"]))
    tell.patch(on("complete", "tr_a", evidenceIds=["ev_a"]), state("pl_a", "satisfied", "ev_a"))


def a_person_s_gate_holds_until_they_open_it(tell: Teller) -> None:
    _two_steps(tell)
    shut = [gate("gate_me", "closed"), arc("gate_me", "tr_a", "read")]
    tell.correct(CorrectionType.GATE, *shut, target_id="tr_a")
    tell.correct(CorrectionType.OPEN_GATE, mark("gate_me", "open"), target_id="gate_me")
    tell.patch(on("activate", "tr_a"))


def a_person_forces_an_active_step_out_of_the_way(tell: Teller) -> None:
    _two_steps(tell)
    tell.patch(refine("tr_b", "pl_a", "pl_goal"), on("activate", "tr_a"), on("complete", "tr_a"))
    tell.patch(on("activate", "tr_b"), on("activate", "tr_b_step"), step("tr_new"))
    tell.correct(CorrectionType.SUPERSEDE, supersede("tr_b", "tr_new"), target_id="tr_b")
    tell.correct(CorrectionType.TEXT, text="不得改变现有登录协议")
    tell.correct(CorrectionType.ONLY, target_id="tr_new")


def a_changed_goal_keeps_the_old_one(tell: Teller) -> None:
    tell.alone(RootIntentSet("mend the login refresh", Level.INFERRED), Channel.SYSTEM)
    _two_steps(tell)
    tell.patch(place("pl_c", "Goal", replacesGoalId="pl_goal", reason="the test is not the aim"))
    goal = place("pl_d", "Goal", replacesGoalId="pl_c", reason="logins work again")
    tell.correct(CorrectionType.GOAL, goal, text="logins work again")


def facts_mark_gates_without_a_revision(tell: Teller) -> None:
    tell.patch(
        place("pl_a"),
        gate("gate_ci", "closed", evidenceSelectors=["test:suite=pass"]),
        *wired("tr_a", "pl_start", "pl_a"),
        arc("gate_ci", "tr_a", "read"),
    )
    tell.observe("gate_ci", FactResult.PASS)
    opened = GateMarked("gate_ci", GateState.OPEN, (next(iter(tell.net.evidence)),), 0)
    tell.alone(opened, Channel.SYSTEM)
    tell.patch(on("activate", "tr_a"))
    tell.observe("tr_a", FactResult.FAIL)
    tell.patch(on("fail", "tr_a"))


STORIES: Final[dict[str, Callable[[Teller], None]]] = {
    story.__name__: story
    for story in (
        failure_without_a_branch_returns_the_token,
        a_shell_ends_in_the_batch_that_reaches_its_exit,
        an_inside_grows_by_what_is_connected_to_it,
        superseding_inherits_nothing,
        evidence_keys_keep_their_meaning,
        a_person_s_gate_holds_until_they_open_it,
        a_person_forces_an_active_step_out_of_the_way,
        a_changed_goal_keeps_the_old_one,
        facts_mark_gates_without_a_revision,
    )
}


def told(name: str) -> Teller:
    teller = Teller()
    STORIES[name](teller)
    return teller
