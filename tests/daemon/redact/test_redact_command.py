"""`python -m wayfinder.daemon.redact`: people see what would be stored."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from wayfinder.daemon.redact.report import render
from wayfinder.daemon.redact.spans import Redacted, Span

ROOT = Path(__file__).parents[3]
SECRET = "Walnut" + "-" + str(31 * 61) + "!"


def run(text: str, *arguments: str, state: Path) -> subprocess.CompletedProcess[str]:
    """The real command, with a state folder of its own."""
    command = [sys.executable, "-P", "-m", "wayfinder.daemon.redact", "--state", str(state)]
    return subprocess.run(
        [*command, *arguments], input=text, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests here: the first one compiles the rules, the others load them."""
    return tmp_path_factory.mktemp("redact") / "state"


def test_it_prints_what_would_be_stored(state: Path) -> None:
    """Standard input comes out masked, and nothing else is said."""
    done = run(f"user: bob\npassword: {SECRET}\n", "--level", "1", state=state)
    assert done.stdout == "user: bob\npassword: [redacted:assignment]\n"
    assert (done.returncode, done.stderr) == (0, "")


def test_the_json_form_points_into_the_input_and_repeats_no_secret(state: Path) -> None:
    """One line: level, text, spans in code points."""
    text = f"密码：{SECRET}"
    done = run(text, "--level", "2", "--json", state=state)
    answer = json.loads(done.stdout)
    assert answer["level"] == 2
    assert [text[s["start"] : s["end"]] for s in answer["spans"]] == [SECRET]
    assert SECRET not in done.stdout


def test_the_report_is_as_drawn() -> None:
    """The wire form, field by field."""
    redacted = Redacted("password=[redacted:assignment]", (Span(9, 20, "assignment"),))
    assert render(redacted, 2, False) == redacted.text
    assert render(redacted, 2, True) == (
        '{"level":2,"text":"password=[redacted:assignment]",'
        '"spans":[{"start":9,"end":20,"rule":"assignment"}]}\n'
    )


def test_the_second_opinion_is_asked_and_its_markers_are_ignored(state: Path) -> None:
    """kingfisher runs in the worker, with its rules cached in the private state folder."""
    token = "gh" + "p_" + "hAksoG6n43D41OOjpR2eFV7HeBCQ270ZMCj2"
    done = run(f"{token} # kingfisher:ignore\n", "--level", "1", state=state)
    assert token[8:] not in done.stdout
    cached = list((state / "redact").iterdir())
    assert cached and all(path.stat().st_mode & 0o077 == 0 for path in cached)


def test_nothing_in_the_tree_names_what_validates_or_revokes_keys() -> None:
    """The same package can call providers and revoke real keys; we never import that."""
    forbidden = ("Vali" + "dator", "Revo" + "ker", "Detection" + "Scanner", "Detection" + "Policy")
    floors = ("reducer", "daemon", "adapters", "observer", "clients")
    for path in (path for floor in floors for path in (ROOT / floor).rglob("*.py")):
        source = path.read_text()
        if "kingfisher_sdk" in source:
            assert not [name for name in forbidden if name in source], path
