"""`wayfinder connect pi`: one folder in, the same folder out, nothing else touched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from wayfinder.adapters.pi import connect, tool_schema


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("PI_CODING_AGENT_DIR", str(tmp_path / "agent"))
    yield connect.pi_home()


def tree(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return json.loads(capsys.readouterr().out)


def test_twice_is_once(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second time changes no byte and says so."""
    assert connect.main(["--json"]) == 0
    assert told(capsys)["action"] == "installed"
    before = tree(home)
    assert set(before) >= {"extensions/wayfinder/wayfinder.js", "extensions/wayfinder/package.json"}
    assert connect.main(["--json"]) == 0
    assert told(capsys)["action"] == "unchanged"
    assert tree(home) == before


def test_an_old_copy_is_brought_up_to_date(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A copy of another version is replaced."""
    connect.main(["--json"])
    (home / "extensions/wayfinder/wayfinder.js").write_text("// older\n")
    capsys.readouterr()
    connect.main(["--json"])
    assert told(capsys)["action"] == "updated"
    fresh = (connect.SOURCE / "wayfinder.js").read_bytes()
    assert (home / "extensions/wayfinder/wayfinder.js").read_bytes() == fresh


def test_a_broken_off_copy_is_mended(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder with some of our files and no manifest is completed, not refused."""
    connect.main([])
    (home / "extensions/wayfinder/package.json").unlink()
    capsys.readouterr()
    assert connect.main(["--json"]) == 0
    assert told(capsys)["action"] == "updated"


def test_remove_leaves_nothing_of_ours(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was there before is there after; nothing more, nothing less."""
    (home / "extensions").mkdir(parents=True)
    (home / "extensions" / "other.js").write_text("export default () => {};\n")
    (home / "settings.json").write_text("{}")
    before = tree(home)
    connect.main([])
    connect.main(["--remove"])
    assert tree(home) == before
    capsys.readouterr()
    connect.main(["--remove", "--json"])
    assert told(capsys)["action"] == "absent"


def test_files_of_others_are_left_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file somebody put beside ours stays and is named."""
    connect.main([])
    (home / "extensions/wayfinder/notes.txt").write_text("mine")
    capsys.readouterr()
    connect.main(["--remove", "--json"])
    assert told(capsys)["left"] == ["notes.txt"]
    assert set(tree(home)) == {
        "extensions",
        "extensions/wayfinder",
        "extensions/wayfinder/notes.txt",
    }


@pytest.mark.parametrize("remove", [[], ["--remove"]])
@pytest.mark.parametrize("what", ["folder", "file", "link"])
def test_what_is_not_ours_is_refused(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], what: str, remove: list[str]
) -> None:
    """Another extension, a file or a link of that name is neither overwritten nor deleted."""
    place = home / "extensions" / "wayfinder"
    place.parent.mkdir(parents=True)
    if what == "folder":
        place.mkdir()
        (place / "package.json").write_text('{"name": "another"}')
        (place / "index.js").write_text("//")
    elif what == "file":
        place.write_text("hello")
    else:
        (tmp_path / "elsewhere").mkdir()
        place.symlink_to(tmp_path / "elsewhere")
    before = tree(home)
    assert connect.main(remove) == 1
    assert "move it away first" in capsys.readouterr().err
    assert tree(home) == before


def test_the_shown_schema_is_the_vocabulary_s() -> None:
    """The stored tool schema is what the vocabulary makes today."""
    assert tool_schema.FILE.read_text("utf-8") == tool_schema.encoded(), (
        "run: python -m wayfinder.adapters.pi.tool_schema"
    )


def test_the_schema_names_every_field_of_every_op() -> None:
    """Nothing an agent may write is missing, and no provider meets a `$ref` or `anyOf`."""
    text = tool_schema.encoded()
    for name in ("whyNow", "expectedEvidence", "exitCondition", "evidenceIds", "successExitMap"):
        assert f'"{name}"' in text
    assert "$ref" not in text
    assert "anyOf" not in text
