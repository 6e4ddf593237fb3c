"""The brief as text: one 80×24 screen, every claim with its source mark at the right.

Stdlib only: `wayfinder brief` starts cold and answers at once.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct

from ...reducer.attention.view import Line, ReceiptView, View
from ...reducer.vocabulary.people import ReceiptStage
from ...reducer.vocabulary.terms import Coverage, Level
from .safe import safe_line

WIDTH: Final = 80
LABEL: Final = 7
MARK: Final = 9
TEXT: Final = WIDTH - LABEL - MARK - 2
LINES_MAX: Final = 24

# label, 中文 label, field of the view; the order is the order of a glance.
HEAD: Final = (("GOAL", "目标", "north_star"), ("FITS", "相符", "alignment_reason"))
FOUR: Final = (
    ("NOW", "现在", "now"),
    ("WHY", "原因", "why"),
    ("NEXT", "下一步", "next"),
    ("WATCH", "留意", "watch"),
)
REST: Final = (
    ("proof", "证据", "expected"),
    ("fails", "若失败", "if_fails"),
    ("aside", "作废", "set_aside"),
)
MARKS_ZH: Final[dict[Level, str]] = {
    Level.DECLARED: "声明",
    Level.OBSERVED: "观察",
    Level.INFERRED: "推断",
    Level.HUMAN: "人",
    Level.UNKNOWN: "未知",
}
STAGES: Final[dict[ReceiptStage | None, str]] = {
    None: "not sent yet",
    ReceiptStage.SENT: "sent",
    ReceiptStage.IN_TURN: "in the agent's turn",
    ReceiptStage.ACKNOWLEDGED: "acknowledged",
    ReceiptStage.OBEYED: "obeyed",
    ReceiptStage.VIOLATED: "not kept",
    ReceiptStage.LAPSED: "lapsed",
}


class Screen(Struct, frozen=True, rename="camel", kw_only=True):
    """What the brief needs of a view; reads a frame's `view` as it comes over the wire, where an
    absent field and a null are the same."""

    session_id: str
    agent: str
    north_star: Line
    alignment_reason: Line
    now: Line
    why: Line
    next: Line
    watch: Line
    expected: Line
    if_fails: Line
    set_aside: Line
    coverage: Coverage
    last_ts: str = ""
    project: str | None = None
    settled: str | None = None
    coverage_reason: str | None = None
    since: tuple[Line, ...] = ()
    receipts: tuple[ReceiptView, ...] = ()
    next_record: tuple[int, int] = (0, 0)
    episodes: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


def brief(view: View | Screen, *, language: str = "en", age: str = "") -> str:
    """At most 24 lines of at most 80 columns, without colour: it may be a pipe."""
    blocks = [
        [_title(view, age)],
        list(_rows(view, HEAD, language)),
        list(_rows(view, FOUR, language)),
        list(_rows(view, REST, language)),
        list(_more(view)),
    ]
    lines = [line for block in blocks if block for line in (*block, "")]
    return "\n".join(lines[:LINES_MAX]).rstrip()


def _title(view: View | Screen, age: str) -> str:
    state = view.settled or "working"
    parts = [view.project or view.agent, view.session_id, state + (f", {age}" if age else "")]
    return clip(safe_line("  ".join(part for part in parts if part)), WIDTH)


def _rows(
    view: View | Screen, rows: tuple[tuple[str, str, str], ...], language: str
) -> Iterator[str]:
    for label, label_zh, field in rows:
        line: Line = getattr(view, field)
        mark = MARKS_ZH[line.source] if language == "zh" else str(line.source)
        said = safe_line(line.text)
        for number, part in enumerate(wrap(said, TEXT)):
            head = (label_zh if language == "zh" else label) if number == 0 else ""
            yield f"{pad(head, LABEL)}{pad(part, TEXT)}  {mark if number == 0 else ''}".rstrip()


def _more(view: View | Screen) -> Iterator[str]:
    """What stands only where there is something: since you looked, corrections, coverage."""
    for line in view.since:
        yield clip(safe_line(f"since you looked: {line.text}"), WIDTH)
    for receipt in [r for r in view.receipts if not r.undone][-2:]:
        said = receipt.text or receipt.target_id or ""
        kind = receipt.type.value.replace("_", " ")
        yield clip(safe_line(f"you said ({kind}): {said} — {STAGES[receipt.stage]}"), WIDTH)
    if view.coverage is not Coverage.FULL and view.episodes:
        reason = f": {view.coverage_reason}" if view.coverage_reason else ""
        yield clip(safe_line(f"seen only in part ({view.coverage}{reason})"), WIDTH)
    right, of = view.next_record
    if of:
        yield f"NEXT was right {right} of {of} times"


def columns(text: str) -> int:
    """Terminal columns: wide characters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def pad(text: str, width: int) -> str:
    return text + " " * max(0, width - columns(text))


def clip(text: str, width: int) -> str:
    if columns(text) <= width:
        return text
    while columns(text) > width - 1:
        text = text[:-1]
    return text.rstrip() + "…"


def wrap(text: str, width: int) -> list[str]:
    """At most two lines, broken at a space where there is one; the second is clipped."""
    if columns(text) <= width:
        return [text]
    cut = len(text)
    while columns(text[:cut]) > width:
        cut -= 1
    space = text.rfind(" ", 0, cut + 1)
    cut = space if space > cut // 2 else cut
    return [text[:cut].rstrip(), clip(text[cut:].lstrip(), width)]
