"""`wayfinder patch FILE` and `wayfinder propose FILE`: a GraphPatch by hand."""

from __future__ import annotations

from typing import BinaryIO

import click
import msgspec

from ...daemon.messages import SubmitByHand
from ...daemon.paths import resolve
from ...reducer.vocabulary.answer import Applied, Proposed, Unchanged
from ..human import Answered, DaemonAway, connect
from ..terminal.safe import safe_line
from .reading import Says, choose, reading


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option("--session", help="The session; default: the most recently active.")
@click.option("--no-start", is_flag=True, help="Do not start the daemon if it is away.")
@click.option("--json", "as_json", is_flag=True)
@click.pass_context
def patch(
    ctx: click.Context, file: BinaryIO, session: str | None, no_start: bool, as_json: bool
) -> None:
    """Submit the GraphPatch in FILE (- for standard input) as a person's."""
    body = file.read()
    try:
        raw = msgspec.Raw(msgspec.json.encode(msgspec.json.decode(body)))
    except (msgspec.DecodeError, RecursionError) as error:
        raise Says(
            f"{file.name}: {error}. `wayfinder schema patch` says what it must be."
        ) from error
    with reading() as reader:
        row = choose(reader, session)
    request = SubmitByHand(row.session_id, raw, proposal=ctx.info_name == "propose")
    try:
        line = connect(resolve(), start=not no_start, say=lambda text: click.echo(text, err=True))
        with line:
            answer = line.ask(request)
    except DaemonAway as error:
        raise Says(str(error)) from error
    click.echo(msgspec.json.encode(answer) if as_json else safe_line(told(answer)))
    if not isinstance(answer, Applied | Unchanged | Proposed):
        raise SystemExit(1)


def told(answer: Answered) -> str:
    if isinstance(answer, Applied):
        return f"applied: revision {answer.revision}, {len(answer.event_ids)} events"
    if isinstance(answer, Unchanged):
        return f"nothing to change at revision {answer.revision}"
    if isinstance(answer, Proposed):
        return f"stored as {answer.proposal_id}; `wayfinder proposals` decides it"
    return msgspec.json.encode(answer).decode()


COMMANDS = {"patch": patch, "propose": patch}
