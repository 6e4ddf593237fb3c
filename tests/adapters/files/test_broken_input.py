"""Broken input is normal: skipped softly, counted by reason, never a crash, never a guess."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from wayfinder.adapters import jsonl
from wayfinder.adapters.jsonl import Records, Skips
from wayfinder.adapters.reader import Source, iso_ms
from wayfinder.daemon.redact.hmacs import References
from wayfinder.reducer.vocabulary.observation import Called, Gap, Prompted
from wayfinder.reducer.vocabulary.terms import Coverage

ONE_FOLDER = [HealthCheck.function_scoped_fixture]
AGENTS = ("pi", "claude", "codex", "gemini", "opencode")


class Line(Struct):
    n: int
    s: str = ""


def records(path: Path, data: bytes, *, final: bool = True) -> tuple[list[Line], Skips]:
    path.write_bytes(data)
    skips = Skips()
    return list(Records(path, Line, skips).read(final=final)), skips


@pytest.mark.parametrize(
    ("data", "numbers", "lost", "mended"),
    [
        (b'{"n":1}{"n":2}\n{"n":3}\n', [1, 2, 3], {}, {"two_records_on_a_line": 1}),
        (b'{"n":1,"s":"a\\qb"}\n', [1], {}, {"invalid_escape": 1}),
        (b'{"n":1,"s":"\\ud83d"}\n', [1], {}, {"lone_surrogate": 1}),
        (b'{"n":1,"s":"\xff"}\n', [1], {}, {"broken_utf8": 1}),
        (b'{"n":1,"s":"a\tb"}\n', [1], {}, {"invalid_escape": 1}),
        (b'{"n":1}\n{"n":', [1], {"cut_record": 1}, {}),
        (b'{"n":1}\n{"n":2}', [1, 2], {}, {}),
        (b'{\n  "n": 1\n}\n{"n":2}\n', [1, 2], {}, {"record_over_several_lines": 1}),
        (b'nonsense\n\n[1]\n{"n":1}\n', [1], {"not_json": 2}, {}),
        (b'{"n":"one"}\n{"n":1}\n', [1], {"odd_shape": 1}, {}),
        (b'{"x":' + b"[" * 99_999 + b"\n" + b'{"n":1}\n', [1], {"too_deep": 1}, {}),
        (b"\xef\xbb\xbf" + b'{"n":1}\n', [1], {}, {}),
    ],
)
def test_each_kind_of_damage(
    tmp_path: Path, data: bytes, numbers: list[int], lost: Any, mended: Any
) -> None:
    """What can be read is read, the rest is counted under one reason."""
    found, skips = records(tmp_path / "x", data)
    assert [line.n for line in found] == numbers
    assert dict(skips.lost) == lost
    assert dict(skips.mended) == mended


def test_a_line_beyond_the_bound_is_passed_over(tmp_path: Path, monkeypatch: Any) -> None:
    """It is never held in memory whole."""
    monkeypatch.setattr(jsonl, "LINE_BYTES_MAX", 1000)
    data = b'{"n":1}\n{"n":2,"s":"' + b"x" * 5000 + b'"}\n{"n":3}\n'
    found, skips = records(tmp_path / "x", data)
    assert [line.n for line in found] == [1, 3]
    assert dict(skips.lost) == {"line_too_long": 1}


def test_an_unfinished_last_line_is_left_for_later(tmp_path: Path) -> None:
    """A growing file is read up to its last whole record, and on from there."""
    path, skips = tmp_path / "x", Skips()
    path.write_bytes(b'{"n":1}\n{"n":')
    growing = Records(path, Line, skips)
    assert [line.n for line in growing.read(final=False)] == [1]
    with path.open("ab") as file:
        file.write(b'2}\n{"n":3}')
    assert [line.n for line in growing.read(final=False)] == [2, 3]
    assert not skips.lost


@settings(max_examples=60, deadline=None, suppress_health_check=ONE_FOLDER)
@given(st.lists(st.integers(0, 999), max_size=8), st.data())
def test_reading_in_any_portions_gives_the_same(
    tmp_path: Path, numbers: list[int], data: Any
) -> None:
    """Wherever a growing file is read in between, the records are those of the whole."""
    whole = b"".join(b'{"n":%d}\n' % n for n in numbers)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    path = tmp_path / "x"
    path.write_bytes(b"")
    growing, found = Records(path, Line, Skips()), []
    for cut in [*cuts, len(whole)]:
        path.write_bytes(whole[:cut])
        found += [line.n for line in growing.read(final=False)]
    assert found == numbers


_TYPES = """session message user assistant system attachment event_msg response_item session_meta
    compacted progress gemini error item.completed"""
_NAMES = """type message role content payload item id parentId uuid sessionId timestamp toolCallId
    isError details toolUseResult call_id output arguments name info parts messages $set toolCalls
    args result status changes command state tool"""
TYPES = st.sampled_from(_TYPES.split())
NAMES = st.sampled_from(_NAMES.split())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
RECORD = st.fixed_dictionaries({"type": TYPES}) | st.dictionaries(NAMES, JSON | TYPES, max_size=8)


@pytest.mark.parametrize("agent", AGENTS)
@settings(max_examples=60, deadline=None, suppress_health_check=ONE_FOLDER)
@given(lines=st.lists(RECORD | st.dictionaries(NAMES, RECORD, max_size=4), max_size=6))
def test_no_shape_crashes_a_reader(
    tmp_path: Path, read_path: Any, agent: str, lines: list[Any]
) -> None:
    """Records with the right words in the wrong places end as skips or as valid observations."""
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    read_path(agent, path)


@pytest.mark.parametrize("agent", AGENTS)
@settings(max_examples=40, deadline=None, suppress_health_check=ONE_FOLDER)
@given(data=st.binary(max_size=200))
def test_no_bytes_crash_a_reader(
    tmp_path: Path, read_path: Any, refs: References, agent: str, data: bytes
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    read_path(agent, path)
    module = importlib.import_module(f"wayfinder.adapters.{agent}.file")
    assert module.FORMAT.recognises(data) in (True, False)
    assert module.open_session(Source(agent, path), refs).info.agent == agent


def test_a_lost_record_is_a_gap_in_coverage(tmp_path: Path, read_path: Any) -> None:
    """One gap where something was lost, with the number and the reasons; the tail leaves none."""
    header = {"type": "session", "id": "01a22f00-aaaa-7000-8000-000000000001", "cwd": "/x"}
    prompt = {"type": "message", "message": {"role": "user", "content": "go"}}
    lines = [json.dumps(header), "nonsense", "more nonsense", json.dumps(prompt), '{"type":"mess']
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(lines))
    found = read_path("pi", path)
    (gap,) = found.of(Gap)
    assert (gap.coverage, gap.count, gap.reason) == (Coverage.PARTIAL, 2, "not_json")
    assert dict(found.skips.lost) == {"not_json": 2, "cut_record": 1}
    assert len(found.of(Prompted)) == 1


def test_unknown_record_types_are_no_loss(read: Any) -> None:
    """New versions bring new types: counted, and nothing else."""
    found = read("pi", [
        {"type": "session", "id": "01a22f00-aaaa-7000-8000-000000000001", "cwd": "/x"},
        {"type": "brand_new", "id": "1", "parentId": None},
    ])  # fmt: skip
    assert dict(found.skips.unknown) == {"brand_new": 1}
    assert not found.skips.lost and not found.of(Gap) and not found.of(Called)


@pytest.mark.parametrize(
    ("stamp", "ms"),
    [
        ("1970-01-01T00:00:01.500Z", 1500),
        ("2026-07-14T08:41:44.363Z", 1_784_018_504_363),
        ("2026-07-14T10:41:44.363+02:00", 1_784_018_504_363),
        (1_784_018_504_363, 1_784_018_504_363),
        ("yesterday", 0),
        ("9999-99-99T00:00:00Z", 0),
        (-5, 0),
        (True, 0),
        (None, 0),
    ],
)
def test_event_times(stamp: Any, ms: int) -> None:
    assert iso_ms(stamp) == ms
