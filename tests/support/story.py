"""A session told event by event: what the reconciler would commit, without the reconciler.

story = Story().started()
story.patch({"op": "create_place", "placeId": "pl_goal", "type": "Goal", "label": "…"})
story.episode(kind="test", outcome="failed", facts=[("test", "auth/refresh", "fail")])
story.session        the fold        story.envelopes      the log
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import msgspec

from wayfinder.reducer.net.decide import Committed, Decision, decide
from wayfinder.reducer.session.fold import LOGIC_VERSION, fold
from wayfinder.reducer.session.seal import Cause, seal
from wayfinder.reducer.session.stamp import stamp
from wayfinder.reducer.session.state import Session
from wayfinder.reducer.vocabulary import event as ev
from wayfinder.reducer.vocabulary.episode import Episode, Resume
from wayfinder.reducer.vocabulary.observation import SessionInfo
from wayfinder.reducer.vocabulary.patch import Actor, GraphPatch
from wayfinder.reducer.vocabulary.people import HumanIntentPatch
from wayfinder.reducer.vocabulary.terms import ActorType, Channel

T0_MS = 1_780_000_000_000
AGENT = Actor(ActorType.AGENT)
ADAPTER = Actor(ActorType.ADAPTER, "adapter")
HUMAN = Actor(ActorType.HUMAN, "human")

FAILING = {"kind": "test", "outcome": "failed"}


class Story:
    def __init__(self, session_id: str = "pi-story") -> None:
        self.session = Session(session_id)
        self.envelopes: list[ev.Envelope] = []
        self.info = SessionInfo(session_id=session_id, agent="pi", project="story")
        self.now_ms = T0_MS
        self.position = 1
        self._numbers = itertools.count(1)

    def commit(
        self,
        *payloads: ev.Payload,
        channel: Channel = Channel.OBSERVED,
        actor: Actor = ADAPTER,
        cause: str | None = None,
        batch: bool = False,
    ) -> Story:
        self.now_ms += 1_000
        before = self.session.revision
        sealed = seal(
            payloads,
            Cause(channel, actor, cause or f"cause_{next(self._numbers)}"),
            session_id=self.session.session_id,
            last_seq=self.session.seq,
            revision_before=before,
            revision_after=before + batch,
            now_ms=self.now_ms,
        )
        for envelope in sealed:
            fold(self.session, envelope)
        self.envelopes += sealed
        return self

    def started(self) -> Story:
        return self.commit(
            ev.SessionStarted(self.info, LOGIC_VERSION, "pl_start", "tok_main"),
            channel=Channel.SYSTEM,
        )

    def decide(self, *ops: dict[str, Any], base: int | None = None) -> Decision:
        number = next(self._numbers)
        patch = msgspec.convert(
            {
                "patchId": f"patch_{number}",
                "baseRevision": self.session.revision if base is None else base,
                "idempotencyKey": f"call_{number}",
                "ops": list(ops),
            },
            GraphPatch,
        )
        self.position += 1
        return decide(
            self.session.net,
            patch,
            channel=Channel.DECLARED_PATH,
            position=self.position,
            now_ms=self.now_ms,
        )

    def patch(self, *ops: dict[str, Any]) -> Committed:
        """Applies the ops as one agent's patch; fails the test if they are refused."""
        decision = self.decide(*ops)
        assert isinstance(decision, Committed), decision
        opener = decision.payloads[0]
        assert isinstance(opener, ev.PathDeclared)
        self.commit(
            *decision.payloads,
            channel=Channel.DECLARED_PATH,
            actor=AGENT,
            cause=opener.patch_id,
            batch=True,
        )
        return decision

    def prompt(self, line: str) -> Story:
        self.position += 1
        return self.commit(ev.PromptReceived(line, self.position))

    def episode(
        self,
        kind: str = "inspect",
        outcome: str = "ok",
        calls: int = 1,
        facts: Iterable[tuple[str, str, str | None]] = (),
        **fields: Any,
    ) -> Episode:
        start = self.position + 1
        self.position += calls
        episode = msgspec.convert(
            {
                "episodeId": f"ep_{start}",
                "fromPosition": start,
                "toPosition": self.position,
                "kind": kind,
                "outcome": outcome,
                "boundary": "settled",
                "coverage": "full",
                "endedAt": self.now_ms,
                "calls": calls,
                "facts": [{"kind": k, "name": n, "result": r} for k, n, r in facts],
                **fields,
            },
            Episode,
        )
        self.commit(
            stamp(self.session, episode), ev.StreamAdvanced(self.position, Resume()),
        )  # fmt: skip
        return episode

    def correct(self, type: str, **fields: Any) -> HumanIntentPatch:
        """A correction that changes no net (text, reassociate, undo of those)."""
        correction = msgspec.convert(
            {
                "correctionId": f"cor_{next(self._numbers)}",
                "sessionId": self.session.session_id,
                "type": type,
                **fields,
            },
            HumanIntentPatch,
        )
        self.commit(
            ev.HumanCorrected(correction, self.position), channel=Channel.HUMAN, actor=HUMAN
        )
        return correction


def goal(place_id: str = "pl_goal", label: str = "Login refresh works") -> dict[str, Any]:
    return {"op": "create_place", "placeId": place_id, "type": "Goal", "label": label}


def step(
    name: str = "find_cause",
    *,
    start: str = "pl_start",
    end: str = "pl_cause_known",
    type: str = "Investigate",
    activate: bool = True,
    **fields: Any,
) -> list[dict[str, Any]]:
    """The ops of one whole step from `start` to a new condition `end`."""
    transition_id = f"tr_{name}"
    ops: list[dict[str, Any]] = [
        {"op": "create_place", "placeId": end, "type": "Condition", "label": f"{name} is done"},
        {
            "op": "create_transition",
            "transitionId": transition_id,
            "type": type,
            "intent": name.replace("_", " "),
            "whyNow": "it is next",
            "expectedEvidence": ["it is seen"],
            "exitCondition": "it is known",
            **fields,
        },
        {"op": "connect", "fromId": start, "toId": transition_id, "arc": "flow"},
        {"op": "connect", "fromId": transition_id, "toId": end, "arc": "success"},
    ]
    if activate:
        ops.append({"op": "activate_transition", "transitionId": transition_id})
    return ops
