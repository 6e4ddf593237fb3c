"""`wayfinder connect`: put Wayfinder's extension into an agent, or take it out again."""

from __future__ import annotations

import sys

import click

from .children import run_module

AGENTS = {"pi": "adapters.pi.connect"}


@click.command()
@click.argument("agent", type=click.Choice(sorted(AGENTS)))
@click.option("--remove", is_flag=True, help="Take it out again; leaves nothing behind.")
@click.option("--json", "as_json", is_flag=True)
def connect(agent: str, remove: bool, as_json: bool) -> None:
    """Install the extension for AGENT, for this user."""
    flags = [*(["--remove"] if remove else []), *(["--json"] if as_json else [])]
    sys.exit(run_module(AGENTS[agent], flags))


COMMANDS = {"connect": connect}
