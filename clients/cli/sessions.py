"""`wayfinder sessions`: all that were ever watched, the most recently active first."""

from __future__ import annotations

import click
import msgspec

from ...daemon.eventlog.reader import SessionRow
from ..terminal.safe import safe_line
from .reading import reading


@click.command()
@click.option("--limit", default=30, show_default=True)
@click.option("--json", "as_json", is_flag=True)
def sessions(limit: int, as_json: bool) -> None:
    """List the sessions with their goal, state and last activity."""
    with reading() as reader:
        rows = reader.sessions(limit)
    if as_json:
        click.echo(msgspec.json.encode(rows))
        return
    if not rows:
        click.echo("No session yet. `wayfinder connect pi`, or `wayfinder import FILE`.")
    for row in rows:
        click.echo(one_line(row))


def one_line(row: SessionRow) -> str:
    """Last activity, state, project, goal with its source mark, and the id to type."""
    state = row.settled or "working"
    goal = f"{row.title} ({row.title_level})" if row.title else "goal unknown"
    return safe_line(
        f"{row.last_ts[:16].replace('T', ' ')}  {state:<8} {row.project or row.agent:<16} "
        f"{goal[:60]:<60} {row.session_id}"
    )


COMMANDS = {"sessions": sessions}
