"""The labelled secrets and the recorded sessions: residue, recall, false alarms."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wayfinder.daemon.redact import engine

pytestmark = pytest.mark.corpus
# Spans that are right: links to media that carry their own signature, and two keys in sources.
FALSE_ALARMS_PER_MB_MAX = 1.0
RECALL_BLIND_MIN = 0.90


@pytest.fixture(scope="module")
def positives(corpus: Path) -> list[dict[str, Any]]:
    return _lines(corpus / "secrets" / "positives.jsonl")


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def kept(record: dict[str, Any], level: engine.Level) -> list[bool]:
    """For each labelled span, whether more than a shred of it is left."""
    masked = bytearray(len(record["text"]))
    for span in engine.redact(record["text"], level).spans:
        masked[span.start : span.end] = b"1" * (span.end - span.start)
    found: list[bool] = []
    for start, end in record["spans"]:
        longest = max(len(run) for run in bytes(masked[start:end]).split(b"1"))
        found.append(longest > max(4, min(8, (end - start) // 10)))
    return found


@pytest.mark.parametrize("level", [1, 2])
def test_nothing_is_left_of_the_base_set(
    positives: list[dict[str, Any]], level: engine.Level
) -> None:
    """Residue 0 on every labelled secret that is not in a blind set."""
    base = [r for r in positives if not r["variant"].startswith("blind")]
    assert [r["id"] for r in base if any(kept(r, level))] == []


@pytest.mark.parametrize("variant", ["blind", "blind2"])
def test_recall_on_shapes_written_after_the_rules(
    positives: list[dict[str, Any]], variant: str
) -> None:
    """At least nine of ten secrets of a blind set are masked at level 1."""
    spans = [left for r in positives if r["variant"] == variant for left in kept(r, 1)]
    if not spans:
        pytest.skip(f"no {variant} set in this copy")
    assert spans.count(False) / len(spans) >= RECALL_BLIND_MIN


def test_no_benign_record_is_touched_at_level_one(corpus: Path) -> None:
    """Locks, hashes, traces, translations and code stay as they are."""
    records = _lines(corpus / "secrets" / "negatives.jsonl")
    assert len(records) >= 300
    assert [r["id"] for r in records if engine.redact(r["text"], 1).spans] == []


def test_false_alarms_on_recorded_sessions_stay_rare(corpus: Path) -> None:
    """At most one a megabyte, signed links aside, over every string of every session."""
    chars = alarms = 0
    for path in sorted((corpus / "sessions").rglob("*.json*")):
        for text in _strings(path):
            chars += len(text)
            for span in engine.redact(text, 1).spans:
                signed = "sig=" in text[max(0, span.start - 8) : span.start]
                alarms += span.rule != "cut" and not signed
    assert alarms / (chars / 1e6) <= FALSE_ALARMS_PER_MB_MAX


def _strings(path: Path) -> Iterator[str]:
    raw = path.read_bytes().decode("utf-8", "replace")
    try:
        stack: list[Any] = [json.loads(raw)]
    except ValueError:
        stack = []
        for line in raw.splitlines():
            try:
                stack.append(json.loads(line))
            except ValueError:
                stack.append(line)
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
