"""Session files written as the real programs write them, and one way to read them all."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from wayfinder.adapters.jsonl import Skips
from wayfinder.adapters.normalise.clean import Cleaner
from wayfinder.adapters.reader import Source, Stream
from wayfinder.daemon.redact.hmacs import References
from wayfinder.reducer.vocabulary.codec import decode, encode
from wayfinder.reducer.vocabulary.observation import AnyObservation

REFS = References(b"k" * 32)


class AsItIs:
    """Stands in where a test is about meaning, not about masking."""

    def redact_many(self, texts: Sequence[str], level: int) -> list[str]:
        return list(texts)


class Read:
    """What one file gave."""

    def __init__(self, session: Any, observations: list[AnyObservation]) -> None:
        self.info = session.info
        self.skips: Skips = session.skips
        self.unanswered: int = session.unanswered
        self.observations = observations

    def of(self, kind: type) -> list[Any]:
        return [seen for seen in self.observations if isinstance(seen, kind)]


def open_file(agent: str, path: Path) -> Any:
    module = importlib.import_module(f"wayfinder.adapters.{agent}.file")
    return module.open_session(Source(agent, path), REFS)


def read_file(agent: str, path: Path) -> Read:
    """Also holds every observation to its wire form: bounds, patterns, positions."""
    session = open_file(agent, path)
    seen = [each for batch in Stream(session, Cleaner(AsItIs())).read() for each in batch]
    for index, each in enumerate(seen, start=1):
        assert each.position == index
        assert decode(encode(each), AnyObservation) == each
    return Read(session, seen)


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Read]:
    """`read("pi", lines)`: the lines as a file (objects as JSON, texts as they are), read."""

    def write_and_read(agent: str, lines: Iterable[Any], name: str = "session.jsonl") -> Read:
        path = tmp_path / name
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("".join(text + "\n" for text in texts), encoding="utf-8", newline="")
        return read_file(agent, path)

    return write_and_read


@pytest.fixture(scope="session")
def read_path() -> Callable[[str, Path], Read]:
    """`read_path("pi", path)`: a file that is there already."""
    return read_file


@pytest.fixture(scope="session")
def open_path() -> Callable[[str, Path, Cleaner], list[AnyObservation]]:
    """`open_path("pi", path, cleaner)`: its observations, through that cleaner."""

    def opened(agent: str, path: Path, cleaner: Cleaner) -> list[AnyObservation]:
        stream = Stream(open_file(agent, path), cleaner)
        return [each for batch in stream.read() for each in batch]

    return opened


@pytest.fixture(scope="session")
def refs() -> References:
    return REFS


@pytest.fixture(scope="session")
def cleaner() -> Cleaner:
    """Masks nothing."""
    return Cleaner(AsItIs())
