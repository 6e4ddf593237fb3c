"""A second net, written to be obviously right and nothing else: sets, copies, brute force.

It shares no code and no structure with the product: arcs are one set of triples, a patch is tried
on a deep copy, ops are raw JSON. `submit` says "applied", "unchanged", "read", "conflict", or the
code of the first fault. Tests hold the product to it.
"""

from __future__ import annotations

import copy
from typing import Any

Op = dict[str, Any]
DEAD = ("retired", "superseded")


class Naive:
    def __init__(self) -> None:
        self.revision = self.changes = 0
        self.places: dict[str, str] = {"pl_start": "Condition"}  # id → type
        self.state: dict[str, str] = {"pl_start": "satisfied"}  # of places and gates
        self.steps: dict[str, str] = {}  # id → status
        self.contract: dict[str, dict[str, Any]] = {}
        self.arcs: set[tuple[str, str, str]] = set()  # (kind, place, step)
        self.inside: dict[str, str] = {}  # node → shell
        self.shells: dict[str, list[str]] = {}  # entry, exit, and the failure exit if any
        self.at, self.held, self.goal, self.human = "pl_start", "", "", False
        self.evidence: dict[str, tuple[str, set[str]]] = {}  # id → target, keys
        self.cited: dict[str, set[str]] = {}
        self.touched: dict[str, int] = {}  # node → revision of its last structural change

    def submit(self, ops: list[Op], base: int, human: bool = False) -> str:
        if not ops or base > self.revision:
            return "revision_ahead" if ops else "read"
        stale = any(self.touched.get(name, 0) > base for op in ops for name in strings(op))
        bound = base < self.revision and any(op["op"] != "attach_evidence" for op in ops)
        if bound and (stale or not human):
            return "conflict"
        trial = copy.deepcopy(self)
        trial.changes, trial.human = 0, human
        for op in ops:
            if code := trial.unknown(op) or getattr(trial, op["op"])(op):
                return code
        if trial.changes:
            trial.revision += 1
            self.__dict__ = trial.__dict__
        return "applied" if trial.changes else "unchanged"

    def unknown(self, op: Op) -> str:
        nodes = {*self.places, *self.steps}
        new = op.get("placeId" if op["op"] == "create_place" else "transitionId")
        if op["op"] in ("create_place", "create_transition"):
            return "id_taken" if new in nodes | {"tok_main"} else ""
        steps = [op[k] for k in ("transitionId", "oldTransitionId", "newTransitionId") if k in op]
        known = set(steps) <= set(self.steps) and op.get("placeId", "pl_start") in self.places
        any_ = {op.get(k, "pl_start") for k in ("fromId", "toId", "targetId")}
        return "" if known and any_ <= nodes else "unknown_id"

    def to(self, kind: str, step: str) -> str:
        return next((p for k, p, s in self.arcs if k == kind and s == step), "")

    def met(self, place: str) -> bool:
        return self.state[place] == ("open" if self.places[place] == "Gate" else "satisfied")

    def obstacle(self, step: str) -> str:
        reads = [p for k, p, s in self.arcs if k == "read" and s == step]
        if self.steps[step] in DEAD or not (self.to("flow", step) and self.to("success", step)):
            return "not_live" if self.steps[step] in DEAD else "arity"
        if self.to("flow", step) != self.at or not all(map(self.met, reads)):
            return "not_enabled"
        return "" if not self.held else "token_reserved" if self.held == step else "already_active"

    def enabled(self) -> set[str]:
        return {step for step in self.steps if not self.obstacle(step)}

    def change(self, *nodes: str) -> str:
        self.changes += 1
        self.touched |= dict.fromkeys(nodes, self.revision + 1)
        return ""

    def create_place(self, op: Op) -> str:
        name, kind, old = op["placeId"], op["type"], op.get("replacesGoalId", "")
        if (kind == "Gate") != ("gateState" in op):
            return "gate_state_missing" if kind == "Gate" else "gate_state_misplaced"
        if old and (kind != "Goal" or old != self.goal):
            return "goal_unknown"
        if kind == "Goal" and self.goal and not (old and "reason" in op):
            return "goal_exists"
        self.goal = name if kind == "Goal" else self.goal
        self.places[name], self.state[name] = kind, op.get("gateState", "unknown")
        return self.change(name, *[old] * bool(old))

    def create_transition(self, op: Op) -> str:
        name = op["transitionId"]
        self.steps[name], self.contract[name] = "idle", {"expectedEvidence": [], **op}
        return self.change(name)

    def connect(self, op: Op) -> str:
        kind, ends = op["arc"], [op["fromId"], op["toId"]]
        place, step = ends if kind in ("flow", "read") else ends[::-1]
        if place not in self.places or step not in self.steps:
            return "not_bipartite"
        if self.steps[step] in DEAD or (kind, place, step) in self.arcs:
            return "not_live" if self.steps[step] in DEAD else "arc_exists"
        if kind != "read" and self.to(kind, step):
            return "arity"
        home, away = self.inside.get(step), self.inside.get(place)
        if home != away and not (kind == "read" and not away):
            tied = {self.at} | {p for _, p, _ in self.arcs}
            busy = {s for k, _, s in self.arcs if k != "read"}
            joins = home and not away and place not in tied and self.places[place] != "Goal"
            taken = away and not home and step not in busy and step not in self.shells
            if kind == "read" or not (joins or taken):
                return "crosses_refinement"
            self.inside |= {place: home} if joins and home else {step: away or ""}
        self.arcs.add((kind, place, step))
        return self.change(step)

    def set_place_state(self, op: Op) -> str:
        name, cites, gate = op["placeId"], set(op.get("evidenceIds", [])), op["op"] == "mark_gate"
        state = op["gateState"] if gate else op["state"]
        if (self.places[name] == "Gate") != gate:
            return "not_a_gate" if gate else "is_a_gate"
        if (not gate and state != "unknown" and not cites) or not cites <= set(self.evidence):
            return "evidence_unknown" if cites else "evidence_required"
        before = (self.state[name], set(self.cited.setdefault(name, set())))
        self.state[name] = state
        self.cited[name] |= cites
        return self.change(name) if before != (state, self.cited[name]) else ""

    mark_gate = set_place_state

    def set_transition_contract(self, op: Op) -> str:
        name, fields = op["transitionId"], {k: op[k] for k in op if k not in ("op", "transitionId")}
        if not fields or self.steps[name] in DEAD:
            return "not_live" if fields else "contract_empty"
        if "expectedEvidence" in fields:
            used = set().union(*(keys for to, keys in self.evidence.values() if to == name))
            kept = [e for e in self.contract[name]["expectedEvidence"] if e["key"] in used]
            if any(expected not in fields["expectedEvidence"] for expected in kept):
                return "evidence_key_in_use"
            if not fields["expectedEvidence"] and self.steps[name] == "active" and not self.human:
                return "contract_incomplete"
        changed = any(self.contract[name].get(k) != v for k, v in fields.items())
        self.contract[name] |= fields
        return self.change(name) if changed else ""

    def activate_transition(self, op: Op) -> str:
        name, contract = op["transitionId"], self.contract[op["transitionId"]]
        complete = contract["expectedEvidence"] and "exitCondition" in contract
        if self.obstacle(name) or not (complete or self.human):
            return self.obstacle(name) or "contract_incomplete"
        self.steps[name] = "active"
        self.held = "" if name in self.shells else name
        self.at = self.shells[name][0] if name in self.shells else self.at
        return self.change(name)

    def complete_transition(self, op: Op) -> str:
        name, ok = op["transitionId"], op["op"] == "complete_transition"
        if name in self.shells and (ok or self.inside.get(self.at) != name or self.held):
            within = self.inside.get(self.at) == name
            failed = "shell_child_active" if within else "not_active"
            return "shell_not_completable" if ok else failed
        if name not in self.shells and self.held != name:
            return "not_active"
        if not set(op.get("evidenceIds", [])) <= set(self.evidence):
            return "evidence_unknown"
        self.end(name, ok)
        shell = self.inside.get(self.at, "")
        if self.at in self.shells.get(shell, [])[1:]:
            self.end(shell, self.at == self.shells[shell][1])
        return ""

    fail_transition = complete_transition

    def end(self, step: str, ok: bool) -> None:
        self.steps[step], self.held = "completed" if ok else "failed", ""
        self.at = self.to("success" if ok else "failure", step) or self.to("flow", step)
        self.change(step)

    def retire_transition(self, op: Op) -> str:
        name = op["transitionId"]
        if self.steps[name] in (*DEAD, "active"):
            return "is_active" if self.steps[name] == "active" else "not_live"
        self.steps[name] = "retired"
        return self.change(name)

    def supersede_transition(self, op: Op) -> str:
        old, new = op["oldTransitionId"], op["newTransitionId"]
        if self.steps[old] in DEAD or self.steps[new] in DEAD or old == new:
            return "not_live"
        ended = [old]
        if self.steps[old] == "active":
            if not self.human:
                return "is_active"
            ended, self.at, self.held = [self.held or old, old], self.to("flow", old), ""
        self.steps |= dict.fromkeys(ended, "superseded")
        return self.change(*ended)

    def refine_transition(self, op: Op) -> str:
        name, net = op["transitionId"], op["subnet"]
        if self.steps[name] in (*DEAD, "active"):
            return "is_active" if self.steps[name] == "active" else "not_live"
        if name in self.inside or name in self.shells:
            return "refinement_nested"
        flow, ok, bad = (self.to(kind, name) for kind in ("flow", "success", "failure"))
        maps = {"entryMap": flow, "successExitMap": ok, "failureExitMap": bad or flow}
        ends = [op[field].get(outer, "") for field, outer in maps.items() if field in op]
        members = [place["placeId"] for place in net["places"]]
        if not flow or not ok or not set(ends) <= set(members) or len(set(ends)) < len(ends):
            return "refinement_invalid"
        members += [step["transitionId"] for step in net["transitions"]]
        for part in (*net["places"], *net["transitions"], *net["arcs"]):
            outer = {part.get("fromId"), part.get("toId")} - {None, *members}
            known = outer <= {*self.places, *self.steps}
            reads = part.get("arc") == "read" and part["toId"] in members
            if outer and known and not (reads and outer <= {*self.places} - {*self.inside}):
                return "crosses_refinement"
            if code := self.unknown(part) or getattr(self, part["op"])(part):
                return code
        self.inside |= dict.fromkeys(members, name)
        self.shells[name] = ends
        return self.change(name)

    def attach_evidence(self, op: Op) -> str:
        target, draft, name = op["targetId"], op["evidence"], op["evidence"]["evidenceId"]
        keys = {e["key"] for e in self.contract.get(target, {}).get("expectedEvidence", [])}
        if not (fits := set(draft.get("satisfies", [])) <= keys) or name in self.evidence:
            return "id_taken" if fits else "evidence_key_unknown"
        self.evidence[name] = (target, set(draft.get("satisfies", [])))
        self.cited.setdefault(target, set()).add(name)
        return self.change()


def strings(value: Any) -> set[str]:
    inner = [*value, *value.values()] if isinstance(value, dict) else value
    return {value} if isinstance(value, str) else set().union(*map(strings, inner))
