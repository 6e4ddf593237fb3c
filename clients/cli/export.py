"""`wayfinder export`: a session's net for other tools and for the eye."""

from __future__ import annotations

from pathlib import Path

import click

from ...reducer.net.export.document import to_json
from ...reducer.net.export.mermaid import to_mermaid
from ...reducer.net.export.pnml import to_pnml
from ...reducer.net.export.svg import to_svg
from .reading import choose, reading, refold

FORMATS = {"json": to_json, "pnml": to_pnml, "mermaid": to_mermaid, "svg": to_svg}


@click.command()
@click.argument("session", required=False)
@click.option("--format", "wanted", type=click.Choice(list(FORMATS)), default="json",
              show_default=True)  # fmt: skip
@click.option("--at", "to_seq", type=int, help="As it was after this event.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path))
def export(session: str | None, wanted: str, to_seq: int | None, output: Path | None) -> None:
    """Write SESSION's net: structure, marking and contracts; no file names, no tool output."""
    with reading() as reader:
        folded = refold(reader, choose(reader, session), to_seq)
    text = FORMATS[wanted](folded.net)
    if output is None:
        click.echo(text)
    else:
        output.write_text(text, "utf-8")
        click.echo(f"{output}: {len(text)} characters of {wanted}", err=True)


COMMANDS = {"export": export}
