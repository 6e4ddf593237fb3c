"""How test runners, compilers and linters print what they found. Tables, and one pass over lines.

A name is taken only from a line whose shape belongs to a runner, and only from the output of a
command that ran something (`facts.kinds_with_reports`). A verdict comes only from a line that a
runner prints exactly once, at its end; it decides where a pipe hides the exit status.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from ...reducer.vocabulary.terms import EpisodeKind, FactKind, FactResult
from .shell import Command
from .text import excerpt, masked, plain

NAMES_MAX: Final = 200
LINES_MAX: Final = 2000
LINE_CHARS: Final = 500

T, A, F, TR = FactKind.TEST, FactKind.ASSERTION, FactKind.FILE, FactKind.TRACE
PASS, FAIL = FactResult.PASS, FactResult.FAIL
Name = tuple[FactKind, str, FactResult | None]

_WORD_RESULT: Final = {
    "PASSED": PASS, "FAILED": FAIL, "ERROR": FAIL, "XPASS": PASS, "PASS": PASS, "FAIL": FAIL,
    "ok": PASS, "not ok": FAIL, "✓": PASS, "✔": PASS, "√": PASS, "✕": FAIL, "✗": FAIL, "✖": FAIL,
    "×": FAIL,
}  # fmt: skip


class Report(Struct, frozen=True):
    """`names` in the order printed; `verdict`: what the runner said of the whole run."""

    names: tuple[Name, ...] = ()
    verdict: FactResult | None = None

    def heads(self, command: Command) -> set[str]:
        """The heads the verdict speaks of: those of a line that tests or builds."""
        if command.kind not in (EpisodeKind.TEST, EpisodeKind.BUILD):
            return set()
        return {name for name, _ in command.heads}


EMPTY: Final = Report()


Names = tuple[Name, ...]


def _both(kind: FactKind) -> Callable[[re.Match[str]], Names]:
    def take(found: re.Match[str]) -> Names:
        return ((kind, found["n"].strip(), _WORD_RESULT.get(found["r"])),)

    return take


def _failed(kind: FactKind) -> Callable[[re.Match[str]], Names]:
    def take(found: re.Match[str]) -> Names:
        name = found["n"].strip()
        return ((kind, masked(name) if kind is A else name, FAIL),)  # assertions' words hold data

    return take


def _pytest_short(found: re.Match[str]) -> Names:
    said = ((A, masked(found["m"]), FAIL),) if found["m"] else ()
    return ((T, found["n"], FAIL), *said)


def _compiler(found: re.Match[str]) -> Names:
    return ((A, masked(found["n"]), FAIL), (F, found["f"].strip(), FAIL))


def _rule(found: re.Match[str]) -> Names:
    return ((A, found["n"].strip(), FAIL if found["r"] == "error" else None),)


def _seen(found: re.Match[str]) -> Names:
    return ((TR, found["n"], None),)


def _traced(word: str) -> str:
    return rf".{{0,200}}\b{word}(?:[_.]?name)?[\"']?\s*[=:]\s*[\"']?(?P<n>\w[\w./:@-]{{1,120}})"


_MARKED: Final = r"\s*(?P<r>[✓✔√✕✗✖×]) (?P<n>\S.{0,200}?)(?:\s+\(?\d[\d.]*\s?m?s\)?)?$"
_TSC: Final = r"(?P<f>[^\s(:]{1,300})[(:]\d+[,:]\d+\)?(?:: | - )error (?P<n>TS\d+)"
_MYPY: Final = r"(?P<f>[^\s:]{1,300}\.pyi?):\d+: error: .{0,300}\[(?P<n>[\w-]+)\]$"
_ESLINT: Final = r"\s+\d+:\d+\s+(?P<r>error|warning)\s.{1,300}\s(?P<n>[@\w-]+(?:/[\w-]+)*)\s*$"
Take = Callable[[re.Match[str]], Names]
# (words of which one must stand in the text, line shape, what it says): the words keep the cost
# of all that is no report near nothing.
_LINES: Final[tuple[tuple[tuple[str, ...], re.Pattern[str], Take], ...]] = tuple(
    (tuple(words.split("|")), re.compile(pattern), take)
    for words, pattern, take in (
        # pytest
        ("::", r"(?P<n>\S+::\S.{0,300}?)\s+(?P<r>PASSED|FAILED|ERROR|XPASS)\b", _both(T)),
        ("::", r"(?:FAILED|ERROR) (?P<n>\S+::\S+?)(?: - (?P<m>.{1,160}))?$", _pytest_short),
        ("E  ", r"E\s{2,}(?P<n>[\w.]*(?:Error|Exception|Failed)\b.{0,160})", _failed(A)),
        ("E  ", r"E\s{2,}(?P<n>assert .{1,160})", _failed(A)),
        # unittest
        (" ... ", r"(?P<n>\w+) \([\w.]+\)(?: .{0,120})? \.\.\. (?P<r>ok|FAIL|ERROR)$", _both(T)),
        ("FAIL:", r"(?:FAIL|ERROR): (?P<n>\w+) \([\w.]+\)", _failed(T)),
        # jest, vitest, mocha, node:test
        ("✓|✔|√|✕|✗|✖|×", _MARKED, _both(T)),
        ("● ", r"\s*● (?P<n>[^›]{1,160} › .{1,200})$", _failed(T)),
        (" > ", r"\s*FAIL\s+(?P<n>\S.{0,200}? > .{1,200})$", _failed(T)),
        ("PASS", r"\s*(?P<r>PASS|FAIL)\s+(?P<n>\S+\.[cm]?[jt]sx?)(?:\s+\(.{1,40}\))?$", _both(F)),
        # go
        ("--- ", r"\s*--- (?P<r>PASS|FAIL): (?P<n>\S{1,200})", _both(T)),
        ("FAIL\t", r"(?P<r>FAIL)\t(?P<n>\S{1,200})", _both(T)),
        ("ok  \t", r"(?P<r>ok)\s+\t(?P<n>\S{1,200})\t", _both(T)),
        # cargo
        ("test ", r"test (?P<n>\S{1,200}) \.\.\. (?P<r>ok|FAILED)$", _both(T)),
        ("panicked at", r"thread '(?P<n>[^']{1,160})'.{0,60} panicked at", _failed(A)),
        ("error[", r"error\[(?P<n>E\d+)\]", _failed(A)),
        # TAP
        ("ok 1 ", r"\s*(?P<r>ok|not ok) \d+ (?:- )?(?P<n>[^#\s].{0,200}?)(?: # .*)?$", _both(T)),
        # tsc, gcc, ruff, eslint
        ("error TS", _TSC, _compiler),
        (": error", r"(?P<f>[^\s:]{1,300}):\d+:\d+: (?:fatal )?error: (?P<n>.{1,120})", _compiler),
        (".go:", r"(?P<f>\S{1,300}\.go):\d+:\d+: (?P<n>.{1,120})", _compiler),
        (".py:", r"(?P<f>[^\s:]{1,300}\.py):\d+:\d+: (?P<n>[A-Z]{1,4}\d{2,4})\b", _compiler),
        (": error:", _MYPY, _compiler),
        ("error", _ESLINT, _rule),
        # rspec, phpunit, maven
        ("rspec ", r"rspec (?P<n>\./\S{1,200})", _failed(T)),
        ("[ERROR]", r"\[ERROR\]\s+(?P<n>[\w.]+Test\w*[.:]\w+)", _failed(T)),
        (") ", r"\d+\) (?P<n>\w+(?:\\\w+)*::\w+)", _failed(T)),
        # assertions of their own
        ("Error", r"\s*(?:Uncaught )?(?P<n>AssertionError(?: \[\w+\])?: .{1,160})$", _failed(A)),
        ("expect(", r"\s*(?:Error: )?(?P<n>expect\(.{1,160})$", _failed(A)),
        # traces
        ("span=|span:|span_name|span.name|span\": ", _traced("span"), _seen),
        ("trace=|trace:|trace_name|trace.name|trace\": ", _traced("trace"), _seen),
    )
)  # fmt: skip

# A runner's own summary of the whole run. A failure anywhere decides.
_VERDICTS: Final[tuple[tuple[tuple[str, ...], re.Pattern[str], FactResult], ...]] = tuple(
    (tuple(words.split("|")), re.compile(pattern, re.MULTILINE), result)
    for words, pattern, result in (
        ("===", r"^=+ .{0,200}\b\d+ (?:failed|errors?)\b.{0,100} =+$", FAIL),  # pytest
        (" failed", r"^\d+ failed\b.{0,100} in [\d.]+s", FAIL),
        ("FAILED (", r"^FAILED \((?:failures|errors)=", FAIL),  # unittest
        ("Tests:|Test:", r"^Tests?:\s+(?:\d+ \w+, )*[1-9]\d* failed", FAIL),  # jest
        ("Test", r"^\s*Tests?\s+[1-9]\d* failed", FAIL),  # vitest
        ("Test Files", r"^\s*Test Files\s+[1-9]\d* failed", FAIL),
        ("failing", r"^\s*[1-9]\d* failing$", FAIL),  # mocha
        ("FAIL", r"^FAIL(?:\t|$)", FAIL),  # go
        ("test result", r"^test result: FAILED", FAIL),  # cargo
        ("error: ", r"^error: could not compile|^error: aborting due to", FAIL),
        ("fail ", r"^(?:# |ℹ )fail [1-9]", FAIL),  # node:test
        ("Found ", r"^Found [1-9]\d* errors?\b", FAIL),  # tsc, ruff, mypy, biome
        ("problem", r"^✖ [1-9]\d* problems? \([1-9]\d* errors?", FAIL),  # eslint
        ("error TS", r"^[^\n]{1,300}\berror TS\d+: ", FAIL),
        ("npm ", r"^npm (?:ERR!|error) (?:code|Lifecycle|Test failed)", FAIL),
        ("make", r"^make(?:\[\d+\])?: \*\*\* ", FAIL),
        ("[ERROR]", r"^\[ERROR\] .{0,80}(?:BUILD FAILURE|Failed to execute goal)", FAIL),
        ("BUILD FAILED", r"^BUILD FAILED", FAIL),
        ("===", r"^=+ .{0,120}\b\d+ passed\b.{0,80} =+$", PASS),
        (" passed", r"^\d+ passed\b.{0,60} in [\d.]+s", PASS),
        ("Ran ", r"^Ran \d+ tests? in [^\n]{1,40}\n\nOK", PASS),
        ("Tests:|Test:", r"^Tests?:\s+(?:\d+ \w+, )*\d+ passed", PASS),
        ("Tests", r"^\s*Tests\s+\d+ passed", PASS),
        ("passing", r"^\s*\d+ passing\b", PASS),
        ("test result", r"^test result: ok\.", PASS),
        ("fail 0", r"^(?:# |ℹ )fail 0$", PASS),
    )
)  # fmt: skip


# Word → the rows it lets in; one pass over the words decides which rows are tried at all.
_LINE_WORDS: Final = tuple((w, n) for n, (words, _, _) in enumerate(_LINES) for w in words)
_VERDICT_WORDS: Final = tuple((w, n) for n, (words, _, _) in enumerate(_VERDICTS) for w in words)


def read(text: str) -> Report:
    """Everything the runners' tables find in an output. Linear in an excerpt of the text."""
    shown = plain(excerpt(text))
    rows = [_LINES[n] for n in sorted({n for word, n in _LINE_WORDS if word in shown})]
    names: list[Name] = []
    for line in shown.split("\n", LINES_MAX)[:LINES_MAX] if rows else ():
        if not line or len(line) > LINE_CHARS or len(names) >= NAMES_MAX:
            continue
        for _, pattern, take in rows:
            found = pattern.match(line)
            if found is not None:
                names += take(found)
                break
    return Report(tuple(name for name in names if name[1]), _verdict(shown))


def _verdict(shown: str) -> FactResult | None:
    for n in sorted({n for word, n in _VERDICT_WORDS if word in shown}):
        _, pattern, result = _VERDICTS[n]
        if pattern.search(shown):
            return result
    return None
