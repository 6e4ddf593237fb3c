"""Plans agents publish by their own means. RULES 24.

An agent says its whole list again and again, often in new words. `PlanLedger` gives each step an
id that survives rewording: by the agent's own id, else by equal words, else by likeness, else by
standing in the same place between the same neighbours. A step that is left out is `dropped` and
stays in the list; a finished list that is replaced by another one is forgotten.

The ledger is a function of the plans seen so far; given the last `Planned` it goes on from there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from ...reducer.vocabulary.observation import PlanItem, Planned, PlanState
from .text import LINE_CHARS, one_line

ITEMS_MAX: Final = 128
DROPPED_MAX: Final = 32
ALIKE: Final = 0.5  # Dice likeness of character pairs

STATES: Final[dict[str, PlanState]] = {
    word: state
    for words, state in (
        ("pending todo open not_started queued blocked", PlanState.PENDING),
        ("in_progress in-progress inprogress active doing running current", PlanState.ACTIVE),
        ("completed complete done finished checked", PlanState.DONE),
        ("cancelled canceled deleted dropped skipped abandoned removed", PlanState.DROPPED),
    )
    for word in words.split()
}
_WORDS: Final = re.compile(r"\w+")


class Step(Struct, frozen=True):
    """One step as the agent says it now; `own_id` if the agent numbers its steps itself."""

    text: str
    state: PlanState
    own_id: str | None = None
    reason: str | None = None


class PlanLedger:
    """The plan of one session as it stands."""

    def __init__(self, last: Planned | None = None) -> None:
        self._items: list[PlanItem] = list(last.items) if last is not None else []
        self._own: dict[str, str] = {}
        self._born = max((_number(item.item_id) for item in self._items), default=0)

    @property
    def items(self) -> tuple[PlanItem, ...]:
        return tuple(self._items)

    def whole(self, steps: Iterable[Step]) -> tuple[PlanItem, ...]:
        """The agent said its whole list."""
        said = list(steps)[:ITEMS_MAX]
        old = [item for item in self._items if item.state is not PlanState.DROPPED]
        matched = _matched(said, old, self._own)
        if old and not matched and all(item.state is PlanState.DONE for item in old):
            self._items, old = [], []
        now = [self._item(step, matched.get(index)) for index, step in enumerate(said)]
        stays = {item.item_id for item in now}
        left = [replace(i, state=PlanState.DROPPED) for i in old if i.item_id not in stays]
        gone = [i for i in self._items if i.state is PlanState.DROPPED and i.item_id not in stays]
        room = max(0, min(DROPPED_MAX, ITEMS_MAX - len(now)))
        self._items = [*now, *(*gone, *left)[-room:]] if room else now
        return self.items

    def one(self, step: Step) -> tuple[PlanItem, ...]:
        """The agent added or changed one step, named by its own id."""
        index = next(
            (n for n, i in enumerate(self._items) if i.item_id == self._own.get(step.own_id or "")),
            None,
        )
        if index is None:
            if step.text and len(self._items) < ITEMS_MAX:
                self._items.append(self._item(step, None))
        else:
            known = self._items[index]
            text = one_line(step.text, LINE_CHARS) or known.text
            self._items[index] = replace(known, text=text, state=step.state, reason=step.reason)
        return self.items

    def _item(self, step: Step, known: PlanItem | None) -> PlanItem:
        if known is None:
            self._born += 1
        item_id = known.item_id if known is not None else f"s{self._born}"
        if step.own_id is not None:
            self._own[step.own_id] = item_id
        text = one_line(step.text, LINE_CHARS) or "[empty]"
        return PlanItem(item_id, text, step.state, step.reason)


def _matched(said: list[Step], old: list[PlanItem], own: dict[str, str]) -> dict[int, PlanItem]:
    """Index in `said` → the step it is. Surest ways first; each old step is taken once."""
    by_id = {item.item_id: item for item in old}
    free = dict(by_id)
    found: dict[int, PlanItem] = {}

    def take(index: int, item: PlanItem | None) -> None:
        if item is not None and index not in found and item.item_id in free:
            found[index] = free.pop(item.item_id)

    for index, step in enumerate(said):
        if step.own_id is not None and step.own_id in own:
            take(index, by_id.get(own[step.own_id]))
    for index, step in enumerate(said):
        words = _folded(step.text)
        take(index, next((i for i in free.values() if _folded(i.text) == words), None))
    pairs = {item.item_id: _pairs(item.text) for item in free.values()}
    alike = sorted(
        ((_likeness(mine, pairs[item_id]), -index, item_id)
         for index, step in enumerate(said) if index not in found
         for mine in (_pairs(step.text),)
         for item_id in pairs),
        reverse=True,
    )  # fmt: skip
    for likeness, index, item_id in alike:
        if likeness >= ALIKE:
            take(-index, free.get(item_id))
    if len(said) == len(old) and 2 * len(found) >= len(old):  # reworded between known neighbours
        for index, item in enumerate(old):
            take(index, item if item.item_id in free else None)
    return found


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other)) if one and other else 0.0


def _pairs(text: str) -> frozenset[str]:
    """Pairs of neighbouring characters: fair to languages without spaces."""
    folded = _folded(text)[:200]
    return frozenset(folded[i : i + 2] for i in range(len(folded) - 1))


def _folded(text: str) -> str:
    return " ".join(_WORDS.findall(text.casefold()))


def _number(item_id: str) -> int:
    digits = item_id.lstrip("s")
    return int(digits) if digits.isdigit() and len(digits) < 9 else 0
