"""The e2e folder's helpers are plain modules beside the tests; this makes them importable."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

if TYPE_CHECKING:
    from pi_harness import Home


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `pi` runs once with each installed version."""
    from pi_harness import VERSIONS

    if "pi" in metafunc.fixturenames:
        metafunc.parametrize("pi", VERSIONS, ids=[v.version for v in VERSIONS])


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A throw-away Pi home with the extension installed."""
    from pi_harness import Home

    made = Home(tmp_path / "pi")
    made.connect()
    return made


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    from refresh_story import lay

    return lay(tmp_path / "login-refresh")


@pytest.fixture
def sock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short path: sun_path holds 108 bytes."""
    return tmp_path_factory.mktemp("s") / "a.sock"
