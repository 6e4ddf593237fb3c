"""Groups of tests that need something a machine may lack, and the word about what was left out.

A group is a marker. Its tests run where its need is met; elsewhere they are not selected, and the
last lines of the run name the group and the reason. `--require=all` makes that a failure.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def corpus_folder() -> Path | None:
    """Recorded sessions of many agents, if this checkout has them beside it."""
    named = os.environ.get("WAYFINDER_CORPUS")
    folder = Path(named) if named else ROOT.parent / "shared" / "corpus"
    return folder if (folder / "unpack").is_file() else None


def _lacks_corpus() -> str | None:
    if corpus_folder() is None:
        return "no folder of recorded sessions (WAYFINDER_CORPUS)"
    return None


def _lacks_node() -> str | None:
    if shutil.which("node") is None:
        return "no node on the PATH"
    if not (ROOT / "tests/e2e/node_modules/.ready").exists():
        return "npm packages of tests/e2e are not installed (make test installs them)"
    return None


def _lacks_browser() -> str | None:
    if shutil.which("chromium") is None:
        return "no chromium on the PATH"
    return None


GROUPS: dict[str, tuple[str, Callable[[], str | None]]] = {
    "corpus": ("real session logs of many agents", _lacks_corpus),
    "node": ("real Pi from npm", _lacks_node),
    "browser": ("the page in real Chromium", _lacks_browser),
}

_left_out = pytest.StashKey[dict[str, tuple[int, str]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--require", default="", help="'all': fail if a group of tests is left out")


def pytest_configure(config: pytest.Config) -> None:
    for name, (what, _) in GROUPS.items():
        config.addinivalue_line("markers", f"{name}: needs {what}")
    config.addinivalue_line("markers", "soak: long; run by `make soak` only")
    config.stash[_left_out] = {}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    reasons = {name: lacks() for name, (_, lacks) in GROUPS.items()}
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    soak_wanted = bool(os.environ.get("WAYFINDER_SOAK"))
    for item in items:
        missing = [n for n, why in reasons.items() if why and item.get_closest_marker(n)]
        for name in missing:
            count, _ = config.stash[_left_out].get(name, (0, ""))
            config.stash[_left_out][name] = (count + 1, reasons[name] or "")
        asleep = item.get_closest_marker("soak") is not None and not soak_wanted
        (dropped if missing or asleep else kept).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, (count, why) in terminalreporter.config.stash[_left_out].items():
        terminalreporter.write_line(f"left out: {count} tests of group '{name}': {why}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    wanted = session.config.getoption("--require") == "all"
    if wanted and session.config.stash[_left_out] and exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked corpus: `sessions/` and `secrets/` below the folder."""
    import subprocess

    folder = corpus_folder()
    assert folder is not None, "tests of group 'corpus' run only where the folder exists"
    unpacked = tmp_path_factory.mktemp("corpus")
    subprocess.run([str(folder / "unpack"), str(unpacked)], check=True, capture_output=True)
    return unpacked
