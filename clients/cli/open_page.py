"""`wayfinder open`: the page in the browser, already signed in."""

from __future__ import annotations

import webbrowser

import click
import msgspec

from ...daemon.paths import resolve
from ..human import DaemonAway
from ..opening import open_page
from .reading import Says


@click.command("open")
@click.option(
    "--no-browser", "--print", "only_print", is_flag=True, help="Print the link; open nothing."
)
@click.option("--no-start", is_flag=True, help="Do not start the daemon if it is away.")
@click.option("--json", "as_json", is_flag=True)
def open_(only_print: bool, no_start: bool, as_json: bool) -> None:
    """Open the page: corridor, evidence, corrections, replay.

    The link works once, within a minute. A reloaded page asks for a new one: the sign-in lives in
    the page's memory and nowhere else.
    """
    try:
        opened = open_page(
            resolve(), start=not no_start, say=lambda text: click.echo(text, err=True)
        )
    except (DaemonAway, PermissionError) as error:
        raise Says(str(error)) from error
    if as_json:
        click.echo(msgspec.json.encode(opened))
        return
    if not opened.may_correct:
        click.echo(f"This page looks on only ({opened.because}); type it in a terminal to correct.")
    if only_print or not webbrowser.open(opened.url):
        click.echo(opened.url)
    else:
        click.echo("opened in your browser")


COMMANDS = {"open": open_}
