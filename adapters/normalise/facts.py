"""Names a selector may match, out of one call. RULES 10, 20.

Names are given as a person would write them in a selector: a test by its full id and by its last
part, a command by its head. A result stands only where the call shows it: in `pytest | tail` the
exit status is not pytest's, so `command:pytest` has none unless pytest's own summary gives it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import Final

from ...reducer.vocabulary.observation import Fact
from ...reducer.vocabulary.terms import EpisodeKind, FactKind, FactResult, Outcome
from .runners import Report
from .shell import Command

FACTS_MAX: Final = 64
_RESULT: Final = {Outcome.OK: FactResult.PASS, Outcome.FAILED: FactResult.FAIL}


def of_command(command: Command, outcome: Outcome, report: Report) -> Iterable[Fact]:
    """One fact for each head; what the runner itself said stands above the exit status."""
    result = _RESULT.get(outcome)
    alone = sum(1 for _, shown in command.heads if shown) <= 2
    for name, shown in command.heads:
        known = result if shown and (alone or result is FactResult.PASS) else None
        if report.verdict is not None and name in report.heads(command):
            known = report.verdict
        yield Fact(FactKind.COMMAND, name, known)


def of_report(report: Report) -> Iterable[Fact]:
    """Failing names first: they are the ones a bound must not lose."""
    found = sorted(report.names, key=lambda item: item[2] is not FactResult.FAIL)
    for kind, name, result in found:
        yield Fact(kind, name, result)
    if len(found) <= FACTS_MAX // 3:
        for kind, name, result in found:
            short = _short(name) if kind is FactKind.TEST else ""
            if short and short != name:
                yield Fact(kind, short, result)


def of_files(paths: Iterable[str], cwd: str) -> Iterable[Fact]:
    for path in paths:
        name = relative(path, cwd)
        if name:
            yield Fact(FactKind.FILE, name)


def bounded(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Each name once; of two results for one name a failure stands."""
    kept: dict[tuple[FactKind, str], Fact] = {}
    for fact in facts:
        key = fact.kind, fact.name
        known = kept.get(key)
        if known is None:
            if len(kept) < FACTS_MAX:
                kept[key] = fact
        elif known.result is None or fact.result is FactResult.FAIL:
            kept[key] = fact if fact.result is not None else known
    return tuple(kept.values())


def relative(path: str, cwd: str) -> str:
    """Repo-relative where it lies below the working directory, else the bare file name."""
    clean = posixpath.normpath(path.replace("\\", "/").strip())
    base = cwd.replace("\\", "/").rstrip("/")
    if base and clean.startswith(base + "/"):
        return clean[len(base) + 1 :]
    absolute = clean.startswith(("/", "~", "../")) or clean[1:3] == ":/"
    name = posixpath.basename(clean) if absolute else clean
    return "" if name in (".", "..", "/") else name


def absolute(path: str, cwd: str) -> str:
    """One spelling for one file, as far as the words alone tell: what a reference is made of."""
    clean = path.replace("\\", "/").strip()
    if not clean.startswith(("/", "~")) and clean[1:3] != ":/":
        clean = posixpath.join(cwd.replace("\\", "/"), clean)
    return posixpath.normpath(clean)


def _short(name: str) -> str:
    for separator in ("::", " › ", " > ", "/"):
        if separator in name:
            return name.rpartition(separator)[2].strip()
    return ""


def kinds_with_reports(kind: EpisodeKind) -> bool:
    """Whose output is read for names: not that of `cat`, which may show a report of any time."""
    return kind in (EpisodeKind.TEST, EpisodeKind.BUILD, EpisodeKind.RUN, EpisodeKind.INSTRUMENT)
