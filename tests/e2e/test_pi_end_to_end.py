"""Real Pi agents, old and new, through the real daemon, to what a person reads."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pi_harness
import pytest
import refresh_story
from pi_harness import Home, Pi, as_person, cli
from scripted_model import Patient, ScriptedModel, text_of

from wayfinder.clients.demo.own_daemon import OwnDaemon
from wayfinder.daemon.eventlog.reader import Reader
from wayfinder.reducer.session.fold import fold
from wayfinder.reducer.session.state import Session
from wayfinder.reducer.vocabulary.terms import TransitionState

pytestmark = pytest.mark.node

TOOL = "update_action_path"
SCREEN = ("northStar", "now", "why", "next", "watch", "expected", "ifFails", "setAside")
COMMIT_S = 60  # gross: how long a commit may take before the test gives up


@pytest.fixture(scope="module")
def daemon() -> Iterator[OwnDaemon]:
    with OwnDaemon() as running:
        pi_harness.await_adapter(running.sock)
        yield running


def call(number: int, name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": f"call_{number}"}


def work(pi: Pi, home: Home, repo: Path, daemon: OwnDaemon, turns: list[Any], *prompts: str) -> int:
    """One `pi -p` run to its end; returns how many idle calls it took to wait for answers."""
    patient = Patient(turns)
    with ScriptedModel(patient.turns) as model:
        home.speak_to(model.base_url)
        env = {"WAYFINDER_AGENT_SOCK": str(daemon.sock)}
        run = pi_harness.run(pi, home, repo, *(prompts or (refresh_story.PROMPT,)), env=env)
    assert (run.code, run.err, model.failures) == (0, "", [])
    return patient.waits


def newest(daemon: OwnDaemon) -> str:
    reader = Reader.open(daemon.paths.database)
    try:
        return max(reader.sessions(), key=lambda row: row.started_ts).session_id
    finally:
        reader.close()


def folded(daemon: OwnDaemon, session_id: str) -> Session:
    reader = Reader.open(daemon.paths.database)
    try:
        session = Session(session_id)
        for envelope in reader.events(session_id):
            fold(session, envelope)
        return session
    finally:
        reader.close()


def settled(daemon: OwnDaemon, times: int = 1) -> Session:
    """The newest session once its last reply is committed."""
    until = time.monotonic() + COMMIT_S
    while True:
        reader = Reader.open(daemon.paths.database)
        rows = reader.sessions()
        reader.close()
        if rows:
            session = folded(daemon, newest(daemon))
            if session.settled is not None and session.prompt_count >= times:
                return session
        assert time.monotonic() < until, "nothing was committed"
        time.sleep(0.05)


def node_ids(turns: list[dict[str, Any]]) -> set[str]:
    """What the script's patches create, and nothing else may exist but the start."""
    created = {"pl_start"}
    for turn in turns:
        for each in turn.get("calls", []):
            for op in each["args"].get("ops", []):
                created |= {op[key] for key in ("placeId", "transitionId")
                            if op["op"].startswith("create_") and key in op}  # fmt: skip
    return created


def test_the_story_reaches_the_person(pi: Pi, home: Home, repo: Path, daemon: OwnDaemon) -> None:
    """22 calls make no node; the failure counts 3; the abandoned branch and NOW are as declared."""
    turns = refresh_story.turns()
    waits = work(pi, home, repo, daemon, turns)
    session = settled(daemon)
    net = session.net
    assert {*net.places, *net.transitions} == node_ids(turns)
    assert session.info is not None
    assert session.info.agent_version == pi.version
    calls = sum(record.episode.calls for record in session.episode_list())
    assert calls == refresh_story.TOOL_CALLS + waits
    counts: dict[str, int] = {}
    for record in session.episode_list():
        for seen in record.episode.signatures:
            digest = seen.signature.digest
            counts[digest] = counts.get(digest, 0) + seen.count
    assert list(counts.values()) == [3]
    old = net.transitions["tr_client_fix"]
    assert old.state is TransitionState.SUPERSEDED
    assert old.superseded_by == "tr_session_fix"
    active = net.active_transition()
    assert active is not None
    assert active.transition_id == "tr_verify"
    cli(daemon.environment, "replay", session.session_id, "--verify")
    brief = json.loads(cli(daemon.environment, "brief", session.session_id, "--json"))
    told = {name: (brief[name]["text"], brief[name]["source"]) for name in SCREEN}
    assert told["northStar"] == ("Login survives a token refresh, with proof", "declared")
    assert told["now"] == ("Run the regression suite and look for side effects", "declared")
    assert told["why"][0].startswith("The refresh test passes; now the old logins must")
    assert told["next"][0].startswith("Hand over the repair")
    assert "else Narrow the repair" in told["next"][0]
    assert told["ifFails"] == ("Narrow the repair to the refresh handler", "declared")
    assert told["setAside"][0].startswith("Keep the new token on the client (Two client changes")
    assert brief["alignment"] == "aligned"


def test_the_path_goes_on_with_the_next_prompt(
    pi: Pi, home: Home, repo: Path, daemon: OwnDaemon
) -> None:
    """A second prompt in the same run ends in a verified place and a claimed end."""
    turns = refresh_story.turns(to_the_end=True)
    work(pi, home, repo, daemon, turns, refresh_story.PROMPT, refresh_story.PROMPT_ON)
    session = settled(daemon, times=2)
    verify = session.net.transitions["tr_verify"]
    assert verify.state is TransitionState.COMPLETED
    assert session.net.active_transition() is None


def test_the_examples_in_the_tool_work(pi: Pi, home: Home, repo: Path, daemon: OwnDaemon) -> None:
    """A model that copies both examples of the prompt gets both applied."""

    def first(messages: list[dict[str, Any]]) -> dict[str, Any]:
        (tool,) = [t["function"] for t in model.requests[0]["tools"]
                   if t["function"]["name"] == TOOL]  # fmt: skip
        text = tool["description"]
        start = text.index('{"ops":')
        ops, _ = json.JSONDecoder().raw_decode(text[start:])
        return {"calls": [call(1, TOOL, **ops)]}

    def second(messages: list[dict[str, Any]]) -> dict[str, Any]:
        prompt = text_of(messages)[0]
        text = prompt[prompt.index(f"Example of a later {TOOL} call: ") :]
        ops, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
        return {"calls": [call(2, TOOL, **ops)], "expect": ["applied; path revision 1."]}

    patient = Patient([first, second, {"text": "done", "expect": ["applied; path revision 2."]}])
    with ScriptedModel(patient.turns) as model:
        home.speak_to(model.base_url)
        env = {"WAYFINDER_AGENT_SOCK": str(daemon.sock)}
        run = pi_harness.run(pi, home, repo, "Go", env=env)
    assert (run.code, model.failures) == (0, [])


def test_empty_ops_read_the_path_back(pi: Pi, home: Home, repo: Path, daemon: OwnDaemon) -> None:
    """Revision, token, active step and ids stand in the tool's answer; nothing advances."""
    turns = [
        {"calls": [call(1, TOOL, ops=[])]},
        {"calls": [call(2, TOOL, ops=refresh_story.START)],
         "expect": ["path revision 0.", "tok_main stands on pl_start"]},
        {"calls": [call(3, TOOL, ops=[])]},
        {"text": "done", "expect": ["path revision 1.", "reserved by the active tr_reproduce",
                                    "tr_client_fix", "pl_verified"]},
    ]  # fmt: skip
    work(pi, home, repo, daemon, turns)


def test_a_mended_patch_is_taken(pi: Pi, home: Home, repo: Path, daemon: OwnDaemon) -> None:
    """A wrong arc is refused with what exists; the same declaration, mended, applies."""
    wrong = [op if op.get("toId") != "tr_reproduce" else {**op, "fromId": "pl_strat"}
             for op in refresh_story.START]  # fmt: skip
    turns = [
        {"calls": [call(1, TOOL, ops=wrong)]},
        {"calls": [call(2, TOOL, ops=refresh_story.START)],
         "expect": ["rejected; nothing was changed", "unknown_id at $.ops[", "pl_start"]},
        {"text": "done", "expect": ["applied; path revision 1."]},
    ]  # fmt: skip
    work(pi, home, repo, daemon, turns)


def test_a_correction_is_in_the_agent_s_next_requests(
    pi: Pi, home: Home, repo: Path, daemon: OwnDaemon
) -> None:
    """A person's line at a terminal reaches the running agent, is receipted, and stays."""
    words = "First look at the session layer, not the client"
    shown: list[str] = []

    def correct(_: list[dict[str, Any]]) -> dict[str, Any]:
        shown.append(as_person(daemon.environment, "correct", words, "--no-start"))
        return {"calls": [call(2, "bash", command="true")]}

    def arrives(messages: list[dict[str, Any]]) -> dict[str, Any]:
        there = words in "\n".join(text_of(messages))
        calls = [call(100 + len(messages), "bash", command="sleep 0.05")]
        return {"again": not there, "calls": calls}

    turns = [
        {"calls": [call(1, TOOL, ops=refresh_story.START)]},
        correct,
        arrives,
        {"text": "done", "expect": [words, "Standing corrections from the person"]},
    ]
    work(pi, home, repo, daemon, turns)
    session = settled(daemon)
    (correction,) = session.corrections.values()
    assert correction.correction.text == words, shown
    assert correction.receipts, shown


def test_a_daemon_killed_in_the_middle_loses_nothing(
    pi: Pi, home: Home, repo: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """kill -9 of the supervisor while Pi works: after its restart the log is whole.

    What was declared meanwhile is applied, and the model is told before it declares again.
    """
    story = refresh_story.turns()
    with OwnDaemon(tmp_path_factory.mktemp("d")) as daemon:
        pi_harness.await_adapter(daemon.sock)

        def kill(_: list[dict[str, Any]]) -> dict[str, Any]:
            os.kill(daemon.pid, signal.SIGKILL)
            daemon.stop()
            return story[6]

        def restart(_: list[dict[str, Any]]) -> dict[str, Any]:
            daemon.start()
            pi_harness.await_adapter(daemon.sock)
            return story[12]

        # While the daemon is away nobody waits for its answers.
        before, after = Patient(story[:6]), Patient(story[13:])
        turns = [*before.turns, kill, *story[7:12], restart, *after.turns]
        with ScriptedModel(turns) as model:
            home.speak_to(model.base_url)
            env = {"WAYFINDER_AGENT_SOCK": str(daemon.sock)}
            run = pi_harness.run(pi, home, repo, refresh_story.PROMPT, env=env)
        assert (run.code, run.err, model.failures) == (0, "", [])
        session = settled(daemon)
        calls = sum(record.episode.calls for record in session.episode_list())
        assert calls == refresh_story.TOOL_CALLS + before.waits + after.waits
        assert session.net.revision == refresh_story.PATCHES
        cli(daemon.environment, "replay", session.session_id, "--verify")
