"""The extension in real Pi agents, old and new, beside a stand-in for the daemon."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pi_harness
import pytest
from fake_adapter import FakeAdapter, Frame
from pi_harness import Home, Pi, drive
from scripted_model import ScriptedModel, text_of

from wayfinder.daemon import paths

pytestmark = pytest.mark.node

TOOL = "update_action_path"
OPS: list[dict[str, Any]] = [
    {"op": "create_place", "placeId": "pl_a", "type": "Condition", "label": "A"}
]


def call(number: int, name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": f"call_{number}"}


def play(
    pi: Pi, home: Home, cwd: Path, turns: list[Any], sock: Path, *prompts: str, **env: str
) -> tuple[pi_harness.Run, ScriptedModel]:
    with ScriptedModel(turns) as model:
        home.speak_to(model.base_url)
        run = pi_harness.run(
            pi, home, cwd, *(prompts or ("Go",)), env={"WAYFINDER_AGENT_SOCK": str(sock), **env}
        )
    return run, model


WORK = [
    {"calls": [call(1, TOOL, ops=OPS), call(2, "bash", command="echo one; exit 3")]},
    {"calls": [call(3, "read", path="README.md"), call(4, "nosuch")]},
    {"calls": [call(5, TOOL, ops=[])]},
    {"text": "the same answer"},
]


@pytest.mark.parametrize("mood", ["absent", "healthy", "dies", "deaf", "silent", "wrong_version"])
def test_pi_works_the_same_whatever_the_daemon_does(
    pi: Pi, home: Home, repo: Path, sock: Path, mood: str
) -> None:
    """Daemon away, dying, not reading, never answering, too new: Pi exits 0 with its answer."""
    if mood == "absent":
        run, model = play(pi, home, repo, WORK, sock)
    else:
        with FakeAdapter(sock, mood):
            run, model = play(pi, home, repo, WORK, sock)
    assert (run.code, run.out, model.failures) == (0, "the same answer\n", [])
    assert ("version" in run.err) == (mood == "wrong_version")


@pytest.mark.parametrize("mood", ["deaf", "silent", "absent"])
def test_all_waiting_of_a_run_comes_out_of_one_purse(sock: Path, mood: str) -> None:
    """Forty declarations that nobody answers cost about as much as one."""
    env = {"WAYFINDER_AGENT_SOCK": str(sock)}
    if mood == "absent":
        waited = drive("patience", "40", env=env)["waited_ms"]
    else:
        with FakeAdapter(sock, mood):
            waited = drive("patience", "40", env=env)["waited_ms"]
    assert isinstance(waited, float)
    assert waited < 2_000  # the purse is 150; forty waits would be 6,000


def test_results_come_in_the_order_of_the_calls(pi: Pi, home: Home, repo: Path, sock: Path) -> None:
    """Parallel calls that end in another order are still reported in source order."""
    calls = [
        call(1, "bash", command="sleep 0.3; echo slow"),
        call(2, TOOL, ops=OPS),
        call(3, "bash", command="echo quick"),
    ]
    with FakeAdapter(sock) as adapter:
        play(pi, home, repo, [{"calls": calls}, {"text": "done"}], sock)
    assert [f["callId"] for f in adapter.events("call_end")] == ["call_1", "call_3"]
    assert [f["seq"] for f in adapter.frames] == list(range(1, len(adapter.frames) + 1))
    names = [f.get("ev", f["t"]) for f in adapter.frames]
    assert names.index("patch") < names.index("call_end")
    (reply, _) = adapter.events("reply")
    assert reply["calls"] == ["call_1", "call_2", "call_3"]
    assert reply["patches"] == ["call_2"]
    assert names[0] == "prompt"
    assert names[-2:] == ["settled", "shutdown"]


def test_failures_are_told_apart(pi: Pi, home: Home, repo: Path, sock: Path) -> None:
    """A failed command, an unknown tool and a refused edit arrive with their own texts."""
    calls = [
        call(1, "bash", command="echo out; exit 3"),
        call(2, "nosuch"),
        call(3, "edit", path="README.md", edits=[{"oldText": "not there", "newText": "x"}]),
    ]
    with FakeAdapter(sock) as adapter:
        play(pi, home, repo, [{"calls": calls}, {"text": "done"}], sock)
    ends = adapter.events("call_end")
    assert [f["isError"] for f in ends] == [True, True, True]
    assert ends[0]["text"].endswith("Command exited with code 3")
    assert ends[0]["args"] == {"command": "echo out; exit 3"}
    assert ends[1]["text"] == "Tool nosuch not found"
    assert ends[2]["args"] == {"path": "README.md"}
    assert all(len(f["leaf"]) == 8 for f in ends)


def test_the_model_is_told_when_to_declare_and_what_never_to_write(
    pi: Pi, home: Home, repo: Path, sock: Path
) -> None:
    """Boundaries, bans, first ids and a whole example stand in the model's very first request."""
    _, model = play(pi, home, repo, [{"text": "done"}], sock)
    request = model.requests[0]
    prompt = text_of(request["messages"])[0]
    (tool,) = [t["function"] for t in request["tools"] if t["function"]["name"] == TOOL]
    for line in (
        "start a new phase of intent",
        "current transition changes",
        "new evidence changes the path",
        "failed twice",
        "person's judgement or permission",
        "before you claim to be done",
        "Never write hidden reasoning, prompts, secrets, environment values",
        "pl_start",
        "tok_main",
    ):
        assert line in prompt
    assert f"- {TOOL}: Declare or change your action path" in prompt
    assert '"fromId":"pl_start"' in tool["description"]
    assert set(tool["parameters"]["properties"]) == {"ops", "proposal"}


def test_the_declared_path_can_be_switched_off(pi: Pi, home: Home, repo: Path, sock: Path) -> None:
    """Off by the person's environment: no tool, no line about it, and still seen."""
    with FakeAdapter(sock) as adapter:
        turns = [{"text": "done"}]
        _, model = play(pi, home, repo, turns, sock, WAYFINDER_DECLARED_PATH="off")
    assert TOOL not in json.dumps(model.requests[0])
    assert adapter.events("prompt")


def test_the_daemon_can_switch_it_off_too(pi: Pi, home: Home, repo: Path, sock: Path) -> None:
    """Off by the welcome: not offered, or withdrawn before the prompt after a late welcome."""
    with FakeAdapter(sock) as adapter:
        adapter.declared = False

        def wait(_: list[dict[str, Any]]) -> dict[str, Any]:
            return {"again": not adapter.events("prompt"),
                    "calls": [call(len(model.requests), "bash", command="sleep 0.1")]}  # fmt: skip

        turns = [wait, {"text": "one"}, {"text": "two"}]
        with ScriptedModel(turns) as model:
            home.speak_to(model.base_url)
            env = {"WAYFINDER_AGENT_SOCK": str(sock)}
            pi_harness.run(pi, home, repo, "Go", "Go on", env=env)
    assert TOOL not in [t["function"]["name"] for t in model.requests[-1]["tools"]]


def test_a_late_welcome_withdraws_the_tool(sock: Path) -> None:
    """Offered before the daemon could say no; gone before the person's next prompt."""
    with FakeAdapter(sock) as adapter:
        adapter.declared = False
        assert drive("withdraw", env={"WAYFINDER_AGENT_SOCK": str(sock)})["active"] == []


def test_patches_carry_what_the_agent_need_not_write(
    pi: Pi, home: Home, repo: Path, sock: Path
) -> None:
    """Key, actor and version are filled in; the base is the revision the model last read."""
    turns = [
        {"calls": [call(1, TOOL, ops=OPS), call(2, TOOL, ops=OPS)]},
        {"calls": [call(3, TOOL, ops=OPS, proposal=True)]},
        {"text": "done"},
    ]
    with FakeAdapter(sock) as adapter:
        play(pi, home, repo, turns, sock)
    first, second, third = adapter.patches()
    assert first["patch"]["schemaVersion"] == 1
    assert first["patch"]["actor"] == {"type": "agent", "agentId": "main"}
    assert first["patch"]["idempotencyKey"] == "call_1"
    assert first["patch"]["ops"] == OPS
    # Two calls of one reply were both written before either answer was read.
    bases = [f["patch"]["baseRevision"] for f in (first, second, third)]
    assert bases == [0, 0, 2]
    assert [f["t"] for f in (first, second, third)] == ["patch", "patch", "propose"]


def test_a_resumed_session_knows_what_the_model_had_read(
    pi: Pi, home: Home, repo: Path, sock: Path
) -> None:
    """`pi -c`: same session, reason resume, and the base revision comes from the conversation."""
    with FakeAdapter(sock) as adapter:
        adapter.revision = 6
        play(pi, home, repo, [{"calls": [call(1, TOOL, ops=OPS)]}, {"text": "ok"}], sock)
        again = [{"calls": [call(2, TOOL, ops=OPS)]}, {"text": "ok"}]
        play(pi, home, repo, again, sock, "-c", "Go on")
    one, two = adapter.hellos
    assert one["session"] == two["session"]
    assert (one["reason"], one["entries"]) == ("startup", 0)
    assert two["reason"] == "resume"
    assert two["entries"] >= 4
    assert two["instance"] != one["instance"]
    assert [f["patch"]["baseRevision"] for f in adapter.patches()] == [0, 7]


def rejected(frame: Frame, revision: int) -> Frame:
    fault = {
        "code": "unknown_id",
        "path": "$.ops[0].fromId",
        "expected": "an id that exists",
        "known": ["pl_start"],
    }
    return {"status": "rejected", "revision": 4, "faults": [fault]}


def test_a_rejection_teaches(pi: Pi, home: Home, repo: Path, sock: Path) -> None:
    """Code, place, what was expected and what exists stand in the tool's text; Pi goes on."""
    turns = [
        {"calls": [call(1, TOOL, ops=OPS)]},
        {
            "text": "done",
            "expect": [
                "rejected; nothing was changed",
                "unknown_id at $.ops[0].fromId",
                "an id that exists Existing: pl_start",
            ],
        },
    ]
    with FakeAdapter(sock) as adapter:
        adapter.answer = rejected
        run, model = play(pi, home, repo, turns, sock)
    assert (run.code, model.failures) == (0, [])


def test_a_late_rejection_reaches_the_model(pi: Pi, home: Home, repo: Path, sock: Path) -> None:
    """No answer in time: `queued`; what comes later stands once in a following request."""
    with FakeAdapter(sock, "deferred") as adapter:
        adapter.answer = rejected

        def wait_for_it(messages: list[dict[str, Any]]) -> dict[str, Any]:
            text = "\n".join(text_of(messages))
            assert "queued; go on with the work" in text
            adapter.release()
            told = "Your queued update_action_path call call_1: rejected" in text
            wait = call(100 + len(messages), "bash", command="true")
            return {"again": not told, "calls": [wait]}

        def not_again(messages: list[dict[str, Any]]) -> dict[str, Any]:
            return {"text": "done", "forbid": ["Your queued"]}

        turns = [{"calls": [call(1, TOOL, ops=OPS)]}, wait_for_it, not_again]
        run, model = play(pi, home, repo, turns, sock)
    assert (run.code, run.out, model.failures) == (0, "done\n", [])


CORRECTIONS = [
    {"correctionId": "cor_1", "type": "text", "revision": 0, "text": 'Only "verify" now\nplease'},
    {"correctionId": "cor_2", "type": "retire", "revision": 9, "targetId": "tr_old"},
]


def test_a_correction_stands_in_every_request(pi: Pi, home: Home, repo: Path, sock: Path) -> None:
    """From the one after its arrival on: quoted as data, at the end; receipted once; base moves."""

    def arrives(messages: list[dict[str, Any]]) -> dict[str, Any]:
        there = "[cor_1]" in "\n".join(text_of(messages))
        calls = [call(100 + len(messages), "bash", command="true")]
        return {"again": not there, "calls": calls}

    turns = [arrives, {"calls": [call(1, TOOL, ops=OPS)]}, {"text": "done"}]
    with FakeAdapter(sock) as adapter:
        adapter.constraints = CORRECTIONS
        _, model = play(pi, home, repo, turns, sock)
    for request in model.requests[-3:]:
        last = text_of(request["messages"])[-1]
        assert '[cor_1] The person said: "Only \\"verify\\" now\\nplease"' in last
        assert "[cor_2] The person retired tr_old; do not work on it" in last
        assert "Path revision 9." in last
    assert [f["correctionId"] for f in adapter.events("receipt")] == ["cor_1", "cor_2"]
    assert adapter.patches()[0]["patch"]["baseRevision"] == 9


def test_a_daemon_that_comes_late_gets_everything(
    pi: Pi, home: Home, repo: Path, sock: Path
) -> None:
    """What was queued while nobody listened is delivered whole and in order."""
    adapter = FakeAdapter(sock)

    def begin(_: list[dict[str, Any]]) -> dict[str, Any]:
        adapter.__enter__()
        return {"calls": [call(2, "bash", command="true")]}

    def wait(messages: list[dict[str, Any]]) -> dict[str, Any]:
        there = bool(adapter.events("call_end"))
        calls = [call(100 + len(messages), "bash", command="sleep 0.05")]
        return {"again": not there, "calls": calls}

    try:
        play(
            pi, home, repo, [{"calls": [call(1, TOOL, ops=OPS)]}, begin, wait, {"text": "x"}], sock
        )
    finally:
        adapter.__exit__()
    assert [f["seq"] for f in adapter.frames] == list(range(1, len(adapter.frames) + 1))
    assert [f["callId"] for f in adapter.patches()] == ["call_1"]
    assert adapter.events("prompt")


def test_a_daemon_that_forgot_everything_is_met_anew(
    pi: Pi, home: Home, repo: Path, sock: Path
) -> None:
    """Its state deleted while Pi runs: a new instance numbers from 1, nothing waits for ever."""
    before, after = FakeAdapter(sock), FakeAdapter(sock)

    def swap(_: list[dict[str, Any]]) -> dict[str, Any]:
        before.__exit__()
        after.__enter__()
        return {"calls": [call(2, "bash", command="true")]}

    def wait(messages: list[dict[str, Any]]) -> dict[str, Any]:
        there = any(f["seq"] == 1 for f in after.connections[-1]) if after.connections else False
        calls = [call(100 + len(messages), "bash", command="sleep 0.05")]
        return {"again": not there, "calls": calls}

    turns = [{"calls": [call(1, "bash", command="true")]}, swap, wait, {"text": "done"}]
    before.__enter__()
    try:
        run, _ = play(pi, home, repo, turns, sock)
    finally:
        after.__exit__()
    assert run.code == 0
    assert len({hello["instance"] for hello in before.hellos + after.hellos}) == 2
    anew = [f["seq"] for f in after.connections[-1]]
    assert anew == list(range(1, len(anew) + 1))


def test_overflow_is_counted_and_leaves_no_hole(sock: Path) -> None:
    """2,600 records for nobody: the oldest go, the patch stays, a reload keeps the rest."""
    with FakeAdapter(sock) as adapter:
        drive("overflow", "2600", env={"WAYFINDER_AGENT_SOCK": str(sock)})
    # What was not acknowledged in time is sent again; an adapter takes each number once.
    taken = list({f["seq"]: f for f in adapter.frames}.values())
    prompts = [f for f in taken if f.get("ev") == "prompt"]
    (drop,) = [f for f in taken if f.get("ev") == "drop"]
    assert [f["seq"] for f in taken] == list(range(1, len(taken) + 1))
    assert len(prompts) + drop["count"] == 2600 + 1
    assert 1_990 <= len(prompts) <= 2_000
    assert sum(f["t"] == "patch" for f in taken) == 1
    assert len({h["instance"] for h in adapter.hellos}) == 1
    assert prompts[-1]["text"] == "a lone surrogate � and 完"


def test_sloppy_arguments_are_understood(sock: Path) -> None:
    """Ops as a string, one op alone, a text for a list of one, null for absent, nothing at all."""
    with FakeAdapter(sock) as adapter:
        drive("sloppy", env={"WAYFINDER_AGENT_SOCK": str(sock)})
    ops = [f["patch"]["ops"] for f in adapter.patches()]
    assert ops[0] == [{"op": "connect", "fromId": "a", "toId": "b", "arc": "flow"}]
    assert ops[1][0]["op"] == "retire_transition"
    assert ops[2][0]["expectedEvidence"] == ["one text"]
    assert "exitCondition" not in ops[2][0]
    assert ops[3] == []


def test_installed_twice_speaks_once(pi: Pi, home: Home, repo: Path, sock: Path) -> None:
    """By `wayfinder connect` and by `pi install` of the folder: one hello, one tool."""
    folder = str(pi_harness.EXTENSION.parent)
    done = subprocess.run(
        [pi.node, str(pi.entry), "install", folder],
        env=home.environment(),
        cwd=repo,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with FakeAdapter(sock) as adapter:
        _, model = play(pi, home, repo, [{"text": "done"}], sock)
    assert len(adapter.hellos) == 1
    names = [t["function"]["name"] for t in model.requests[0]["tools"]]
    assert names.count(TOOL) == 1
    home.connect("--remove")
    with FakeAdapter(sock := sock.with_name("b.sock")) as adapter:
        play(pi, home, repo, [{"text": "done"}], sock)
    assert len(adapter.hellos) == 1


def test_a_pi_inside_a_pi_names_its_parent(pi: Pi, home: Home, repo: Path, sock: Path) -> None:
    """A child agent started by a tool says hello with the session that started it."""
    inner = f"{pi.node} {pi.entry} -p Look </dev/null"
    turns = [
        {"calls": [call(1, "bash", command=inner)]},
        {"text": "from the child"},
        {"text": "from the parent", "expect": ["from the child"]},
    ]
    with FakeAdapter(sock) as adapter:
        _, model = play(pi, home, repo, turns, sock)
    parent, child = adapter.hellos
    assert model.failures == []
    assert parent["parent"] is None
    assert child["parent"] == parent["session"]


@pytest.mark.parametrize("runtime", ["private", "open", "unset"])
def test_the_socket_is_looked_for_where_the_daemon_binds_it(tmp_path: Path, runtime: str) -> None:
    """The extension's rule and daemon/paths.py name the same file."""
    env = {"HOME": str(tmp_path), "TMPDIR": "/tmp"}
    if runtime != "unset":
        folder = tmp_path / "runtime"
        folder.mkdir(mode=0o700)
        folder.chmod(0o700 if runtime == "private" else 0o755)
        env["XDG_RUNTIME_DIR"] = str(folder)
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c",
         "from wayfinder.daemon import paths; print(paths.resolve().socket('agent.sock'))"],
        env={"PATH": os.environ["PATH"], **env}, capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    assert drive("path", env=env)["path"] == told
    named = {"WAYFINDER_RUN_DIR": str(tmp_path / "run")}
    assert drive("path", env={**env, **named})["path"] == str(
        paths.resolve(named).socket("agent.sock")
    )
