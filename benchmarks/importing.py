"""Reading session files: MB/s beside a bare decode of the same bytes, and memory that stays flat.

The peer decodes every line to plain objects and does nothing with them; what we promise is a ratio
to it (0.25 without redaction), a floor with redaction (4 MB/s), and a peak memory that does not
depend on the size of the file. Files are generated, in the proportions of real ones: results of a
few KB, a failing check now and then, an edit, a plan.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from wayfinder.adapters.normalise.clean import Cleaner
from wayfinder.adapters.normalise.ports import Level, Redactor
from wayfinder.adapters.reader import Source, Stream
from wayfinder.daemon.redact.client import RedactorClient, TextOnly
from wayfinder.daemon.redact.hmacs import References

from .result import Result, beside, interleaved, median, spread

SMALL_MB, LARGE_MB = 25, 200
ROUNDS = 5
MB = 1e6

_CODE = "\n".join(f"    value_{n} = compute(value_{n}, limit={n})  # step {n}" for n in range(60))
_TESTS = "\n".join(f"tests/test_{n % 7}.py::test_case_{n} PASSED" for n in range(40))
_FAIL = (
    _TESTS + "\nFAILED tests/test_3.py::test_case_9 - AssertionError: {n} != 3\n=== 1 failed ==="
)


class AsItIs:
    """No redaction: what reading and normalising cost alone."""

    def redact_many(self, texts: Sequence[str], level: Level) -> list[str]:
        return list(texts)


def steps(n: int) -> Iterator[tuple[str, dict[str, str], str, bool]]:
    """(tool, arguments, result, failed) of one turn."""
    yield "read", {"path": f"src/part_{n % 50}.py"}, _CODE, False
    yield "bash", {"command": f"rg -n value_{n} src"}, f"src/part_{n % 50}.py:3: value_{n}", False
    yield (
        "edit",
        {"path": f"src/part_{n % 50}.py", "newText": _CODE},
        "Successfully replaced",
        False,
    )
    failed = n % 4 == 0
    text = _FAIL.replace("{n}", str(n)) if failed else _TESTS
    end = "\n\nCommand exited with code 1" if failed else ""
    yield "bash", {"command": f"pytest tests/test_{n % 7}.py"}, text + end, failed


def pi(turns: int) -> Iterator[object]:
    yield {"type": "session", "id": "01a22f00-aaaa-7000-8000-000000000001", "cwd": "/home/dev/shop"}
    for turn in range(turns):
        stamp = {"timestamp": 1_764_000_000_000 + turn * 60_000}
        yield _pi(role="user", content=f"step {turn}: mend part {turn % 50}", **stamp)
        for number, (tool, args, text, failed) in enumerate(steps(turn)):
            call = {"type": "toolCall", "id": f"c{turn}-{number}", "name": tool, "arguments": args}
            thought = {"type": "thinking", "thinking": _CODE[:600], "thinkingSignature": "x" * 300}
            yield _pi(role="assistant", content=[thought, call], stopReason="toolUse", **stamp)
            yield _pi(role="toolResult", toolCallId=call["id"], toolName=tool, isError=failed,
                      content=[{"type": "text", "text": text}], **stamp)  # fmt: skip
        yield _pi(role="assistant", content=[], stopReason="stop", **stamp)


def _pi(**message: object) -> object:
    return {"type": "message", "timestamp": "2026-01-01T00:00:00.000Z", "message": message}


def claude(turns: int) -> Iterator[object]:
    base = {"sessionId": "9d0c0000-0000-4000-8000-000000000001", "isSidechain": False,
            "cwd": "/home/dev/shop", "uuid": "u",
            "timestamp": "2026-01-01T00:00:00.000Z"}  # fmt: skip
    names = {"read": "Read", "bash": "Bash", "edit": "Edit"}
    for turn in range(turns):
        yield {**base, "type": "user", "message": {"role": "user", "content": f"step {turn}"}}
        for number, (tool, args, text, failed) in enumerate(steps(turn)):
            use = {
                "type": "tool_use",
                "id": f"t{turn}-{number}",
                "name": names[tool],
                "input": args,
            }
            message = {"id": f"m{turn}-{number}", "content": [use], "usage": {"input_tokens": 9}}
            yield {**base, "type": "assistant", "message": message}
            block = {"type": "tool_result", "tool_use_id": use["id"], "is_error": failed,
                     "content": ("Exit code 1\n" if failed else "") + text}  # fmt: skip
            yield {**base, "type": "user", "message": {"content": [block]},
                   "toolUseResult": {"stdout": text}}  # fmt: skip


def codex(turns: int) -> Iterator[object]:
    yield _codex("session_meta", id="019da9bd-0000-7000-8000-000000000001", cwd="/home/dev/shop")
    for turn in range(turns):
        yield _codex("event_msg", type="user_message", message=f"step {turn}")
        for number, (_, args, text, failed) in enumerate(steps(turn)):
            own, command = f"c{turn}-{number}", args.get("command", "cat src/part.py")
            yield _codex("response_item", type="function_call", name="exec_command", call_id=own,
                         arguments=json.dumps({"cmd": command}))  # fmt: skip
            yield _codex("event_msg", type="exec_command_end", call_id=own, exit_code=int(failed),
                         status="failed" if failed else "completed", aggregated_output=text,
                         command=["bash", "-lc", command], formatted_output=text)  # fmt: skip
            yield _codex("response_item", type="function_call_output", call_id=own, output=text)
        yield _codex("event_msg", type="task_complete", last_agent_message="ok")


def _codex(kind: str, **payload: object) -> object:
    return {"timestamp": "2026-01-01T00:00:00.000Z", "type": kind, "payload": payload}


WRITERS: dict[str, Callable[[int], Iterator[object]]] = {"pi": pi, "claude": claude, "codex": codex}


def write(agent: str, path: Path, megabytes: float) -> None:
    """Whole turns until the file is big enough."""
    encoder = msgspec.json.Encoder()
    with path.open("wb") as file:
        for record in WRITERS[agent](10**9):
            file.write(encoder.encode(record) + b"\n")
            if file.tell() > megabytes * MB:
                return


def read(agent: str, path: Path, redactor: Redactor) -> int:
    module = importlib.import_module(f"wayfinder.adapters.{agent}.file")
    session = module.open_session(Source(agent, path), References(b"k" * 32))
    return sum(len(batch) for batch in Stream(session, Cleaner(redactor)).read())


def bare(path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            msgspec.json.decode(line)


def rate(path: Path, work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return path.stat().st_size / MB / (time.perf_counter() - begun)


def peak_mib(agent: str, path: Path) -> float:
    """Peak memory of a process that does nothing but read this file."""
    command = [sys.executable, "-m", "benchmarks.importing", agent, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def run() -> list[Result]:
    results: list[Result] = []
    with tempfile.TemporaryDirectory() as folder, RedactorClient() as client:
        redactor = TextOnly(client)
        redactor.redact_many(["token=load-the-rules-1"], 1)
        for agent in WRITERS:
            path = Path(folder) / f"{agent}.jsonl"
            write(agent, path, 4)
            results += _rates(agent, path, redactor)
        small, large = Path(folder) / "small.jsonl", Path(folder) / "large.jsonl"
        write("pi", small, SMALL_MB)
        write("pi", large, LARGE_MB)
        name = f"peak memory reading {LARGE_MB} MB"
        peer = f"the same for {SMALL_MB} MB"
        results.append(beside(name, "MiB", peak_mib("pi", large), peer, peak_mib("pi", small)))
    return results


def _rates(agent: str, path: Path, redactor: Redactor) -> list[Result]:
    seen = interleaved(
        {
            "plain": lambda: rate(path, lambda: read(agent, path, AsItIs())),
            "redacted": lambda: rate(path, lambda: read(agent, path, redactor)),
            "bare": lambda: rate(path, lambda: bare(path)),
        },
        ROUNDS,
    )
    peer = median(seen["bare"])
    return [
        beside(
            f"read {agent}, {words}", "MB/s", median(seen[key]), "decode alone", peer,
            spread(seen[key]),
        )
        for key, words in (("plain", "no redaction"), ("redacted", "redacted"))
    ]  # fmt: skip


if __name__ == "__main__":
    import resource

    read(sys.argv[1], Path(sys.argv[2]), AsItIs())
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
