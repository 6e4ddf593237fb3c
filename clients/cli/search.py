"""`wayfinder search`: find a text in labels, reasons, prompts and error signatures."""

from __future__ import annotations

import click
import msgspec

from ..searching import Hit, texts_of
from ..terminal.safe import safe_line
from .reading import reading, refold

HITS_MAX = 50


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


COMMANDS = {"search": search}
