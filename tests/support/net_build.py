"""Nets and patches for tests: ops as short calls, one way to submit, every invariant looked at."""

from __future__ import annotations

import json
from typing import Any

from wayfinder.reducer.net.decide import Committed, Decision, apply
from wayfinder.reducer.net.digest import full_digest, net_digest
from wayfinder.reducer.net.fold import fold
from wayfinder.reducer.net.invariants import check
from wayfinder.reducer.net.state import Net
from wayfinder.reducer.vocabulary.answer import Applied, Rejected
from wayfinder.reducer.vocabulary.codec import decode_untrusted
from wayfinder.reducer.vocabulary.event import HumanCorrected, SessionStarted
from wayfinder.reducer.vocabulary.observation import SessionInfo
from wayfinder.reducer.vocabulary.patch import GraphPatch
from wayfinder.reducer.vocabulary.people import CorrectionType, HumanIntentPatch
from wayfinder.reducer.vocabulary.terms import Channel

SESSION_ID = "pi-0001"
STARTED = SessionStarted(SessionInfo(SESSION_ID, "pi"), 1, "pl_start", "tok_main")
Op = dict[str, Any]


def new_net() -> Net:
    net = Net()
    fold(net, STARTED)
    return net


def patch_of(ops: list[Op], base: int, key: str = "call_1") -> GraphPatch:
    raw = {"patchId": f"patch_{key}", "baseRevision": base, "idempotencyKey": key, "ops": ops}
    return decode_untrusted(json.dumps(raw).encode(), GraphPatch)


def submit(
    net: Net,
    *ops: Op,
    base: int | None = None,
    channel: Channel = Channel.DECLARED_PATH,
    opener: HumanCorrected | None = None,
    now_ms: int = 0,
) -> Decision:
    """Decides and folds; whatever comes out, the net is sound and its digests agree."""
    before = net_digest(net)
    patch = patch_of(list(ops), net.revision if base is None else base, f"call_{net.revision}")
    decision = apply(net, patch, channel=channel, opener=opener, now_ms=now_ms)
    assert check(net) == []
    after = full_digest(net)
    assert net_digest(net) == after
    if isinstance(decision, Committed):
        assert decision.answer.snapshot_hash == after
        assert decision.answer.revision == net.revision
    else:
        assert after == before
    return decision


def applied(net: Net, *ops: Op, **options: Any) -> Applied:
    decision = submit(net, *ops, **options)
    assert isinstance(decision, Committed), decision
    return decision.answer


def refused(net: Net, *ops: Op, **options: Any) -> Rejected:
    decision = submit(net, *ops, **options)
    assert isinstance(decision, Rejected), decision
    return decision


def codes(net: Net, *ops: Op, **options: Any) -> list[str]:
    return [fault.code for fault in refused(net, *ops, **options).faults]


def corrected(
    net: Net,
    type_: CorrectionType,
    *ops: Op,
    target: str | None = None,
    text: str | None = None,
    correction_id: str = "cor_1",
) -> HumanIntentPatch:
    """A person's correction, as a batch with `ops` or standing alone."""
    said = HumanIntentPatch(correction_id, SESSION_ID, type_, text, target, confirmed=True)
    opener = HumanCorrected(said, 0)
    if ops:
        applied(net, *ops, channel=Channel.HUMAN, opener=opener)
    else:
        fold(net, opener)
    return said


# --- ops, shortest first ----------------------------------------------------------------------


def place(place_id: str, type_: str = "Condition", **fields: Any) -> Op:
    label = fields.pop("label", f"{type_} {place_id[3:]}")
    return {"op": "create_place", "placeId": place_id, "type": type_, "label": label, **fields}


def gate(place_id: str, state: str = "open", **fields: Any) -> Op:
    return place(place_id, "Gate", gateState=state, **fields)


def step(transition_id: str, type_: str = "Investigate", **fields: Any) -> Op:
    """With all that activation asks for, unless a field is given as None."""
    full = {
        "intent": f"do {transition_id[3:]}",
        "expectedEvidence": [{"key": "ee1", "text": "it shows"}],
        "exitCondition": "it is shown",
        **fields,
    }
    given = {name: value for name, value in full.items() if value is not None}
    return {"op": "create_transition", "transitionId": transition_id, "type": type_, **given}


def arc(from_id: str, to_id: str, kind: str) -> Op:
    return {"op": "connect", "fromId": from_id, "toId": to_id, "arc": kind}


def wired(name: str, flow: str, success: str, failure: str = "", **fields: Any) -> list[Op]:
    """A step with its arcs; the places must exist."""
    ops = [step(name, **fields), arc(flow, name, "flow"), arc(name, success, "success")]
    return [*ops, arc(name, failure, "failure")] if failure else ops


def on(op: str, transition_id: str, **fields: Any) -> Op:
    """`on("activate", "tr_a")`: any op about one transition."""
    return {"op": f"{op}_transition", "transitionId": transition_id, **fields}


def contract(transition_id: str, **fields: Any) -> Op:
    return {"op": "set_transition_contract", "transitionId": transition_id, **fields}


def state(place_id: str, value: str, *evidence_ids: str) -> Op:
    ids = list(evidence_ids)
    return {"op": "set_place_state", "placeId": place_id, "state": value, "evidenceIds": ids}


def mark(place_id: str, value: str, *evidence_ids: str) -> Op:
    ids = list(evidence_ids)
    return {"op": "mark_gate", "placeId": place_id, "gateState": value, "evidenceIds": ids}


def evidence(target_id: str, evidence_id: str, *satisfies: str, **fields: Any) -> Op:
    draft = {"summary": "seen", "evidenceId": evidence_id, "satisfies": list(satisfies), **fields}
    return {"op": "attach_evidence", "targetId": target_id, "evidence": draft}


def supersede(old: str, new: str, reason: str = "a better way") -> Op:
    return {
        "op": "supersede_transition",
        "oldTransitionId": old,
        "newTransitionId": new,
        "reason": reason,
    }


def refine(shell: str, flow: str, success: str, failure: str = "", **fields: Any) -> Op:
    """Inside: `<shell>_in` → `<shell>_step` → `<shell>_ok`, and `<shell>_bad` on failure."""
    stem = shell[3:]
    entry, exit_, bad, inner = f"pl_{stem}_in", f"pl_{stem}_ok", f"pl_{stem}_bad", f"tr_{stem}_step"
    subnet = {
        "places": [place(entry), place(exit_), place(bad)],
        "transitions": [step(inner)],
        "arcs": [arc(entry, inner, "flow"), arc(inner, exit_, "success"),
                 arc(inner, bad, "failure")],
    }  # fmt: skip
    maps: Op = {"entryMap": {flow: entry}, "successExitMap": {success: exit_}}
    if failure:
        maps["failureExitMap"] = {failure: bad}
    return on("refine", shell, subnet=subnet, **maps, **fields)
