"""The net as one still SVG picture, readable without any style sheet or script.

Everything drawn comes from the net, everything written is escaped, nothing is loaded from
elsewhere. Positions: a mapping id → (column, lane), by default `layers`.
"""

from __future__ import annotations

from collections.abc import Callable
from xml.sax.saxutils import escape

from ...vocabulary.terms import PlaceState, TransitionState
from ..rules import is_live, is_met
from ..state import Net, Place, Transition
from .layers import Point, layers

COLUMN_PX = 190
LANE_PX = 92
MARGIN_PX = 60
LABEL_CHARS_MAX = 22
_FONT = 'font-family="system-ui, sans-serif" font-size="12" fill="#212529"'
_ARROW = (
    '<marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
    'orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#495057"/></marker>'
)


def to_svg(net: Net, positions: Callable[[Net], dict[str, Point]] = layers) -> str:
    at = {name: _pixel(point) for name, point in positions(net).items()}
    width = max((x for x, _ in at.values()), default=0) + COLUMN_PX
    height = max((y for _, y in at.values()), default=0) + LANE_PX
    title = escape(net.goal.text if net.goal else "Wayfinder")
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{title}</title><defs>{_ARROW}</defs>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    parts += [line for step in net.transitions.values() for line in _arcs(step, at)]
    parts += [_place(net, place, at[place.place_id]) for place in net.places.values()]
    parts += [_step(step, at[step.transition_id]) for step in net.transitions.values()]
    parts += [_token(at[token.place_id]) for token in net.tokens.values()]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _pixel(point: Point) -> Point:
    column, lane = point
    return MARGIN_PX + column * COLUMN_PX, MARGIN_PX + lane * LANE_PX


def _arcs(step: Transition, at: dict[str, Point]) -> list[str]:
    here = at[step.transition_id]
    lines = [_line(at[place], here, "2 4") for place in step.reads]
    if step.flow is not None:
        lines.append(_line(at[step.flow], here))
    if step.success is not None:
        lines.append(_line(here, at[step.success]))
    if step.failure is not None:
        lines.append(_line(here, at[step.failure], "7 4"))
    if step.refinement is not None:
        lines.append(_line(here, at[step.refinement.entry], "1 3"))
    return lines


def _line(start: Point, end: Point, dashes: str = "") -> str:
    (x1, y1), (x2, y2) = start, end
    gap = 20 if x2 >= x1 else -20
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    middle = (x1 + x2) // 2
    path = f"M{x1 + gap} {y1} C{middle} {y1} {middle} {y2} {x2 - gap} {y2}"
    return (
        f'<path d="{path}" fill="none" stroke="#495057" stroke-width="1.4"{dashed} '
        'marker-end="url(#arrow)"/>'
    )


def _place(net: Net, place: Place, at: Point) -> str:
    x, y = at
    fill = "#d3f9d8" if is_met(place) else "#ffffff"
    if place.state is PlaceState.INVALIDATED:
        fill = "#ffe3e3"
    wide = 3 if net.goal is not None and net.goal.place_id == place.place_id else 1.4
    look = f'fill="{fill}" stroke="#212529" stroke-width="{wide}"'
    if place.gate_state is None:
        shape = f'<circle cx="{x}" cy="{y}" r="15" {look}/>'
        text = place.label
    else:
        shape = f'<rect x="{x - 13}" y="{y - 13}" width="26" height="26" rx="4" {look}/>'
        text = f"{place.label}: {place.gate_state}"
    return f"<g>{shape}{_label(text, at)}</g>"


def _step(step: Transition, at: Point) -> str:
    x, y = at
    fill = "#1864ab" if step.state is TransitionState.ACTIVE else "#495057"
    faded = "" if is_live(step) else ' opacity="0.35"'
    bar = f'<rect x="{x - 6}" y="{y - 18}" width="12" height="36" rx="2" fill="{fill}"/>'
    text = f"{step.intent}" if step.reason is None else f"{step.intent} ({step.state})"
    return f"<g{faded}>{bar}{_label(text, at)}</g>"


def _token(at: Point) -> str:
    return f'<circle cx="{at[0]}" cy="{at[1]}" r="6" fill="#e67700"/>'


def _label(text: str, at: Point) -> str:
    shown = " ".join(text.split())
    short = shown if len(shown) <= LABEL_CHARS_MAX else shown[: LABEL_CHARS_MAX - 1] + "…"
    told = f"<title>{escape(shown)}</title>"
    return (
        f'<text x="{at[0]}" y="{at[1] + 34}" text-anchor="middle" {_FONT}>{told}{escape(short)}'
        "</text>"
    )
