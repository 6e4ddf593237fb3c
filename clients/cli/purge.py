"""`wayfinder purge`: delete whole sessions for good; the reconciler does it, and only it."""

from __future__ import annotations

import time
from datetime import datetime

import click
import msgspec

from ...daemon.eventlog.reader import SessionRow
from ...daemon.messages import Done, Purge
from ...daemon.paths import resolve
from ..human import DaemonAway, connect
from ..terminal.safe import safe_line
from .reading import Says, reading
from .sessions import one_line

DAY_S = 86_400


@click.command()
@click.argument("ids", nargs=-1, metavar="[SESSION]...")
@click.option("--older-than", "days", type=click.IntRange(1), metavar="DAYS",
              help="Sessions silent for that long.")  # fmt: skip
@click.option("--project", help="All sessions of this project.")
@click.option("--all", "every", is_flag=True, help="All sessions.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--json", "as_json", is_flag=True)
def purge(
    ids: tuple[str, ...],
    days: int | None,
    project: str | None,
    every: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Delete sessions from the log, its journal and every table; nothing brings them back.

    The agent's own log files are not touched.
    """
    with reading() as reader:
        rows = reader.sessions(1_000_000)
    doomed = [row for row in rows if every or meant(row, ids, days, project)]
    if not doomed:
        raise Says("No session is meant. Give ids, --older-than, --project or --all.")
    if not (yes or as_json):
        for row in doomed:
            click.echo(one_line(row))
        click.confirm(f"Delete {len(doomed)} sessions for good?", abort=True)
    gone: list[str] = []
    try:
        with connect(resolve(), start=True, say=lambda text: click.echo(text, err=True)) as line:
            for row in doomed:
                answer = line.ask(Purge(row.session_id))
                if not isinstance(answer, Done):
                    raise Says(safe_line(f"{row.session_id}: {msgspec.json.encode(answer)!r}"))
                gone.append(row.session_id)
    except DaemonAway as error:
        raise Says(str(error)) from error
    click.echo(msgspec.json.encode(gone) if as_json else f"deleted {len(gone)} sessions")


def meant(row: SessionRow, ids: tuple[str, ...], days: int | None, project: str | None) -> bool:
    if row.session_id in ids:
        return True
    if project is not None and row.project == project:
        return True
    if days is None:
        return False
    silent_s = time.time() - datetime.fromisoformat(row.last_ts).timestamp()
    return silent_s > days * DAY_S


COMMANDS = {"purge": purge}
