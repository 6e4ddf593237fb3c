"""Does an id look like a key? Such an id is refused, never rewritten (RULES 15).

Ids travel everywhere unredacted: answers, logs, exports, the page. So the test is coarse on the
safe side: issuers' prefixes, and any unbroken run that mixes cases and digits like a token.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

# Issuers mark their keys so that programs like this one can tell.
_PREFIXES: Final = re.compile(
    r"(?:AKIA|ASIA)[0-9A-Z]{12}|gh[pousr]_[A-Za-z0-9]{16}|github_pat_|glpat-|sk-|sk_(?:live|test)_"
    r"|rk_(?:live|test)_|xox[abeoprs]-|AIza[0-9A-Za-z_-]{20}|eyJ[A-Za-z0-9_-]{12}|npm_[A-Za-z0-9]{20}"
    r"|hf_[A-Za-z0-9]{20}|dop_v1_|pypi-|SG\."
)
_HEX_RUN: Final = re.compile(r"[0-9a-fA-F]{32,}")
_RUN: Final = re.compile(r"[A-Za-z0-9]{20,}")
# Words in camelCase turn between lower, upper and digit about every third character; random text
# at two of three.
_TURNS_PER_CHAR: Final = 0.45


def looks_like_secret(name: str) -> bool:
    if _PREFIXES.search(name) or _HEX_RUN.search(name):
        return True
    return any(_is_scrambled(run) for run in _RUN.findall(name))


def _is_scrambled(run: str) -> bool:
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" for c in run]
    turns = sum(1 for left, right in pairwise(kinds) if left != right)
    return "d" in kinds and turns >= _TURNS_PER_CHAR * len(run)
