"""Steps of a plan, however an agent's tool spells them → `plans.Step`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...reducer.vocabulary.observation import PlanState
from .loose import as_dict, as_list
from .plans import STATES, Step
from .text import one_line

_TEXTS: Final = (
    "content", "text", "title", "step", "description", "task", "name", "subject", "label",
)  # fmt: skip


def steps_of(value: object) -> list[Step]:
    """A list of steps: objects with a text and a state, or plain texts."""
    steps: list[Step] = []
    for item in as_list(value):
        if isinstance(item, str) and item.strip():
            steps.append(Step(item, PlanState.PENDING))
        elif (step := step_of(as_dict(item))) is not None:
            steps.append(step)
    return steps


def step_of(item: Mapping[str, Any]) -> Step | None:
    text = next((t for key in _TEXTS if isinstance(t := item.get(key), str) and t.strip()), None)
    if text is None:
        return None
    own, reason = item.get("id"), item.get("reason")
    return Step(
        text=text,
        state=state_of(item),
        own_id=str(own)[:128] if isinstance(own, str | int) and own != "" else None,
        reason=one_line(reason, 600) if isinstance(reason, str) and reason.strip() else None,
    )


def state_of(item: Mapping[str, Any]) -> PlanState:
    state = item.get("status", item.get("state"))
    done = item.get("done", item.get("completed"))
    return STATES.get(str(state).lower(), PlanState.DONE if done is True else PlanState.PENDING)
