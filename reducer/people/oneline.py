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


_HERE: Final = r"(?:this|it|here|the current step|this (?:step|branch|path|transition|part))"
_THE: Final = r"(?:the |this |that )?"
_HERE_ZH: Final = (
    r"(?:这里|此处|这|这个|这一步|这个(?:步骤|分支|转换)|这条(?:分支|路径)"
    r"|当前(?:步骤|分支|这一步| ?transition))"
)
_GOAL_ZH: Final = r"(?:总体|整体|真正的?|新的?)?目标"
_ME: Final = r"(?:me|my (?:decision|judge?ment|approval|ok))"
_STEP_WORD: Final = r"(?:step|transition|description)"
_WRONG: Final = r"(?:described wrong(?:ly)?|wrongly described|wrong)"
_WRONG_ZH: Final = r"(?:不对|不准|有误|错了)"
_TEXT: Final = r"(?P<text>.+?)"
_STEP: Final = r"(?P<words>.+?)"
_END: Final = r"\s*[.!。！]?\s*"

# Order matters: the first full match decides.
PATTERNS: Final[dict[CorrectionType, tuple[str, ...]]] = {
    # Only phrasings that state a goal: "the goal is not clear, but go on" must stay free text.
    CorrectionType.GOAL: (
        rf"{_THE}(?:overall |real )?goal (?:is|was) not to .+?,? but (?:rather )?to {_TEXT}",
        rf"{_THE}(?:overall |real )?goal (?:is|was) not .+?[,;:] (?:it is|it's)(?: to)? {_TEXT}",
        rf"{_THE}(?:overall |real |new )?goal (?:is to|should be(?: to)?) {_TEXT}",
        rf"goal ?: ?{_TEXT}",
        rf"{_GOAL_ZH}(?:并?不是|不在于).+?[，,；;]\s*(?:而是|是){_TEXT}",
        rf"{_GOAL_ZH}(?:应该?)?(?:是|为|改为|[：:])\s*(?!不|错|对的|什么){_TEXT}",
    ),
    CorrectionType.RETIRE: (
        rf"{_HERE} (?:no longer matters|does(?:n't| not) matter(?: any ?more)?)",
        rf"{_HERE} is (?:no longer|not) (?:important|relevant|needed)",
        rf"(?:drop|retire|abandon|forget) {_HERE}",
        rf"(?:drop|retire|abandon|forget) {_STEP}",
        rf"{_HERE_ZH}(?:已经|已)?(?:不重要|不需要|没有?必要|没用|作废)了?",
        rf"(?:放弃|作废|不要再?做){_HERE_ZH}",
    ),
    CorrectionType.ONLY: (
        rf"(?:don't|do not|no) .+?[,;] ?(?:just|only) {_STEP}",
        rf"(?:only|just) {_STEP}(?: for now)?",
        rf"(?:先|暂时)?(?:不要|别|不).+?[，,；;]\s*(?:先?只|仅){_STEP}",
        rf"(?:先|暂时)?(?:只|仅)(?:做|要)?{_STEP}",
    ),
    CorrectionType.OPEN_GATE: (
        rf"(?:i approve|approved?|go ahead|you may pass)(?: {_HERE})?",
        r"(?:我)?(?:同意|批准|放行)(?:了)?(?:这里)?",
    ),
    CorrectionType.GATE: (
        rf"(?:ask me|wait for me|check with me|i decide)(?: here| first| before {_HERE})?",
        rf"{_HERE} (?:needs|requires) {_ME}",
        rf"make {_HERE} (?:need|require) {_ME}",
        rf"(?:把|将)?{_HERE_ZH}(?:[设改](?:为|成))?(?:需要|须|要|由)我来?(?:判断|决定|批准|确认)",
    ),
    CorrectionType.WRONG_STEP: (
        r"wrong step",
        rf"{_HERE} is (?:the wrong step|not what (?:i asked|should be done)(?: for)?(?: now)?)",
        rf"{_HERE_ZH}(?:走错了|做错了|不是现在(?:该|应该)做的)",
    ),
    CorrectionType.REDESCRIBE: (
        rf"{_THE}(?:current )?{_STEP_WORD}(?: is)? {_WRONG}(?: ?[:;,] ?{_TEXT})?",
        rf"(?:really|actually) it is {_TEXT}",
        rf"(?:{_HERE_ZH})?的?\s*描述{_WRONG_ZH}(?:\s*[：:，,]\s*(?:应该?是|其实是)?{_TEXT})?",
    ),
}
_COMPILED: Final = tuple(
    (kind, re.compile(pattern + _END, re.IGNORECASE))
    for kind, patterns in PATTERNS.items()
    for pattern in patterns
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
