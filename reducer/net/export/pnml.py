"""The net as a place/transition net in PNML (ISO 15909-2), in the form other tools really read.

What is ours alone is unfolded into ordinary arcs:

* a read of P becomes a pair of arcs to P's *condition*, a place `P·met` that holds one token
  while P is satisfied (or, a Gate, open). Execution tokens and conditions never share a place;
* a step with a failure arc is two transitions, `T` and `T·fail`; a failure without an arc puts
  the token back and is no change of marking;
* a shell is `S·enter`, `S·exit` and, with a failure exit, `S·fail`, around its inside. Giving a
  shell up midway, and reserving a token, have no counterpart: they are no firings.

One flat page, explicit final marking (the goal), no read-arc types: readers drop or misread each
of the alternatives without a word. Retired and superseded steps stand in no net that may fire.
Colour and contract are in `toolspecific`. The dot in made-up ids is one that no id of ours holds.
"""

from __future__ import annotations

from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from ..rules import is_live, is_met
from ..state import Net, Transition

NAMESPACE = "http://www.pnml.org/version-2009/grammar/pnml"
PTNET = "http://www.pnml.org/version-2009/grammar/ptnet"
_TOOL = '<toolspecific tool="wayfinder" version="1">'


class Unfolded(NamedTuple):
    """Transitions as (id, label, step), arcs as (source, target); `marking` has counts of one."""

    places: dict[str, str]
    transitions: list[tuple[str, str, Transition]]
    arcs: list[tuple[str, str]]
    marking: list[str]
    final: list[str]


def unfold(net: Net) -> Unfolded:
    """The ordinary net that behaves as the live part of this one does."""
    steps = [step for step in net.transitions.values() if is_live(step)]
    places = {place.place_id: place.label for place in net.places.values()}
    read = sorted({place_id for step in steps for place_id in step.reads})
    places |= {met_of(place_id): f"{places[place_id]} (met)" for place_id in read}
    transitions: list[tuple[str, str, Transition]] = []
    arcs: list[tuple[str, str]] = []
    for step in steps:
        for name, label, source, target, reads in _firings(step):
            transitions.append((name, label, step))
            arcs += [(source, name), (name, target)]
            for place_id in reads:
                arcs += [(met_of(place_id), name), (name, met_of(place_id))]
    met = [met_of(place_id) for place_id in read if is_met(net.places[place_id])]
    here = [token.place_id for token in net.tokens.values()]
    goal = net.goal.place_id if net.goal and net.goal.place_id else None
    return Unfolded(places, transitions, arcs, here + met, [goal or here[0], *met])


def met_of(place_id: str) -> str:
    return f"{place_id}·met"


def _firings(
    step: Transition,
) -> list[tuple[str, str, str, str, tuple[str, ...]]]:
    """(id, label, from, to, reads) of each way the step can move the token."""
    if step.flow is None or step.success is None:
        return []
    name, label, inside = step.transition_id, step.intent, step.refinement
    if inside is None:
        ways = [(name, label, step.flow, step.success, step.reads)]
        if step.failure is not None:
            ways.append((f"{name}·fail", f"{label} (fails)", step.flow, step.failure, step.reads))
        return ways
    ways = [
        (f"{name}·enter", f"{label} (starts)", step.flow, inside.entry, step.reads),
        (f"{name}·exit", f"{label} (done)", inside.success_exit, step.success, ()),
    ]
    if inside.failure_exit is not None:
        outer = step.failure or step.flow
        ways.append((f"{name}·fail", f"{label} (fails)", inside.failure_exit, outer, ()))
    return ways


def to_pnml(net: Net) -> str:
    flat = unfold(net)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<pnml xmlns="{NAMESPACE}">',
        f'<net id="wayfinder" type="{PTNET}">',
        f"<name><text>{_text(net.goal.text if net.goal else 'Wayfinder')}</text></name>",
        '<page id="page1">',
    ]
    for place_id, label in flat.places.items():
        lines.append(f"<place id={quoteattr(place_id)}>{_name(label)}{_initial(flat, place_id)}")
        lines.append(f"{_colour(net, place_id)}</place>")
    for name, label, step in flat.transitions:
        lines.append(f"<transition id={quoteattr(name)}>{_name(label)}{_contract(step)}")
        lines.append("</transition>")
    for number, (source, target) in enumerate(flat.arcs, start=1):
        ends = f"source={quoteattr(source)} target={quoteattr(target)}"
        lines.append(f'<arc id="a{number}" {ends}><inscription><text>1</text></inscription></arc>')
    lines.append("</page>")
    lines.append("<finalmarkings><marking>")
    for place_id in flat.final:
        lines.append(f"<place idref={quoteattr(place_id)}><text>1</text></place>")
    lines += ["</marking></finalmarkings>", "</net>", "</pnml>"]
    return "\n".join(lines) + "\n"


def _name(label: str) -> str:
    return f"<name><text>{_text(label)}</text></name>"


def _initial(flat: Unfolded, place_id: str) -> str:
    count = flat.marking.count(place_id)
    return f"<initialMarking><text>{count}</text></initialMarking>" if count else ""


def _colour(net: Net, place_id: str) -> str:
    place = net.places.get(place_id)
    if place is None:
        return ""
    state = place.gate_state or place.state
    return f"{_TOOL}<type>{place.type}</type><state>{state}</state></toolspecific>"


def _contract(step: Transition) -> str:
    told = [("type", str(step.type)), ("state", str(step.state))]
    told += [("expected", f"{item.key}: {item.text}") for item in step.expected]
    if step.exit_condition is not None:
        told.append(("exitCondition", step.exit_condition))
    inner = "".join(f"<{tag}>{_text(text)}</{tag}>" for tag, text in told)
    return f"{_TOOL}{inner}</toolspecific>"


def _text(text: str) -> str:
    """Escaped. Characters that XML 1.0 cannot hold at all are shown as a replacement mark."""
    return escape("".join(c if _fits_xml(c) else "\ufffd" for c in text))


def _fits_xml(char: str) -> bool:
    return char in "\t\n\r" or (char >= " " and char not in "\ufffe\uffff")
