"""Declared against observed with real Pi agents: drift, a person's word, and what became of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pi_harness
import pytest
from pi_harness import Home, Pi, as_person, cli
from scripted_model import ScriptedModel, text_of

from wayfinder.clients.demo.own_daemon import OwnDaemon
from wayfinder.daemon.eventlog.reader import Reader
from wayfinder.reducer.alignment.tensions import tensions
from wayfinder.reducer.alignment.verdict import history, verdict
from wayfinder.reducer.session.fold import replay
from wayfinder.reducer.session.state import Session
from wayfinder.reducer.vocabulary.people import ReceiptStage
from wayfinder.reducer.vocabulary.terms import AlignmentStatus

pytestmark = pytest.mark.node

TOOL = "update_action_path"
COMMIT_S = 60  # gross: how long a commit may take before the test gives up
READS = 12  # the cap of one episode

START = [
    {"op": "create_place", "placeId": "pl_fixed", "type": "Condition", "label": "it is mended"},
    {"op": "create_place", "placeId": "pl_seen", "type": "Condition", "label": "it is understood"},
    {"op": "create_transition", "transitionId": "tr_fix", "type": "Implement",
     "intent": "mend the session layer", "expectedEvidence": ["the refresh test passes"],
     "exitCondition": "the test passes"},
    {"op": "create_transition", "transitionId": "tr_look", "type": "Investigate",
     "intent": "look at the client", "expectedEvidence": ["the token is lost there"],
     "exitCondition": "one place is known"},
    {"op": "connect", "fromId": "pl_start", "toId": "tr_fix", "arc": "flow"},
    {"op": "connect", "fromId": "tr_fix", "toId": "pl_fixed", "arc": "success"},
    {"op": "connect", "fromId": "pl_start", "toId": "tr_look", "arc": "flow"},
    {"op": "connect", "fromId": "tr_look", "toId": "pl_seen", "arc": "success"},
    {"op": "activate_transition", "transitionId": "tr_fix", "tokenId": "tok_main"},
]  # fmt: skip
LEAVE = [
    {"op": "fail_transition", "transitionId": "tr_fix", "tokenId": "tok_main", "evidenceIds": []},
    {"op": "activate_transition", "transitionId": "tr_look", "tokenId": "tok_main"},
]


@pytest.fixture(scope="module")
def daemon() -> Iterator[OwnDaemon]:
    with OwnDaemon() as running:
        pi_harness.await_adapter(running.sock)
        yield running


def call(number: int, name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": f"call_{number}"}


def reads(first: int) -> dict[str, Any]:
    """One reply that fills an episode with reading."""
    files = ("client.py", "server.py", "session.py", "README.md")
    return {"calls": [call(first + n, "read", path=files[n % len(files)]) for n in range(READS)]}


def work(pi: Pi, home: Home, repo: Path, daemon: OwnDaemon, turns: list[Any]) -> Session:
    """One `pi -p` run, and its session once the last reply is committed."""
    with ScriptedModel(turns) as model:
        home.speak_to(model.base_url)
        env = {"WAYFINDER_AGENT_SOCK": str(daemon.sock)}
        run = pi_harness.run(pi, home, repo, "Mend login refresh", env=env)
    assert (run.code, run.err, model.failures) == (0, "", [])
    until = time.monotonic() + COMMIT_S
    while True:
        session = newest(daemon)
        if session is not None and session.settled is not None:
            return session
        assert time.monotonic() < until, "nothing was committed"
        time.sleep(0.05)


def newest(daemon: OwnDaemon) -> Session | None:
    reader = Reader.open(daemon.paths.database)
    try:
        rows = sorted(reader.sessions(), key=lambda row: row.started_ts)
        return replay(reader.events(rows[-1].session_id), rows[-1].session_id) if rows else None
    finally:
        reader.close()


def await_receipt(daemon: OwnDaemon, stage: ReceiptStage) -> None:
    until = time.monotonic() + COMMIT_S
    while True:
        session = newest(daemon)
        assert session is not None
        (record,) = session.corrections.values()
        if any(receipt.stage is stage for receipt in record.receipts):
            return
        assert time.monotonic() < until, f"never {stage}"
        time.sleep(0.02)


def test_drift_is_flagged_at_the_exact_episode(
    pi: Pi, home: Home, repo: Path, daemon: OwnDaemon
) -> None:
    """Declared mending, only reading: pending, pending, lagging at the third; and why, in words."""
    turns = [{"calls": [call(1, TOOL, ops=START)]}, reads(100), reads(200), reads(300),
             {"text": "done"}]  # fmt: skip
    session = work(pi, home, repo, daemon, turns)
    assert [each.status for each in history(session).values()] == [
        AlignmentStatus.PENDING,
        AlignmentStatus.PENDING,
        AlignmentStatus.LAGGING,
    ]
    third = list(session.episodes)[2]
    assert verdict(session).since_id == third
    assert [each.kind for each in tensions(session)] == ["work_of_other_kind"]
    told = cli(daemon.environment, "why", "--session", session.session_id)
    assert "lagging" in told
    assert "rule 5 of 6" in told
    assert third in told


@pytest.mark.parametrize("listens", [True, False])
def test_a_correction_is_obeyed_or_violated(
    pi: Pi, home: Home, repo: Path, daemon: OwnDaemon, listens: bool
) -> None:
    """The denial diverges the path at once, stands in the very next request, and is receipted by
    what the agent does then."""
    shown: list[str] = []
    words = "Not this step: look at the client first"

    def correct(_: list[dict[str, Any]]) -> dict[str, Any]:
        shown.append(as_person(daemon.environment, "correct", "--wrong-step", "--no-start", words))
        session = newest(daemon)
        assert session is not None
        assert (verdict(session).status, verdict(session).clause) == ("diverged", 1), shown
        # Not answered before the person's words were handed over: the next request must hold them.
        await_receipt(daemon, ReceiptStage.SENT)
        return {"calls": [call(2, "bash", command="true")]}

    def arrives(messages: list[dict[str, Any]]) -> dict[str, Any]:
        assert words in "\n".join(text_of(messages)), "the very next request"
        return act

    act = {"calls": [call(3, TOOL, ops=LEAVE)]} if listens else reads(500)
    turns = [
        {"calls": [call(1, TOOL, ops=START)]},
        correct,
        arrives,
        reads(600),
        {"text": "done", "expect": [words] if not listens else []},
    ]
    session = work(pi, home, repo, daemon, turns)
    (record,) = session.corrections.values()
    stages = [receipt.stage for receipt in record.receipts]
    assert stages[:2] == [ReceiptStage.SENT, ReceiptStage.IN_TURN], shown
    if listens:
        assert stages[-2:] == [ReceiptStage.ACKNOWLEDGED, ReceiptStage.OBEYED]
        assert verdict(session).status is AlignmentStatus.ALIGNED
    else:
        assert stages[-1] is ReceiptStage.VIOLATED
        assert ReceiptStage.ACKNOWLEDGED not in stages
        assert verdict(session).status is AlignmentStatus.DIVERGED
