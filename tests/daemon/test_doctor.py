"""The doctor finds what is wrong, says it in a sentence, and touches nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from commits import Committing

from wayfinder.daemon.doctor import Finding, Health, examine
from wayfinder.daemon.paths import Paths, prepare


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = Paths(tmp_path / "r", tmp_path / "s", tmp_path / "c")
    prepare(paths)
    return paths


def bad(paths: Paths, *, drill: bool = False) -> list[Finding]:
    return [f for f in examine(paths, drill=drill) if f.health is Health.BAD]


def recorded(paths: Paths) -> None:
    committing = Committing(paths.database)
    for number in range(3):
        committing.submit(number)
    committing.close()


def test_an_empty_home_is_no_illness(paths: Paths) -> None:
    """Before anything was recorded there is nothing bad to say."""
    assert bad(paths) == []


def test_a_sound_log_passes_and_its_restore_is_rehearsed(paths: Paths) -> None:
    """A log in order passes every check, and a copy of it restores to the same digests."""
    recorded(paths)
    before = paths.database.read_bytes()
    assert bad(paths, drill=True) == []
    assert paths.database.read_bytes() == before
    says = [f.says for f in examine(paths, drill=True) if f.what == "restore drill"]
    assert says == ["a copy of the log restores 1 sessions, all digests equal"]


def test_a_flipped_byte_is_found(paths: Paths) -> None:
    """One changed letter inside a stored event is found by the chain over all bytes."""
    recorded(paths)
    content = paths.database.read_bytes()
    at = content.rindex(b'"intent":"step 1"')
    flipped = content[: at + 10] + b"S" + content[at + 11 :]
    paths.database.write_bytes(flipped)
    assert any("sessions" in f.what or "log" in f.what for f in bad(paths))


def test_an_open_folder_and_a_wrong_setting_are_named(paths: Paths) -> None:
    """A folder others may enter and a misspelt setting are both said, each with what is right."""
    paths.state.chmod(0o755)
    paths.config.mkdir()
    paths.settings.write_text("declared_paths = true\n")
    said = {f.what: f.says for f in bad(paths)}
    assert "mode 700" in said["folders"]
    assert "declared_paths" in said["settings"]


def test_a_file_of_another_program_is_left_alone(paths: Paths) -> None:
    """A database that is not ours is refused with a sentence, not opened and not changed."""
    paths.database.write_bytes(b"not a database at all, but long enough to look at" * 20)
    before = paths.database.read_bytes()
    assert bad(paths)
    assert paths.database.read_bytes() == before
