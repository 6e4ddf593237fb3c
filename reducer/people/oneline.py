"""One line of a person → what kind of correction it is (seed, "人类纠正", the five examples).

    总体目标不是修复测试，而是恢复登录行为     goal      "恢复登录行为"
    这个分支已经不重要                         retire    the step meant
    先不要优化，只验证根因                     only      "验证根因" if it names a step, else text
    把这里设为需要我判断                       gate      the step meant
    当前 Transition 描述不对: …                redescribe "…"

A table of patterns, tried in order; what none matches is free text, delivered as it was said.
A pattern must match the whole line: half-understood words would be worse than free text.
The target is a node id in the line, else words that name exactly one step, else the active step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from ..vocabulary.people import CorrectionType


class OneLine(Struct, frozen=True):
    """`text` is the part to keep; `words` name a step other than the active one, if any."""

    type: CorrectionType
    text: str | None = None
    words: str | None = None


class Aimed(Struct, frozen=True):
    """A correction with its target settled; `None` target: it needs none."""

    type: CorrectionType
    text: str | None
    target_id: str | None


_HERE = r"(?:this|it|here|the current step|this (?:step|branch|path|transition|part))"
_THE = r"(?:the |this |that )?"
_WHAT = r"(?P<words>.+?)"
_HERE_ZH = (
    r"(?:这里|此处|这|这个|这一步|这个(?:步骤|分支|转换)|这条(?:分支|路径)"
    r"|当前(?:步骤|分支|这一步| ?transition))"
)
_TEXT = r"(?P<text>.+?)"
_END = r"\s*[.!。！]?\s*"

# (type, pattern). Order matters: the first full match decides.
PATTERNS: Final[tuple[tuple[CorrectionType, str], ...]] = (
    (
        CorrectionType.GOAL,
        rf"{_THE}(?:overall |real )?goal (?:is|was) not .+?(?:,|;|:) ?"
        rf"(?:but|it is|it's)(?: rather)?(?: to)? {_TEXT}",
    ),
    (CorrectionType.GOAL, rf"{_THE}(?:overall |real |new )?goal (?:is|should be)(?: to)? {_TEXT}"),
    (CorrectionType.GOAL, rf"goal ?: ?{_TEXT}"),
    (
        CorrectionType.GOAL,
        rf"(?:总体|整体|真正的?|新的?)?目标(?:并?不是|不在于).+?[，,；;]\s*"
        rf"(?:而是|是){_TEXT}",
    ),
    (
        CorrectionType.GOAL,
        rf"(?:总体|整体|真正的?|新的?)?目标(?:应该|应)?(?:是|为|改为|[：:])\s*{_TEXT}",
    ),
    (
        CorrectionType.RETIRE,
        rf"{_HERE} (?:no longer matters|does(?:n't| not) matter(?: any ?more)?"
        rf"|is (?:no longer|not) (?:important|relevant|needed))",
    ),
    (CorrectionType.RETIRE, rf"(?:drop|retire|abandon|forget) {_HERE}"),
    (CorrectionType.RETIRE, rf"(?:drop|retire|abandon|forget) {_WHAT}"),
    (CorrectionType.RETIRE, rf"{_HERE_ZH}(?:已经|已)?(?:不重要|不需要|没有?必要|没用|作废)了?"),
    (CorrectionType.RETIRE, rf"(?:放弃|作废|不要再?做){_HERE_ZH}"),
    (
        CorrectionType.ONLY,
        rf"(?:don't|do not|no) .+?(?:yet|for now|now)?(?:,|;) ?(?:just|only) {_WHAT}",
    ),
    (CorrectionType.ONLY, rf"(?:only|just) {_WHAT}(?: for now)?"),
    (CorrectionType.ONLY, rf"(?:先|暂时)?(?:不要|别|不).+?[，,；;]\s*(?:先?只|仅){_WHAT}"),
    (CorrectionType.ONLY, rf"(?:先|暂时)?(?:只|仅)(?:做|要)?{_WHAT}"),
    (CorrectionType.OPEN_GATE, rf"(?:i approve|approved?|go ahead|you may pass)(?: {_HERE})?"),
    (CorrectionType.OPEN_GATE, r"(?:我)?(?:同意|批准|放行)(?:了)?(?:这里)?"),
    (
        CorrectionType.GATE,
        rf"(?:ask me|wait for me|check with me|i decide)(?: here| first"
        rf"| before {_HERE})?",
    ),
    (
        CorrectionType.GATE,
        rf"{_HERE} (?:needs|requires) (?:me|my (?:decision|judge?ment|approval|ok))",
    ),
    (CorrectionType.GATE, rf"make {_HERE} (?:need|require) my (?:decision|judge?ment|approval|ok)"),
    (
        CorrectionType.GATE,
        rf"(?:把|将)?{_HERE_ZH}(?:设为|设成|改成|改为)?(?:需要|须|要|由)我"
        rf"(?:来)?(?:判断|决定|批准|确认)",
    ),
    (
        CorrectionType.WRONG_STEP,
        rf"(?:wrong step|{_HERE} is (?:the wrong step|not what"
        rf" (?:i asked|should be done)(?: for)?(?: now)?))",
    ),
    (CorrectionType.WRONG_STEP, rf"{_HERE_ZH}(?:走错了|做错了|不是现在(?:该|应该)做的)"),
    (
        CorrectionType.REDESCRIBE,
        rf"{_THE}(?:current )?(?:step|transition|description)"
        rf"(?: is)? (?:described wrong(?:ly)?|wrongly described|is wrong)"
        rf"(?: ?[:;,] ?{_TEXT})?",
    ),
    (CorrectionType.REDESCRIBE, rf"(?:really|actually) it is {_TEXT}"),
    (
        CorrectionType.REDESCRIBE,
        rf"(?:{_HERE_ZH})?的?\s*描述(?:不对|不准|有误|错了)"
        rf"(?:\s*[：:，,]\s*(?:应该?是|其实是)?{_TEXT})?",
    ),
)
_COMPILED: Final = tuple(
    (kind, re.compile(pattern + _END, re.IGNORECASE)) for kind, pattern in PATTERNS
)
LINE_CHARS_MAX: Final = 600


def parse(line: str) -> OneLine:
    """Never fails: what is not understood is free text, word for word."""
    said = " ".join(line.split())
    for kind, pattern in _COMPILED:
        if len(said) <= LINE_CHARS_MAX and (match := pattern.fullmatch(said)) is not None:
            parts = match.groupdict()
            return OneLine(kind, parts.get("text"), parts.get("words"))
    return OneLine(CorrectionType.TEXT, line.strip())


def aim(said: OneLine, line: str, steps: Mapping[str, str], active_id: str | None) -> Aimed:
    """Settles what a line is about. `steps`: live transition id → intent.

    Falls back to free text whenever the target is not certain: words that name no step, or two.
    """
    if said.type in _NEEDS_NO_TARGET:
        return Aimed(said.type, said.text, None)
    target = active_id if said.words is None else _named(said.words, steps)
    if target is None or (said.type is CorrectionType.REDESCRIBE and not said.text):
        return Aimed(CorrectionType.TEXT, line.strip(), target)
    return Aimed(said.type, said.text or line.strip(), target)


_NEEDS_NO_TARGET: Final = frozenset({CorrectionType.TEXT, CorrectionType.GOAL})


def _named(words: str, steps: Mapping[str, str]) -> str | None:
    for token in words.split():
        if token in steps:
            return token
    wanted = _folded(words)
    by_intent = (key for key, intent in steps.items() if _same(wanted, _folded(intent)))
    return _single(by_intent)


def _same(wanted: str, intent: str) -> bool:
    return len(wanted) > 1 and (wanted in intent or intent in wanted)


def _single(found: Iterable[str]) -> str | None:
    candidates = list(found)
    return candidates[0] if len(candidates) == 1 else None


def _folded(words: str) -> str:
    return "".join(char for char in words.casefold() if char.isalnum())
