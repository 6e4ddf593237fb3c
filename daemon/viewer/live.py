"""Live notes → what of a session is only known while it lasts. Nothing of this is ever logged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from ...reducer.vocabulary.observation import LiveNote
from ..messages import Live

_STEPS: Final[dict[str, Callable[[Live, LiveNote], Live]]] = {
    "tool_started": lambda live, note: replace(
        live, tool=note.name, tool_since=note.at, gone=False
    ),
    "tool_ended": lambda live, _: replace(live, tool=None, tool_since=0),
    "waiting": lambda live, note: replace(
        live, waiting=note.name or "a question", waiting_since=note.at, gone=False
    ),
    "resumed": lambda live, _: replace(live, waiting=None, waiting_since=0, gone=False),
    "gone": lambda _, __: Live(gone=True),
}


def after(live: Live, note: LiveNote) -> Live:
    """Notes of an unknown kind change nothing."""
    step = _STEPS.get(note.what)
    return live if step is None else step(live, note)
