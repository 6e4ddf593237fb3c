"""`wayfinder log`: the committed events of a session, one line each."""

from __future__ import annotations

import sys

import click

from ...reducer.vocabulary.codec import encode
from ...reducer.vocabulary.event import Envelope
from ..terminal.safe import safe_line
from .reading import choose, reading

LINE_CHARS_MAX = 120


@click.command()
@click.argument("session", required=False)
@click.option("--from", "from_seq", default=1, show_default=True, help="First event number.")
@click.option("--to", "to_seq", type=int, help="Last event number.")
@click.option("--kind", help="Only kinds that start with this, e.g. transition.")
@click.option("--json", "as_json", is_flag=True, help="The whole envelope, one a line.")
def log(
    session: str | None, from_seq: int, to_seq: int | None, kind: str | None, as_json: bool
) -> None:
    """Print the committed events of SESSION in order, each with its cause."""
    with reading() as reader:
        row = choose(reader, session)
        if not as_json:
            click.echo(f"{row.session_id}: {row.last_seq} events")
        for envelope in reader.events(row.session_id, max(1, from_seq), to_seq):
            if kind and not envelope.kind.startswith(kind):
                continue
            if as_json:
                sys.stdout.write(encode(envelope).decode() + "\n")
            else:
                click.echo(one_line(envelope))


def one_line(envelope: Envelope) -> str:
    """Number, time, source mark, kind, what it says, and what it is owed to."""
    says = safe_line(bytes(envelope.payload).decode())[:LINE_CHARS_MAX]
    return (
        f"{envelope.session_seq:>6}  {envelope.ts[11:19]}  {envelope.provenance.level:<9} "
        f"{envelope.kind:<24} {says}  ← {safe_line(envelope.causation_id)}"
    )


COMMANDS = {"log": log}
