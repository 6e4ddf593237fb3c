"""The last gate before anything leaves: every string through the redactor, cut, and numbered.

`clean` is the only place that turns drafts into observations. It redacts whole batches (labels
and facts at level 1, free text at level 2), and only then cuts to bounds, so that no half secret
stands at a cut edge. A string that redaction leaves empty becomes "[empty]".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from ...reducer.vocabulary.ids import LABEL_CHARS_MAX, TEXT_CHARS_MAX
from ...reducer.vocabulary.observation import (
    AnyObservation,
    Called,
    Fact,
    Gap,
    Opened,
    PlanItem,
    Planned,
    Prompted,
)
from ...reducer.vocabulary.terms import FactKind
from .ports import Level, Redactor
from .text import fit, one_line

CACHE_MAX: Final = 20_000
# A short lower-case word or path without digits holds nothing; most labels are of this kind.
_PLAIN: Final = re.compile(r"[a-z][a-z_ ./-]{0,23}")


class Cleaner:
    """Batches strings for one redactor and remembers the short ones that come again and again."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._known: dict[tuple[str, Level], str] = {}
        self._labels: dict[tuple[str, Level], str] = {}

    def clean(self, drafts: Sequence[AnyObservation], first_position: int) -> list[AnyObservation]:
        """Finished observations, positions `first_position`, +1, … in the order given."""
        wanted: dict[tuple[str, Level], None] = {}
        for draft in drafts:
            for text, level in _strings(draft):
                key = text, level
                if key not in self._labels and key not in self._known and not is_plain(text):
                    wanted[key] = None
        self._redact([text for text, level in wanted if level == 1], 1)
        self._redact([text for text, level in wanted if level == 2], 2)
        done = [
            _finished(draft, self, first_position + index) for index, draft in enumerate(drafts)
        ]
        if len(self._known) > CACHE_MAX or len(self._labels) > CACHE_MAX:
            self._known.clear()
            self._labels.clear()
        return done

    def label(self, text: str, level: Level) -> str:
        label = self._labels.get((text, level))
        if label is None:
            label = fit(self.text(text, level), LABEL_CHARS_MAX)
            self._labels[text, level] = label
        return label

    def fact(self, fact: Fact) -> Fact:
        name = self.label(fact.name, _level(fact))
        return fact if name == fact.name else Fact(fact.kind, name, fact.result)

    def text(self, text: str, level: Level) -> str:
        redacted = self._known.get((text, level), text)
        return one_line(redacted, TEXT_CHARS_MAX) or "[empty]"

    def _redact(self, texts: list[str], level: Level) -> None:
        if texts:
            redacted = self._redactor.redact_many(texts, level)
            self._known.update(zip(((text, level) for text in texts), redacted, strict=True))


def is_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None


def _level(fact: Fact) -> Level:
    """What an assertion says is free text; the other names are identifiers."""
    return 2 if fact.kind is FactKind.ASSERTION else 1


def _strings(draft: AnyObservation) -> Iterable[tuple[str, Level]]:
    if isinstance(draft, Called):
        yield draft.tool, 1
        for fact in draft.facts:
            yield fact.name, _level(fact)
        if draft.signature is not None:
            yield draft.signature.sample, 2
        if draft.refusal is not None:
            yield draft.refusal.quote, 2
    elif isinstance(draft, Prompted):
        yield draft.line, 2
    elif isinstance(draft, Planned):
        for item in draft.items:
            yield item.text, 2
            if item.reason is not None:
                yield item.reason, 2
    elif isinstance(draft, Gap):
        yield draft.reason, 1
    elif isinstance(draft, Opened) and draft.info.project is not None:
        yield draft.info.project, 1


def _finished(draft: AnyObservation, gate: Cleaner, position: int) -> AnyObservation:
    if isinstance(draft, Called):
        return _call(draft, gate, position)
    if isinstance(draft, Prompted):
        return replace(draft, line=gate.label(draft.line, 2), position=position)
    if isinstance(draft, Planned):
        return replace(draft, items=tuple(_item(i, gate) for i in draft.items), position=position)
    if isinstance(draft, Gap):
        return replace(draft, reason=gate.label(draft.reason, 1), position=position)
    if isinstance(draft, Opened) and draft.info.project is not None:
        info = replace(draft.info, project=gate.label(draft.info.project, 1))
        return replace(draft, info=info, position=position)
    return replace(draft, position=position)


def _call(draft: Called, gate: Cleaner, position: int) -> Called:
    signature, refusal = draft.signature, draft.refusal
    if signature is not None:
        signature = replace(signature, sample=gate.label(signature.sample, 2))
    if refusal is not None:
        refusal = replace(refusal, quote=gate.label(refusal.quote, 2))
    return replace(
        draft,
        position=position,
        tool=gate.label(draft.tool, 1),
        facts=tuple(map(gate.fact, draft.facts)),
        signature=signature,
        refusal=refusal,
    )


def _item(item: PlanItem, gate: Cleaner) -> PlanItem:
    reason = gate.text(item.reason, 2) if item.reason is not None else None
    return replace(item, text=gate.label(item.text, 2), reason=reason)
