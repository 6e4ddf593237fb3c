"""What a session can be found by, for `wayfinder search` and for the page."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from ..reducer.session.state import Session


class Hit(Struct, frozen=True, rename="camel"):
    session_id: str
    what: str
    id: str
    text: str


def texts_of(session: Session) -> Iterator[Hit]:
    """Every text a person may remember a session by."""
    name = session.session_id
    for root in session.roots:
        yield Hit(name, "goal", root.place_id or "", root.text)
    for prompt in (session.first_prompt, session.latest_prompt):
        if prompt is not None:
            yield Hit(name, "ask", f"@{prompt.position}", prompt.line)
    for place in session.net.places.values():
        yield Hit(name, "condition", place.place_id, place.label)
    for transition in session.net.transitions.values():
        for text in (transition.intent, transition.why_now, transition.reason):
            if text:
                yield Hit(name, "step", transition.transition_id, text)
    for item in session.plan:
        yield Hit(name, "plan", item.item_id, item.text)
    for record in session.episodes.values():
        for counted in record.episode.signatures:
            yield Hit(name, "error", record.episode.episode_id, counted.signature.sample)
    for correction in session.corrections.values():
        if correction.correction.text:
            yield Hit(
                name, "correction", correction.correction.correction_id, correction.correction.text
            )
