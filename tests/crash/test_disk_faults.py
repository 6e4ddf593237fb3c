"""A full or failing disk at every operation: a clean refusal or a full success, then recovery."""

from __future__ import annotations

import contextlib
from pathlib import Path

import apsw
import pytest
from commits import Committing, folded
from disk import FaultyDisk, RecordingDisk

from wayfinder.daemon.eventlog.connection import LogUnavailable

PATCHES = 4


def run(folder: Path, disk: RecordingDisk) -> tuple[Committing | None, int]:
    """Patches until the disk fails; (what ran, how many were promised)."""
    acked = 0
    committing = None
    with contextlib.suppress(apsw.Error, LogUnavailable):
        committing = Committing(folder / "wayfinder.db", disk.name)
        for number in range(PATCHES):
            assert committing.submit(number)["status"] == "applied"
            acked = number + 1
    return committing, acked


@pytest.mark.parametrize("fault", [apsw.FullError, apsw.IOError], ids=["full", "failing"])
def test_every_fault_is_refused_cleanly_and_healed(tmp_path: Path, fault: type[apsw.Error]) -> None:
    """Wherever the disk fails, promised patches stay, and after mending the run goes on."""
    healthy = RecordingDisk()
    (tmp_path / "healthy").mkdir()
    whole, _ = run(tmp_path / "healthy", healthy)
    assert whole is not None
    digest = whole.digest()
    whole.close()
    operations = [o for o in healthy.operations if o.kind != "delete"]
    for at in range(len(operations)):
        folder = tmp_path / f"{at}"
        folder.mkdir()
        disk = FaultyDisk(at, fault)
        committing, acked = run(folder, disk)
        if committing is not None:
            with contextlib.suppress(apsw.Error):
                committing.close()
        disk.mend()
        committing = Committing(folder / "wayfinder.db")
        kept, _ = folded(folder / "wayfinder.db") if acked else (0, "")
        assert kept >= acked, f"lost a promised patch at operation {at}"
        for number in range(PATCHES):
            again = committing.submit(number, revision=number)
            assert again["status"] == "applied", again
        assert committing.digest() == digest
        committing.close()
        assert folded(folder / "wayfinder.db") == (PATCHES, digest)
