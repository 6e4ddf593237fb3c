"""A command line, as far as it must be understood: its heads, its kind, whose exit status shows.

Not a shell parser. Quotes, here-documents and substitutions are respected only so that their
contents are not taken for commands. Bounded: `CHARS_MAX` characters, `SEGMENTS_MAX` commands.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

from ...reducer.vocabulary.terms import EpisodeKind as K
from .shell_tables import (
    KINDS,
    KINDS_2,
    RUNNERS,
    SCRIPT_WORDS,
    SILENT,
    SUBCOMMANDS,
    TRIMMERS,
    WRAPPERS,
)

CHARS_MAX: Final = 8 * 1024
SEGMENTS_MAX: Final = 24
# A compound line is called after the strongest thing it does.
_STRENGTH: Final = (K.TEST, K.BUILD, K.INSTRUMENT, K.EDIT, K.RUN, K.SEARCH, K.INSPECT)

_TOKEN: Final = re.compile(
    r"""\\.|'[^']*'?|"(?:[^"\\]|\\.)*"?|\$\((?:[^()]|\([^()]*\))*\)?|`[^`]*`?"""
    r"""|&&|\|\||\|&|[;|\n&(){}]|\d?>&\d|&?\d?>>?\s*|\d?<|\s+|[^\s\\'"`$;|&(){}<>]+|\S""",
    re.DOTALL,
)
_HEREDOC: Final = re.compile(
    r"<<-?\s*(['\"]?)([A-Za-z_]\w*)\1[^\n]*\n.*?(?:\n[\t ]*\2(?=\s|$)|\Z)", re.DOTALL
)
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_PATHY: Final = re.compile(r"[\w@][\w./@:+-]*\Z")
_NAME: Final = re.compile(r"[\w@%.+:-]{1,64}\Z")


class Part(Struct, frozen=True):
    """One simple command. `joined`: the operator before it; `words`: bounded, quotes removed."""

    joined: str
    words: tuple[str, ...]
    writes: tuple[str, ...] = ()

    @property
    def program(self) -> str:
        return self.words[0].rpartition("/")[2] if self.words else ""


class Command(Struct, frozen=True):
    """`heads`: (name, whether the line's exit status is its own); `canonical` names the line
    whatever is done to its output; `masked`: the exit status shown is not the main command's."""

    kind: K
    heads: tuple[tuple[str, bool], ...]
    canonical: str
    masked: bool
    writes: tuple[str, ...]


@lru_cache(maxsize=512)
def understand(line: str) -> Command:
    """Everything the other tables want to know of a command line."""
    parts = _parts(_HEREDOC.sub(lambda m: m[0].partition("\n")[0] + "\n", line[:CHARS_MAX]))
    kinds = [(part, _kind(part)) for part in parts if part.program not in SILENT]
    kind = next((k for k in _STRENGTH if any(k is other for _, other in kinds)), K.RUN)
    if not kinds and parts:
        kind = K.INSPECT if parts[-1].program in ("echo", "printf", "sleep", "cd") else K.RUN
    shown = _shown(parts)
    main = next((part for part, k in kinds if k is kind), None)
    heads: dict[str, bool] = {}
    for part, _ in kinds:
        if part.joined in ("|", "|&") and part.program in TRIMMERS:
            continue
        known = part in shown or "pipefail" in line
        for name in _heads(part):
            heads[name] = heads.get(name, True) and known
    return Command(
        kind=kind,
        heads=tuple(heads.items()),
        canonical=_canonical(parts, main),
        masked=main is not None and main not in shown and "pipefail" not in line,
        writes=tuple(w for part in parts for w in (*part.writes, *_edited(part))),
    )


def _parts(line: str) -> list[Part]:
    parts: list[Part] = []
    words: list[str] = []
    writes: list[str] = []
    joined, glued, redirect = "", False, False

    def close(operator: str) -> None:
        nonlocal joined, words, writes
        if words or writes:
            parts.append(Part(joined, tuple(_unwrapped(words)), tuple(writes)))
        joined, words, writes = operator, [], []

    for match in _TOKEN.finditer(line):
        token = match[0]
        if len(parts) >= SEGMENTS_MAX:
            break
        if token.isspace() and token != "\n":
            glued = False
        elif token in ("&&", "||", "|", "|&", ";", "\n", "&", "(", ")", "{", "}"):
            close(token)
            glued = redirect = False
        elif ">" in token and token.rstrip().endswith(">"):
            redirect, glued = True, False
        elif token.endswith("<") or ">&" in token:
            glued = False
        elif redirect:
            target = _unquoted(token)
            if target != "/dev/null" and not target.startswith("&"):
                writes.append(target)
            redirect = False
        elif glued and words:
            words[-1] += _unquoted(token)
        else:
            words.append(_unquoted(token))
            glued = True
    close("")
    return [part for part in parts if part.words]


def _unquoted(token: str) -> str:
    if token[:1] in "'\"" and len(token) > 1:
        return token[1:-1] if token[-1] == token[0] else token[1:]
    return token[1:] if token[:1] == "\\" and len(token) == 2 else token


def _unwrapped(words: list[str]) -> list[str]:
    """Without assignments, `sudo`, `timeout 30`, `npx`, `uv run`, `python -m` and the like."""
    for _ in range(8):
        while words and _ASSIGNMENT.match(words[0]):
            words = words[1:]
        if len(words) < 2:
            return words
        program = words[0].rpartition("/")[2]
        skip = WRAPPERS.get(program)
        if skip is not None:
            words = words[1:]
            while words and (words[0].startswith("-") or (skip and words[0][:1].isdigit())):
                words = words[1:]
            continue
        rest = next(
            (r for h, r in RUNNERS if h == program and words[1 : 1 + len(r)] == list(r)), None
        )
        if rest is not None:
            words = words[1 + len(rest) :]
            while words and words[0].startswith("-"):
                words = words[1:]
            if len(words) == 1 and " " in words[0]:  # `bash -lc 'cat x'`
                words = words[0].split()
            continue
        return words
    return words


def _kind(part: Part) -> K:
    words = _plain_words(part)
    program = part.program
    for count in (3, 2):
        kind = KINDS_2.get(" ".join([program, *words[1:count]])) if len(words) >= count else None
        if kind is not None:
            return kind
    if program in SCRIPT_WORDS and len(words) > 1:
        script = words[2] if words[1] == "run" and len(words) > 2 else words[1]
        for word, kind in SCRIPT_WORDS[program]:
            if word in script:
                return kind
    if part.writes and KINDS.get(program) in (K.INSPECT, None):
        return K.EDIT
    if program == "sed":
        return K.EDIT if any(w.startswith(("-i", "--in-place")) for w in part.words) else K.INSPECT
    return KINDS.get(program, K.RUN)


def _plain_words(part: Part) -> list[str]:
    """The program and its words without options and their values."""
    words = [part.program]
    skip = False
    for word in part.words[1:]:
        if skip:
            skip = False
        elif word in ("-C", "--prefix", "-p", "--filter", "-w", "--workspace", "-f", "-c"):
            skip = True
        elif not word.startswith(("-", "+")):
            words.append(word)
    return words


def _heads(part: Part) -> list[str]:
    """`npm run check`, `pytest`, `pytest tests/auth.py`: what a person would call the command."""
    words = _plain_words(part)
    if not _NAME.match(words[0]):
        return []
    depth = SUBCOMMANDS.get(words[0], 0)
    if depth and len(words) > 2 and words[1] == "run":
        depth += 1
    head = [words[0], *(w for w in words[1 : 1 + depth] if _NAME.match(w))]
    heads = [" ".join(head)]
    rest = words[len(head) :]
    if rest and len(rest[0]) <= 96 and _PATHY.match(rest[0]) and ("." in rest[0] or "/" in rest[0]):
        heads.append(f"{heads[0]} {rest[0]}")
    return heads


def _shown(parts: list[Part]) -> set[Part]:
    """The commands whose own success or failure the line's exit status shows.

    `a && b` succeeds only if both did; after `;`, `|`, `||` or `&` only the last counts.
    """
    shown: list[Part] = []
    for part in parts:
        if part.joined not in ("&&", "(", "{", ")", "}"):
            shown = []
        shown.append(part)
    if parts and parts[-1].joined == "||":
        return set()
    return set(shown)


def _canonical(parts: list[Part], main: Part | None) -> str:
    """Without `cd`, output trimming and spacing: the same run whatever is shown of it."""
    kept: list[str] = []
    for part in parts:
        trims = part.joined in ("|", "|&") and part.program in TRIMMERS
        quiet = part.program in SILENT and len(parts) > 1
        if not trims and not quiet:
            kept.append(" ".join(part.words))
    if not kept and main is not None:
        kept = [" ".join(main.words)]
    return " ; ".join(kept)


def _edited(part: Part) -> tuple[str, ...]:
    """Files a command changes by its arguments, where that is plain to see."""
    words = _plain_words(part)[1:]
    if part.program == "sed" and _kind(part) is K.EDIT:
        return tuple(words[-1:])
    if part.program in ("mv", "cp", "touch", "rm", "tee"):
        return tuple(words[-1:] if part.program in ("mv", "cp") else words[:8])
    return ()
