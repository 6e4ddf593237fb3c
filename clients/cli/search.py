"""`wayfinder search`: find a text in labels, reasons, prompts and error signatures."""

from __future__ import annotations

from collections.abc import Iterator

import click
import msgspec
from msgspec import Struct

from ...reducer.session.state import Session
from ..terminal.safe import safe_line
from .reading import reading, refold

HITS_MAX = 50


class Hit(Struct, frozen=True, rename="camel"):
    session_id: str
    what: str
    id: str
    text: str


@click.command()
@click.argument("text")
@click.option("--json", "as_json", is_flag=True)
def search(text: str, as_json: bool) -> None:
    """Find TEXT, in any case, in all sessions; at most 50 hits, the newest sessions first."""
    wanted = text.casefold()
    hits: list[Hit] = []
    with reading() as reader:
        for row in reader.sessions():
            folded = refold(reader, row)
            hits += [hit for hit in texts_of(folded) if wanted in hit.text.casefold()]
            if len(hits) >= HITS_MAX:
                break
    hits = hits[:HITS_MAX]
    if as_json:
        click.echo(msgspec.json.encode(hits))
        return
    for hit in hits:
        click.echo(safe_line(f"{hit.session_id}  {hit.what:<10} {hit.id:<24} {hit.text}"))
    if not hits:
        click.echo(safe_line(f"No session mentions {text!r}."))


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


COMMANDS = {"search": search}
