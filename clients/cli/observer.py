"""`wayfinder observer preview`: what a model would be sent, before anything is sent."""

from __future__ import annotations

import sys

import click

from .children import run_module


@click.group()
def observer() -> None:
    """The observer annotates episodes with a model of your choice. It is off by default."""


@observer.command()
@click.argument("session", required=False)
@click.option("--episode", help="The episode; default: the newest.")
@click.option("--json", "as_json", is_flag=True)
def preview(session: str | None, episode: str | None, as_json: bool) -> None:
    """Print the whole request for one episode; nothing is sent."""
    arguments = [*([session] if session else []), *(["--episode", episode] if episode else [])]
    sys.exit(run_module("observer.preview", [*arguments, *(["--json"] if as_json else [])]))


COMMANDS = {"observer": observer}
