"""The repository's own rules, held by tests: direction of imports, purity, packaging, words."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLOORS = ("reducer", "daemon", "adapters", "observer", "clients")
LEAVES = {"adapters", "observer", "clients"}
MAY_IMPORT = {
    "reducer": {"reducer"},
    "daemon": {"daemon", "reducer"},
    **{leaf: {leaf, "daemon", "reducer"} for leaf in LEAVES},
}
# What a pure floor may not even name: clocks, chance, files, processes, sockets.
IMPURE = {
    "time", "random", "secrets", "os", "pathlib", "socket", "subprocess", "threading", "asyncio",
    "zmq", "apsw", "sqlite3", "uuid", "tempfile", "io", "sys", "logging", "structlog", "platform",
}  # fmt: skip
LINES_MAX = 400


def sources(folder: str) -> Iterator[Path]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        if "node_modules" not in path.parts:
            yield path


def imports(path: Path) -> Iterator[tuple[str, int]]:
    """Absolute dotted names imported by a module, relative ones resolved below the root."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    if path.name == "__init__.py":
        package = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                yield node.module or "", node.lineno
            else:
                base = package[: len(package) - (node.level - 1)]
                names = [node.module] if node.module else [a.name for a in node.names]
                for name in names:
                    yield ".".join((*base, *(name.split(".") if name else ()))), node.lineno


ALL_SOURCES = [path for floor in FLOORS for path in sources(floor)]


@pytest.mark.parametrize("path", ALL_SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_down_only(path: Path) -> None:
    """A module imports its own floor and those below it; leaves never import one another."""
    floor = path.relative_to(ROOT).parts[0]
    for name, line in imports(path):
        top = name.split(".")[0]
        if top in FLOORS:
            assert top in MAY_IMPORT[floor], f"{path}:{line} imports {name}"
        assert not name.startswith("wayfinder"), f"{path}:{line}: relative imports only"


@pytest.mark.parametrize("path", list(sources("reducer")), ids=lambda p: str(p.relative_to(ROOT)))
def test_the_reducer_is_pure(path: Path) -> None:
    """Nothing in reducer/ can reach a clock, chance, a file, a process or a socket."""
    for name, line in imports(path):
        top = name.split(".")[0]
        assert top not in IMPURE, f"{path}:{line} imports {name}"
    text = path.read_text("utf-8")
    for call in ("datetime.now(", "datetime.utcnow(", "date.today(", " open("):
        assert call not in text, f"{path} calls {call}"


def test_litellm_has_one_door() -> None:
    """Only observer/model.py imports litellm."""
    for path in ALL_SOURCES:
        for name, line in imports(path):
            if name.split(".")[0] == "litellm":
                assert path == ROOT / "observer" / "model.py", f"{path}:{line}"


def test_every_package_is_listed() -> None:
    """The hand-kept list of packages in pyproject.toml names every folder with an __init__.py."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    listed = set(project["tool"]["setuptools"]["packages"])
    found = {"wayfinder"}
    for floor in FLOORS:
        for init in (ROOT / floor).rglob("__init__.py"):
            if "node_modules" not in init.parts:
                found.add(".".join(("wayfinder", *init.parent.relative_to(ROOT).parts)))
    assert listed == found


def test_the_root_holds_no_code() -> None:
    """The root is the package itself; the only Python file in it is an empty __init__.py."""
    assert [path.name for path in ROOT.glob("*.py")] == ["__init__.py"]
    assert (ROOT / "__init__.py").read_text() == ""


@pytest.mark.parametrize("path", ALL_SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_fits_one_reading(path: Path) -> None:
    """Modules stay short; what grows past a reading is split by its reasons to change."""
    assert len(path.read_text("utf-8").splitlines()) <= LINES_MAX


def test_tests_are_no_package() -> None:
    """Tests import the product absolutely; a package of tests would load a second copy."""
    assert not list((ROOT / "tests").rglob("__init__.py"))
