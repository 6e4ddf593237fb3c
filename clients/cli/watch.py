"""`wayfinder watch`: the brief, live; `--json` is the public stream for other programs."""

from __future__ import annotations

import contextlib
import sys

import click
import msgspec

from ...daemon.paths import resolve
from ..follow import NoView, follow
from ..human import DaemonAway, connect
from ..terminal.brief import Screen, brief
from .brief import age_of
from .reading import Says, choose, reading

CLEAR = "\x1b[H\x1b[J"


@click.command()
@click.argument("session", required=False)
@click.option("--json", "as_json", is_flag=True, help="One frame per line, whole, when it changed.")
@click.option("--no-start", is_flag=True, help="Do not start the daemon if it is away.")
def watch(session: str | None, as_json: bool, no_start: bool) -> None:
    """Keep NOW, WHY, NEXT and WATCH of SESSION on the screen; Ctrl-C ends it."""
    try:
        connect(resolve(), start=not no_start, say=lambda text: click.echo(text, err=True)).close()
    except DaemonAway as error:
        raise Says(str(error)) from error
    with reading() as reader:
        row = choose(reader, session)
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        try:
            for frame in follow(row.session_id, timeout_s=10):
                show(frame, as_json)
        except NoView as error:
            raise Says(str(error)) from error


def show(frame: dict[str, object], as_json: bool) -> None:
    if as_json:
        sys.stdout.write(msgspec.json.encode(frame).decode() + "\n")
    else:
        view = msgspec.convert(frame["view"], Screen)
        screen = brief(view, age=age_of(view.last_ts))
        sys.stdout.write((CLEAR if sys.stdout.isatty() else "") + screen + "\n")
        if not sys.stdout.isatty():
            sys.stdout.write("\n")
    sys.stdout.flush()


COMMANDS = {"watch": watch}
