"""The power goes at every operation of a run: what was promised is there, whole, and folds."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from commits import SESSION, Committing, folded
from disk import RecordingDisk, cuts

from wayfinder.daemon.eventlog import connection
from wayfinder.daemon.eventlog.reader import Reader
from wayfinder.daemon.eventlog.writer import Writer

PATCHES = 40
SEEDS = 4
LOG = "wayfinder.db"


def recorded(folder: Path, disk: RecordingDisk, patches: int) -> list[str]:
    """Runs the patches once. The digest after each; `disk.acked` counts what was promised."""
    committing = Committing(folder / LOG, disk.name)
    digests = [""]
    for number in range(patches):
        assert committing.submit(number)["status"] == "applied"
        disk.acked = number + 1
        digests.append(committing.digest())
    committing.close()
    return digests


@pytest.fixture
def in_memory(tmp_path: Path) -> Iterator[Path]:
    """A folder whose syncs cost nothing, where the system has one: the cuts are ours, not its."""
    memory = Path("/dev/shm")
    parent = memory if os.access(memory, os.W_OK) else tmp_path
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        yield Path(folder)


def restored(folder: Path, files: dict[str, bytes]) -> Path:
    for old in folder.iterdir():
        old.unlink()
    for name, content in files.items():
        if not name.endswith("-shm"):  # shared memory does not outlive the power
            (folder / name).write_bytes(content)
    return folder / LOG


class Losses(NamedTuple):
    checked: int
    lost: int  # cuts after which a promised patch was gone
    torn: int  # cuts after which a batch was there in part, or folded to another net


def cut_everywhere(folder: Path, patches: int, seeds: int) -> Losses:
    run, after = folder / "run", folder / "after"
    run.mkdir()
    after.mkdir()
    disk = RecordingDisk()
    digests = recorded(run, disk, patches)
    known: dict[bytes, tuple[int, str]] = {}  # equal bytes fold equally: each is folded once
    lost = torn = checked = 0
    for number, seed, files in cuts(disk.operations, seeds):
        acked = disk.operations[number].acked
        if LOG not in files or not files[LOG]:
            assert acked == 0
            continue
        path = restored(after, files)
        writer = Writer(path)  # recovery happens here
        assert writer.read.check() == [], f"cut {number} seed {seed}"
        chain = chain_of(writer)
        writer.close()
        if chain not in known:
            known[chain] = folded(path) if chain else (0, "")
        revision, digest = known[chain]
        lost += revision < acked
        torn += revision > 0 and digest != digests[revision]
        checked += 1
    return Losses(checked, lost, torn)


def test_no_promise_is_broken_by_a_power_cut(in_memory: Path) -> None:
    """At every cut point, with every fate of the unsynced writes: sound, whole, nothing lost."""
    losses = cut_everywhere(in_memory, PATCHES, SEEDS)
    assert losses.checked > PATCHES * SEEDS
    assert losses[1:] == (0, 0)


def test_a_log_that_syncs_less_is_caught(in_memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same cuts find the promises that synchronous=NORMAL breaks: the test can fail."""
    weaker = tuple(p.replace("= FULL", "= NORMAL") for p in connection.WRITER_PRAGMAS)
    monkeypatch.setattr(connection, "WRITER_PRAGMAS", weaker)
    assert cut_everywhere(in_memory, patches=8, seeds=2).lost > 0


def chain_of(writer: Writer) -> bytes:
    """The running hash over all bytes of all events, as the reader checks them one by one."""
    for _ in writer.read.events(SESSION):
        pass
    row = writer.connection.execute(
        "SELECT chain FROM net_events ORDER BY session_seq DESC LIMIT 1"
    ).fetchone()
    return bytes(row[0]) if row else b""


def test_a_backup_taken_in_use_restores(tmp_path: Path) -> None:
    """A copy made between two commits opens, folds, and has the digest of that moment."""
    committing = Committing(tmp_path / LOG)
    for number in range(5):
        committing.submit(number)
    reader = Reader.open(tmp_path / LOG)
    copy = tmp_path / "copy.db"
    reader.backup(copy)
    at_copy = committing.digest()
    committing.submit(5)
    reader.close()
    committing.close()
    assert folded(copy) == (5, at_copy)
