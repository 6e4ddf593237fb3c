"""The worker: an engine in a process of its own, which may be killed at any time.

    python -P -m wayfinder.daemon.redact.worker      (only `client` starts it; frames.py draws)

One text at a time, answers in order. Before each text the kernel is told to end the process after
`cpu_ms` of processor time (ITIMER_PROF): a hostile text can thus hold nobody up, not even when the
client is dead, and not even inside a regex, which no Python code can interrupt. End of file on
standard input means that the client is gone. After `idle_ms` without a request the worker leaves;
the client starts another when it needs one.

Nothing is written but frames: no log, no file. Core dumps are off, since they would hold texts.
"""

import os
import resource
import select
import signal
import sys
from pathlib import Path

from .engine import Engine
from .exact import ExactValues
from .frames import Birth, Splitter, answer_frame, decode_birth, decode_request, hello_frame
from .kingfisher import SecondOpinion
from .spans import dropped

EXIT_IDLE = 0
WORD_MAX = 19  # see engine.is_harmless
_CHUNK = 256 * 1024


def main() -> int:
    """Answer requests until idle, orphaned or killed."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ^C is for the client, which then closes us
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever a library prints must not be read as a frame
    splitter = Splitter()
    waiting: list[bytes] = []
    if not _receive(splitter, waiting, None):
        return EXIT_IDLE
    birth = decode_birth(waiting.pop(0))
    exact = ExactValues.from_environ(os.environ)
    second = _second_opinion(birth)
    engine = Engine(key=birth.key, exact=exact, second_opinion=second)
    word_max = min(WORD_MAX, exact.shortest_word - 1) if exact.shortest_word else WORD_MAX
    _send(answers, hello_frame(second.status if second else "absent", len(exact), word_max))
    while waiting or _receive(splitter, waiting, birth.idle_ms):
        if waiting:
            _send(answers, _answer(engine, waiting.pop(0), birth.cpu_ms / 1000))
    return EXIT_IDLE


def _second_opinion(birth: Birth) -> SecondOpinion | None:
    if not birth.second_opinion:
        return None
    return SecondOpinion.load(Path(birth.cache) if birth.cache else None)


def _answer(engine: Engine, body: bytes, cpu_s: float) -> bytes:
    text, level = decode_request(body)
    signal.setitimer(signal.ITIMER_PROF, cpu_s)
    try:
        redacted = engine.redact(text, 2 if level == 2 else 1)
    except (TimeoutError, RecursionError, MemoryError):
        redacted = dropped(text)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return answer_frame(redacted)


def _receive(splitter: Splitter, waiting: list[bytes], idle_ms: int | None) -> bool:
    """Wait for input and take it in; False at the end of input or after `idle_ms`."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    if not poll.poll(idle_ms):
        return False
    chunk = os.read(0, _CHUNK)
    waiting.extend(splitter.feed(chunk))
    return bool(chunk)


def _send(descriptor: int, frame: bytes) -> None:
    view = memoryview(frame)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    sys.exit(main())
