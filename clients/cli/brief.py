"""`wayfinder brief`: where a session stands, folded from the log itself."""

from __future__ import annotations

import time
from datetime import datetime

import click
import msgspec

from ...daemon.viewer.outside import outside_of
from ...reducer.attention.look import view_of
from ...reducer.attention.texts import Language
from ..terminal.brief import brief as as_text
from .reading import choose, reading, refold

# One person, one watermark: what the page marks as seen, the brief knows as seen.
VIEWER = "page"


@click.command()
@click.argument("session", required=False)
@click.option("--at", "to_seq", type=int, help="As it was after this event.")
@click.option("--lang", "language", type=click.Choice(["en", "zh"]), default="en")
@click.option("--json", "as_json", is_flag=True, help="The eight answers and the whole view.")
def brief(session: str | None, to_seq: int | None, language: Language, as_json: bool) -> None:
    """NOW, WHY, NEXT and WATCH of SESSION, each with its source; what nobody said is Unknown.

    proof: what would show success.  fails: the failure branch.  aside: paths already tried.
    """
    with reading() as reader:
        row = choose(reader, session)
        folded = refold(reader, row, to_seq)
        outside = outside_of(folded, reader.waiting_proposals(row.session_id))
    view = view_of(folded, viewer=VIEWER, language=language, outside=outside)
    if as_json:
        click.echo(msgspec.json.encode(view))
    else:
        click.echo(as_text(view, language=language, age=age_of(view.last_ts)))


def age_of(ts: str) -> str:
    """ "3 min ago": how long the session has been silent, which is all that silence means."""
    if not ts:
        return ""
    seconds = max(0, int(time.time() - datetime.fromisoformat(ts).timestamp()))
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {name} ago"
    return "just now"


COMMANDS = {"brief": brief}
