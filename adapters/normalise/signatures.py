"""The shape of one trouble: which line says it, what is masked, and the digest. DESIGN 5.

The line is chosen from the most telling kind of line that stands in the output, so that progress
(another failing test, another compiler error) makes another signature, and noise does not.
"""

from __future__ import annotations

import re
from typing import Final

from ...reducer.vocabulary.observation import Refusal, Signature
from ...reducer.vocabulary.terms import EpisodeKind, Outcome
from .ports import Refs
from .text import LINE_CHARS, excerpt, first_line, masked, one_line, plain

TROUBLES: Final = frozenset({Outcome.FAILED, Outcome.TOOL_ERROR})
# Words that make a line telling when nothing better stands in the output.
_WORDS: Final = (
    "command not found", "No such file or directory", "[Pp]ermission denied", "ENOENT", "EACCES",
    "[Cc]annot find", "not found", "not allowed", "[Cc]ould not", "[Ff]ailed", "FAILED",
    "Traceback", "refused", "timed out", "not logged in", "[Uu]nable to", "[Pp]arse [Ee]rror",
    "verification failed", "[Ii]nvalid",
)  # fmt: skip
# Most telling first. Each matches within one line.
_TELLING: Final = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        r"^(?:FAILED|ERROR) \S+::.{1,300}$",  # pytest, short summary
        r"^\s*--- FAIL: .{1,200}$",  # go test
        r"^test .{1,200} \.\.\. FAILED$",  # cargo test
        r"^\s*(?:●|FAIL)\s+.{0,200}(?:›|>).{1,200}$",  # jest, vitest
        r"^\s*(?:✕|✗|✖|×)\s.{1,300}$",
        r"^not ok \d+.{1,300}$",  # TAP
        r"^E\s{2,}\S.{1,300}$",  # pytest, the assertion
        r"^.{0,200}\berror TS\d+: .{1,300}$",  # tsc
        r"^error(?:\[E\d+\])?: .{1,300}$",  # rustc, cargo, git, uv
        r"^.{1,200}:\d+:\d+: (?:fatal )?error:? .{1,300}$",  # gcc, clang
        r"^\S{1,200}\.go:\d+:\d+: .{1,300}$",  # go vet, go build
        r"^\s+\d+:\d+\s+error\s.{1,300}$",  # eslint
        r"^\S{1,200}:\d+:\d+: [A-Z]+\d+ .{1,300}$",  # ruff, flake8
        r"^(?:[\w.]+\.)?(?:[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning))(?:: .{0,300})?$",
        r"^(?:Uncaught )?(?:[A-Z]\w*)?Error(?: \[\w+\])?: .{1,300}$",
        r"^panic: .{1,300}$|^thread '.{1,80}' panicked.{0,200}$",
        r"^npm (?:ERR!|error) (?:code|Missing|missing) .{1,300}$",
        r"^(?:fatal|FATAL|error|Error|ERROR)[:!\s].{1,300}$",
        r"^.{0,200}(?:" + "|".join(_WORDS) + r").{0,200}$",
    )
)
# Lines that only repeat that something failed.
_GENERIC: Final = re.compile(
    r"\s*(?:\(no output\)|Command exited with code \d+|Exit code:? ?\d+|exit status \d+"
    r"|Process exited with code \d+|Exit Code: \d+|Error: Exit code \d+|Error:?|</?\w+>)\s*\Z"
)


NO_LINE: Final = "failed without an error line that is known"


def telling_line(text: str) -> str:
    """The line of an output that names the trouble, unmasked; empty if none is recognised.

    Never just any line: output is data, and what is not recognised is not stored.
    """
    shown = plain(excerpt(text))
    for pattern in _TELLING:
        for match in pattern.finditer(shown):
            if not _GENERIC.match(match[0]):
                return one_line(match[0], LINE_CHARS)
    return ""


def signature(
    text: str, tool_class: EpisodeKind, outcome: Outcome, refs: Refs, *, line: str | None = None
) -> Signature | None:
    """None when the outcome is no trouble of the work itself."""
    if outcome not in TROUBLES:
        return None
    said = telling_line(text) if line is None else line
    if not said and outcome is Outcome.TOOL_ERROR:  # written by the tool itself, not by a program
        said = first_line(text, LINE_CHARS)
    shape = masked(said) or NO_LINE
    digest = refs.ref("signature", f"{tool_class}|{outcome}|{shape}")
    return Signature(digest=digest, tool_class=tool_class, outcome=outcome, sample=shape)


def refusal(text: str, refs: Refs) -> Refusal:
    """A gate, by what it says; the same words are the same gate, whatever was refused."""
    quote = first_line(text, LINE_CHARS) or "refused without a reason"
    return Refusal(digest=refs.ref("refusal", masked(quote)), quote=quote)
