"""Golden logs: what an old session means today, in any process and by any route."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from golden_stories import STORIES, told

from wayfinder.reducer.net.digest import evidence_digest, full_digest, net_digest
from wayfinder.reducer.net.invariants import check
from wayfinder.reducer.session.fold import replay
from wayfinder.reducer.vocabulary.codec import decode, encode
from wayfinder.reducer.vocabulary.event import Envelope

HERE = Path(__file__).parent
LOGS = sorted(HERE.glob("*.jsonl"))
BY_NAME = pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)


def envelopes(log: Path) -> list[Envelope]:
    return [decode(line, Envelope) for line in log.read_bytes().splitlines()]


def digests(log: Path) -> dict[str, str]:
    return json.loads(log.with_suffix(".digest").read_text())


def test_every_story_has_its_log() -> None:
    """A behaviour without a log is not protected (`python tests/golden/write.py`)."""
    assert {log.stem for log in LOGS} >= set(STORIES)


@BY_NAME
def test_a_log_arrives_at_its_digest(log: Path) -> None:
    """Refolded with the digest compared at every batch; the net at the end is sound."""
    session = replay(envelopes(log), "pi-0001", verify=True)
    assert check(session.net) == []
    assert net_digest(session.net) == full_digest(session.net) == digests(log)["net"]
    assert evidence_digest(session.net) == digests(log)["evidence"]


@BY_NAME
def test_the_story_is_still_told_in_the_same_bytes(log: Path) -> None:
    """Deciding on the same patches writes the same events, byte for byte."""
    if log.stem in STORIES:
        lines = [encode(envelope) for envelope in told(log.stem).log]
        assert lines == log.read_bytes().splitlines()


@pytest.mark.parametrize("run", range(3))
def test_digests_do_not_depend_on_hash_seed_or_paging(run: int) -> None:
    """Another process, a random PYTHONHASHSEED, pages that cut lines anywhere: the same digests."""
    seed, page_bytes = random.randrange(2**32), random.choice((1, 7, 100, 4096, 1 << 20))
    told_there = subprocess.run(
        [sys.executable, str(HERE / "refold.py"), str(page_bytes)],
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    wanted = "".join(
        f"{log.stem} {digests(log)['net']} {digests(log)['evidence']}\n" for log in LOGS
    )
    assert told_there == wanted, f"seed {seed}, pages of {page_bytes}"
