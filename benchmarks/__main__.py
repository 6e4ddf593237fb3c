"""`make bench`: every module here that has a `run() -> list[Result]`, in turn.

python -m benchmarks [NAME …]        writes benchmarks/results.json and prints a table
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import msgspec

from .result import Result

FOLDER = Path(__file__).parent


def modules(wanted: list[str]) -> list[str]:
    found = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))
    unknown = set(wanted) - set(found)
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are: {', '.join(found)}")
    return [name for name in found if not wanted or name in wanted]


def main() -> None:
    results: list[Result] = []
    print(f"{'':<58}{'ours':>12}  {'peer':>12}  {'ratio':>7}  {'spread':>6}")
    for name in modules(sys.argv[1:]):
        run = getattr(importlib.import_module(f"{__package__}.{name}"), "run", None)
        if run is None:
            continue
        for result in run():
            results.append(result)
            print(line(result), flush=True)
        if not sys.argv[1:]:  # after each module: a run that is cut short leaves its figures
            body = msgspec.json.format(msgspec.json.encode(results), indent=2)
            (FOLDER / "results.json").write_bytes(body + b"\n")


def line(result: Result) -> str:
    peer = f"{result.peer_value:>12,.2f}" if result.peer_value is not None else " " * 12
    ratio = f"{result.ratio:>6,.2f}×" if result.ratio is not None else " " * 7
    spread = f"{result.spread:>6.2f}" if result.spread is not None else " " * 6
    told = f"{result.name} [{result.unit}]"
    beside = f"  {result.peer}" if result.peer else ""
    return f"{told:<58}{result.ours:>12,.2f}  {peer}  {ratio}  {spread}{beside}"


if __name__ == "__main__":
    main()
