"""The worker may be killed, and is: the text it was at is dropped, the rest goes on."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping

import psutil
import pytest

from wayfinder.daemon.redact import engine, frames
from wayfinder.daemon.redact.client import RedactorClient, TextOnly
from wayfinder.daemon.redact.spans import DROPPED_TEXT, Redacted, Span

SECRET = "Walnut" + "-" + str(31 * 61) + "!"
TEXTS = [
    f"password: {SECRET}",
    "a plain sentence of words",
    "",
    "word",
    f"密码：{SECRET} 😀",
    "\ud800 x" * 4,
]


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def client(told: list[str]) -> Iterator[RedactorClient]:
    def report(event: str, _: Mapping[str, int | str]) -> None:
        told.append(event)

    with RedactorClient(second_opinion=False, environ=_quiet(), report=report) as made:
        yield made


def _quiet() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "PYTHONPATH")}


@pytest.mark.parametrize("level", [1, 2])
def test_the_worker_answers_as_the_engine_does(client: RedactorClient, level: engine.Level) -> None:
    """Same texts, same answers, same order, in batches of any size."""
    expected = [engine.redact(text, level) for text in TEXTS]
    assert client.redact_many(TEXTS, level) == expected
    assert [client.redact_many([text], level)[0] for text in TEXTS] == expected
    assert client.redact_many(TEXTS * 300, level) == expected * 300
    assert TextOnly(client).redact_many(TEXTS, level) == [answer.text for answer in expected]


def test_a_field_above_the_cap_is_answered_as_the_engine_does(client: RedactorClient) -> None:
    """Cutting on this side of the pipe gives the same text and the same spans."""
    text = "word " * 90_000 + f"password: {SECRET}" + " word" * 5_000
    assert client.redact_many([text], 2) == [engine.redact(text, 2)]


def test_a_killed_worker_costs_one_text_and_no_more(
    client: RedactorClient, told: list[str]
) -> None:
    """The text the worker was at is dropped; the others are answered by the next worker."""
    client.redact_many(["x" * 30], 1)
    assert client.worker_pid is not None
    os.kill(client.worker_pid, signal.SIGKILL)
    answers = client.redact_many([f"one password: {SECRET}", f"two password: {SECRET}"], 1)
    assert answers[0].text == DROPPED_TEXT
    assert answers[1] == engine.redact(f"two password: {SECRET}", 1)
    assert client.counters.dropped == 1
    assert client.counters.starts == 2
    assert told == [f"redactor_died:{-signal.SIGKILL}"]


def test_a_text_that_overruns_its_time_is_dropped_and_the_rest_goes_on(told: list[str]) -> None:
    """Fail closed: processor time is counted by the kernel, so not even a regex can go on."""
    slow = "".join(f"password=Walnut{i}!x " for i in range(9_000))

    def report(event: str, _: Mapping[str, int | str]) -> None:
        told.append(event)

    with RedactorClient(second_opinion=False, cpu_ms=20, report=report) as client:
        answers = client.redact_many([slow, "a plain sentence of words"], 1)
        assert answers[0].text == DROPPED_TEXT
        assert answers[0].spans == (Span(0, len(slow), "dropped"),)
        assert answers[1] == Redacted("a plain sentence of words")
    assert told == ["redactor_overrun"]


def test_a_worker_that_stands_still_is_killed_after_the_wall_time(told: list[str]) -> None:
    """A stopped process uses no processor time; the client does not wait for ever."""
    with RedactorClient(second_opinion=False, wall_s=0.2) as client:
        client.redact_many(["x" * 30], 1)
        pid = client.worker_pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        answers = client.redact_many([f"password: {SECRET}"], 1)
        assert answers[0].text == DROPPED_TEXT
        assert not psutil.pid_exists(pid)


def test_an_idle_worker_leaves_and_another_comes_when_needed() -> None:
    """Leaving costs no text, even if it happens between two calls."""
    with RedactorClient(second_opinion=False, idle_ms=1, environ=_quiet()) as client:
        for _ in range(3):
            (answer,) = client.redact_many([f"password: {SECRET}"], 1)
            assert answer.text == "password: [redacted:assignment]"
            pid = client.worker_pid
            assert pid is not None
            psutil.Process(pid).wait(timeout=30)
        assert client.counters.dropped == 0


def test_the_worker_dies_with_its_parent() -> None:
    """kill -9 of the client leaves no worker behind, not even one that is busy."""
    program = (
        "from wayfinder.daemon.redact.client import RedactorClient\n"
        "client = RedactorClient(second_opinion=False)\n"
        "client.redact_many(['x' * 30], 1)\n"
        "print(client.worker_pid, flush=True)\n"
        "input()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-P", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None and parent.stdin is not None
    worker = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    worker.wait(timeout=30)
    parent.stdin.close()
    parent.stdout.close()


def test_known_values_of_the_environment_are_masked_in_every_form() -> None:
    """R14: as it stands, in base64 and percent-encoded; the worker knows, the client does not."""
    value = "plain" + "sailing" + "words"
    environ = _quiet() | {"DEPLOY_PASSWORD": value, "DEPLOY_PASSWORD_FILE": "/run/some/where"}
    with RedactorClient(second_opinion=False, environ=environ) as client:
        texts = [f"it said {value} twice", value, "/run/some/where", "unrelated"]
        answers = client.redact_many(texts, 1)
        assert [a.text for a in answers] == [
            "it said [redacted:exact] twice", "[redacted:exact]", "/run/some/where", "unrelated",
        ]  # fmt: skip


def test_without_any_worker_everything_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail closed: no answer is better than the text."""
    monkeypatch.setattr("wayfinder.daemon.redact.link._COMMAND", ("/nonexistent/python",))
    client = RedactorClient(second_opinion=False)
    assert [a.text for a in client.redact_many(["a plain sentence", "word"], 1)] == [
        DROPPED_TEXT
    ] * 2


def test_the_frames_are_as_drawn() -> None:
    """| length u32 | level u8 | text |, and JSON in the other direction."""
    assert frames.request_frame("é", 2) == b"\x00\x00\x00\x03" + b"\x02" + "é".encode()
    answer = frames.answer_frame(Redacted("a", (Span(0, 1, "vendor"),)))
    body = b'{"text":"a","spans":[{"start":0,"end":1,"rule":"vendor"}]}'
    assert answer == len(body).to_bytes(4, "big") + body
    hello = frames.hello_frame("absent", 0, 19)
    assert hello[4:] == b'{"protocol":1,"kingfisher":"absent","exactForms":0,"wordMax":19}'


def test_frames_come_out_whole_wherever_the_stream_was_cut() -> None:
    """Chunks of any size, at every offset, give the same frames."""
    stream = b"".join(frames.request_frame(text, 1) for text in TEXTS)
    whole = frames.Splitter().feed(stream)
    for at in range(len(stream) + 1):
        splitter = frames.Splitter()
        assert splitter.feed(stream[:at]) + splitter.feed(stream[at:]) == whole
    one = frames.Splitter()
    assert [f for i in range(len(stream)) for f in one.feed(stream[i : i + 1])] == whole


@pytest.mark.parametrize("body", [b"", b"\x03x", b"{}", b'{"text":1}'])
def test_a_broken_frame_is_an_error_with_what_was_expected(body: bytes) -> None:
    """Decoding raises FrameError and nothing else."""
    with pytest.raises(frames.FrameError, match="expected"):
        frames.decode_request(body[:1])
        frames.decode_answer(body)
