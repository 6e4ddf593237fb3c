"""The net as a Mermaid flowchart: round places, square steps, dotted reads, dashed failures.

Labels are untrusted: they stand in quotes, with everything Mermaid or HTML could read masked as
`#code;` entities. Ids are replaced by numbers, since words such as `end` break the parser.
"""

from __future__ import annotations

from ...vocabulary.terms import TransitionState
from ..rules import is_live
from ..state import Net, Place, Transition

LABEL_CHARS_MAX = 80
_CLASSES = (
    "classDef here fill:#fff3bf,stroke:#e67700,stroke-width:3px",
    "classDef active fill:#d0ebff,stroke:#1864ab,stroke-width:3px",
    "classDef dead fill:#f1f3f5,stroke:#adb5bd,color:#868e96,stroke-dasharray:4 3",
)


def to_mermaid(net: Net) -> str:
    name = {node: f"n{index}" for index, node in enumerate((*net.places, *net.transitions))}
    lines = ["flowchart LR"]
    shells = [step for step in net.transitions.values() if step.refinement is not None]
    lines += [f"  {line}" for line in _nodes(net, name, None)]
    for shell in shells:
        lines.append(f"  subgraph s{name[shell.transition_id]}[{_quoted(shell.intent)}]")
        lines += [f"    {line}" for line in _nodes(net, name, shell.transition_id)]
        lines.append("  end")
    for step in net.transitions.values():
        lines += [f"  {line}" for line in _arcs(step, name)]
    lines += [f"  {line}" for line in (*_CLASSES, *_marks(net, name))]
    return "\n".join(lines) + "\n"


def _nodes(net: Net, name: dict[str, str], parent: str | None) -> list[str]:
    places = [f"{name[p.place_id]}{_place(p)}" for p in net.places.values() if p.parent == parent]
    steps = [
        f"{name[s.transition_id]}[{_quoted(s.intent)}]"
        for s in net.transitions.values()
        if s.parent == parent
    ]
    return places + steps


def _place(place: Place) -> str:
    if place.gate_state is not None:
        return "{{" + _quoted(f"{place.label}: {place.gate_state}") + "}}"
    return f"([{_quoted(place.label)}])"


def _arcs(step: Transition, name: dict[str, str]) -> list[str]:
    here = name[step.transition_id]
    lines = [f"{name[place]} -.-> {here}" for place in step.reads]
    if step.flow is not None:
        lines.append(f"{name[step.flow]} --> {here}")
    if step.success is not None:
        lines.append(f"{here} --> {name[step.success]}")
    if step.failure is not None:
        lines.append(f"{here} -. fails .-> {name[step.failure]}")
    if step.refinement is not None:
        lines.append(f"{here} -. inside .-> {name[step.refinement.entry]}")
    return lines


def _marks(net: Net, name: dict[str, str]) -> list[str]:
    marks = [f"class {name[token.place_id]} here" for token in net.tokens.values()]
    for step in net.transitions.values():
        if step.state is TransitionState.ACTIVE:
            marks.append(f"class {name[step.transition_id]} active")
        elif not is_live(step):
            marks.append(f"class {name[step.transition_id]} dead")
    return marks


def _quoted(text: str) -> str:
    shown = " ".join(text.split())
    if len(shown) > LABEL_CHARS_MAX:
        shown = shown[: LABEL_CHARS_MAX - 1] + "…"
    safe = "".join(c if c.isalnum() or c in " .,:/()_-…，。：、" else f"#{ord(c)};" for c in shown)
    return f'"{safe}"'
