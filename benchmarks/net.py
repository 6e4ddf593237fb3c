"""The net's figures beside its peers'. Goals are ratios.

    firing rule      one validated firing (reserve, complete) on a ring: >= 5 x SNAKES modes + fire,
                     >= 1 x pm4py's semantics.execute; whole patches are told apart
    replay           SQLite read + strict decode + fold, checked, of the net alone (>= 4 x) and of
                     a whole session; eventsourcing's repository.get on the same events
    cost per patch   a patch of five ops on nets of 10 to 5,000 nodes: flat

pm4py and SNAKES live in `.venv-oracle` (`make oracle` sets it up); without it they are left out.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

from wayfinder.daemon.eventlog.reader import Reader
from wayfinder.daemon.eventlog.writer import Writer
from wayfinder.reducer.net.decide import Committed, decide
from wayfinder.reducer.net.digest import net_digest
from wayfinder.reducer.net.fold import fold
from wayfinder.reducer.net.rules import obstacles
from wayfinder.reducer.net.state import Net
from wayfinder.reducer.session.fold import replay
from wayfinder.reducer.session.seal import Cause, seal
from wayfinder.reducer.vocabulary import event as ev
from wayfinder.reducer.vocabulary import patch as op_
from wayfinder.reducer.vocabulary.codec import decode
from wayfinder.reducer.vocabulary.observation import SessionInfo
from wayfinder.reducer.vocabulary.terms import (
    ActorType,
    ArcKind,
    Channel,
    PlaceType,
    TransitionType,
)

from .result import Result, beside, interleaved, median, spread

ROOT = Path(__file__).resolve().parents[1]
ORACLE_PYTHON = ROOT / ".venv-oracle" / "bin" / "python"
FIRINGS = 20_000
PATCHES = 400
LOG_PATCHES = 1500
SIZES = (10, 100, 1000, 5000)
SESSION_ID = "pi-bench"
AGENT = op_.Actor(ActorType.AGENT)
STARTED = ev.SessionStarted(SessionInfo(SESSION_ID, "pi"), 1, "pl_start", "tok_main")

Round = Callable[[], float]  # seconds for the amount its figure names


# --- nets -------------------------------------------------------------------------------------


def step_ops(name: str, flow: str, success: str) -> tuple[op_.PatchOp, ...]:
    """Five ops: a place, a step with its contract, its arcs, and evidence of it."""
    expected = (op_.ExpectedEvidence("ee1", "the test fails in the same way twice"),)
    return (
        op_.CreatePlace(success, PlaceType.CONDITION, f"{success} is known"),
        op_.CreateTransition(
            name,
            TransitionType.INVESTIGATE,
            f"narrow {name}",
            why_now="the signature is stable",
            action="run the test with a trace",
            expected_evidence=expected,
            exit_condition="one boundary is left",
        ),
        op_.Connect(flow, name, ArcKind.FLOW),
        op_.Connect(name, success, ArcKind.SUCCESS),
        op_.AttachEvidence(name, op_.EvidenceDraft("noted", satisfies=("ee1",))),
    )


def chain_net(nodes: int) -> Net:
    """A long path of steps, the token at its start."""
    net = Net()
    fold(net, STARTED)
    for number in range(nodes // 2):
        flow = f"pl_{number}" if number else "pl_start"
        patch(net, step_ops(f"tr_{number}", flow, f"pl_{number + 1}"))
    return net


def patch(net: Net, ops: tuple[op_.PatchOp, ...]) -> Committed:
    made = op_.GraphPatch(f"patch_{net.revision}", net.revision, f"call_{net.revision}", ops)
    decision = decide(net, made, channel=Channel.DECLARED_PATH, position=0, now_ms=0)
    assert isinstance(decision, Committed), decision
    for payload in decision.payloads:
        fold(net, payload)
    return decision


# --- firing -----------------------------------------------------------------------------------


def ring() -> Net:
    net = chain_net(2)
    patch(net, (*step_ops("tr_back", "pl_1", "pl_2")[1:3],
                op_.Connect("tr_back", "pl_start", ArcKind.SUCCESS)))  # fmt: skip
    return net


def fire(net: Net, name: str) -> None:
    """The rule itself: every obstacle looked for, the token reserved, the firing ended."""
    step, token = net.transitions[name], net.tokens["tok_main"]
    assert not obstacles(net, step, token)
    firing_id = f"fi_{net.firings + 1}"
    fold(net, ev.TransitionActivated(name, "tok_main", firing_id, 0))
    assert net.tokens["tok_main"].reserved_by == name
    assert step.flow is not None and step.success is not None
    fold(net, ev.TransitionFired(name, "tok_main", firing_id, (), 0))
    fold(net, ev.TokenMoved("tok_main", step.flow, step.success, 0))


def firing_rule() -> Round:
    net = ring()

    def run() -> float:
        begun = time.perf_counter()
        for number in range(FIRINGS):
            fire(net, "tr_back" if number & 1 else "tr_0")
        return time.perf_counter() - begun

    return run


def firing_patches() -> Round:
    """The same firings as whole patches: two ops each, decided, digested and folded."""
    net = ring()

    def run() -> float:
        begun = time.perf_counter()
        for number in range(PATCHES):
            name = "tr_back" if number & 1 else "tr_0"
            patch(net, (op_.ActivateTransition(name), op_.CompleteTransition(name)))
        return (time.perf_counter() - begun) * FIRINGS / PATCHES

    return run


def peer(name: str) -> Round:
    """A peer in its own environment; each round is one line asked and one line answered."""
    command = [str(ORACLE_PYTHON), str(Path(__file__).with_name("net_peers.py")), name]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run() -> float:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(f"{FIRINGS}\n")
        child.stdin.flush()
        return float(child.stdout.readline())

    return run


# --- cost per patch ---------------------------------------------------------------------------


def patch_cost(nodes: int) -> Round:
    """Decides on patches that add a step at the end; the net itself stays as it is."""
    net = chain_net(nodes)
    net_digest(net)
    last = f"pl_{nodes // 2}"
    ops = step_ops("tr_next", last, "pl_next")
    made = op_.GraphPatch("patch_x", net.revision, "call_x", ops)

    def run() -> float:
        begun = time.perf_counter()
        for _ in range(PATCHES):
            decide(net, made, channel=Channel.DECLARED_PATH, position=0, now_ms=0)
        return time.perf_counter() - begun

    return run


# --- replay -----------------------------------------------------------------------------------


def our_log(folder: Path, patches: int) -> tuple[Path, int]:
    path, net = folder / "wayfinder.sqlite", Net()
    writer = Writer(path)
    last = 0
    with writer.transaction():
        for number in range(-1, patches):
            before = net.revision
            if number < 0:
                payloads: tuple[ev.Payload, ...] = (STARTED,)
                fold(net, STARTED)
            else:
                flow = f"pl_{number}" if number else "pl_start"
                payloads = patch(net, step_ops(f"tr_{number}", flow, f"pl_{number + 1}")).payloads
            sealed = seal(
                payloads,
                Cause(Channel.DECLARED_PATH, AGENT, f"patch_{number + 1}"),
                session_id=SESSION_ID,
                last_seq=last,
                revision_before=before,
                revision_after=net.revision,
                now_ms=0,
            )
            writer.append(SESSION_ID, sealed)
            last += len(sealed)
    writer.close()
    return path, last


def net_replay(path: Path) -> Round:
    """The net alone: chain checked, strictly decoded, folded, the last digest compared."""

    def run() -> float:
        reader = Reader.open(path)
        begun = time.perf_counter()
        net, digest = Net(), ""
        for envelope in reader.events(SESSION_ID):
            payload = decode(bytes(envelope.payload), ev.PAYLOADS[envelope.kind])
            fold(net, payload)
            if isinstance(payload, ev.PatchCommitted):
                digest = payload.net_digest
        assert net_digest(net) == digest
        spent = time.perf_counter() - begun
        reader.close()
        return spent

    return run


def our_replay(path: Path, verify: bool) -> Round:
    """The whole session: batches, episodes, receipts, positions on the page, and the net."""

    def run() -> float:
        reader = Reader.open(path)
        begun = time.perf_counter()
        session = replay(reader.events(SESSION_ID), SESSION_ID, verify=verify)
        spent = time.perf_counter() - begun
        assert session.net.revision > 0
        reader.close()
        return spent

    return run


def their_replay(folder: Path, patches: int) -> tuple[Round, int]:
    """The eventsourcing library on SQLite: the same seven events per patch, with the same facts,
    as one aggregate in its idiom. It checks no batch, no rule and no digest."""
    from eventsourcing.application import Application
    from eventsourcing.domain import Aggregate, event

    class Walk(Aggregate):
        @event("Begun")
        def __init__(self) -> None:
            self.revision = 0
            self.places: dict[str, dict[str, str]] = {}
            self.steps: dict[str, dict[str, object]] = {}
            self.evidence: dict[str, dict[str, str]] = {}

        @event("PathDeclared")
        def declare(self, patch_id: str, key: str, digest: str, count: int, position: int) -> None:
            pass

        @event("PlaceConfirmed")
        def confirm(self, place_id: str, type_: str, label: str, op_index: int) -> None:
            self.places[place_id] = {"type": type_, "label": label, "state": "unknown"}

        @event("TransitionProposed")
        def propose(
            self, step_id: str, type_: str, intent: str, why_now: str, action: str,
            expected: list[dict[str, str]], exit_condition: str, kinds: list[str], op_index: int,
        ) -> None:  # fmt: skip
            self.steps[step_id] = {
                "type": type_, "intent": intent, "why_now": why_now, "action": action,
                "expected": expected, "exit": exit_condition, "kinds": kinds, "state": "idle",
            }  # fmt: skip

        @event("ArcConnected")
        def connect(self, from_id: str, to_id: str, arc: str, op_index: int) -> None:
            step = self.steps[to_id if arc == "flow" else from_id]
            step[arc] = from_id if arc == "flow" else to_id

        @event("EvidenceAttached")
        def attach(
            self, evidence_id: str, type_: str, summary: str, at: int, source: str, owner: str,
            redaction: str, target: str, satisfies: list[str], op_index: int,
        ) -> None:  # fmt: skip
            self.evidence[evidence_id] = {"type": type_, "summary": summary, "target": target}

        @event("PatchCommitted")
        def commit(self, patch_id: str, count: int, digest: str) -> None:
            self.revision += 1

    class Walks(Application[UUID]):
        env = {  # noqa: RUF012
            "PERSISTENCE_MODULE": "eventsourcing.sqlite",
            "SQLITE_DBNAME": str(folder / "theirs.sqlite"),
        }

    walks, walk, digest = Walks(), Walk(), "sha256:" + 64 * "0"
    expected = [{"key": "ee1", "text": "the test fails in the same way twice"}]
    for n in range(patches):
        step, flow, end = f"tr_{n}", f"pl_{n}", f"pl_{n + 1}"
        walk.declare(f"patch_{n}", f"call_{n}", digest, 5, 0)
        walk.confirm(end, "Condition", f"{end} is known", 0)
        walk.propose(step, "Investigate", f"narrow {step}", "the signature is stable",
                     "run the test with a trace", expected, "one boundary is left",
                     ["inspect", "search", "run", "test", "instrument"], 1)  # fmt: skip
        walk.connect(flow, step, "flow", 2)
        walk.connect(step, end, "success", 3)
        walk.attach(f"ev_{n}", "agent_declaration", "noted", 0, f"patch_{n}", "agent",
                    "redacted", step, ["ee1"], 4)  # fmt: skip
        walk.commit(f"patch_{n}", 7, digest)
    walks.save(walk)

    def run() -> float:
        begun = time.perf_counter()
        seen = walks.repository.get(walk.id)
        spent = time.perf_counter() - begun
        assert seen.revision == patches
        return spent

    return run, 7 * patches + 1


# --- the run ----------------------------------------------------------------------------------


def firing() -> list[Result]:
    rounds = {"rule": firing_rule(), "patches": firing_patches()}
    if ORACLE_PYTHON.exists():
        rounds |= {"snakes": peer("snakes"), "pm4py": peer("pm4py")}
    spent = interleaved(rounds)
    rate = {name: FIRINGS / median(values) for name, values in spent.items()}
    steady = spread(spent["rule"])
    unit = "firings/s"
    name = "one validated firing"
    results = [
        beside(name, unit, rate["rule"], told, rate[other], steady)
        for other, told in (("snakes", "SNAKES modes + fire"), ("pm4py", "pm4py semantics.execute"))
        if other in rate
    ]
    if not results:
        results = [Result(f"{name} (peers: make oracle)", unit, rate["rule"], spread=steady)]
    whole = "one firing as a whole patch, decided and digested"
    return [*results, Result(whole, unit, rate["patches"], spread=spread(spent["patches"]))]


def replaying() -> list[Result]:
    with tempfile.TemporaryDirectory(prefix="wayfinder-bench-") as folder:
        path, events = our_log(Path(folder), LOG_PATCHES)
        theirs, their_events = their_replay(Path(folder), LOG_PATCHES)
        assert their_events == events
        spent = interleaved(
            {
                "the net": net_replay(path),
                "a whole session": our_replay(path, False),
                "a whole session, verified": our_replay(path, True),
                "eventsourcing": theirs,
            }
        )
    peer_rate = events / median(spent.pop("eventsourcing"))
    return [
        beside(
            f"replay of {name} from SQLite",
            "events/s",
            events / median(values),
            "eventsourcing repository.get",
            peer_rate,
            spread(values),
        )
        for name, values in spent.items()
    ]


def costs() -> list[Result]:
    spent = interleaved({str(nodes): patch_cost(nodes) for nodes in SIZES})
    cost = {name: median(values) / PATCHES * 1e6 for name, values in spent.items()}
    smallest = str(SIZES[0])
    return [
        beside(
            f"deciding on a patch of 5 ops, {nodes:,} nodes",
            "µs",
            cost[str(nodes)],
            f"{smallest} nodes",
            cost[smallest],
            spread(spent[str(nodes)]),
        )
        for nodes in SIZES[1:]
    ]


def run() -> list[Result]:
    return [*firing(), *replaying(), *costs()]
