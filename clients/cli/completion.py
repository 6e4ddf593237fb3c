"""`wayfinder completion`: the script a shell needs to complete our commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for SHELL; put it where your shell reads such scripts."""
    from . import main

    completer = get_completion_class(shell)
    assert completer is not None, "click knows all three"
    click.echo(completer(main, {}, "wayfinder", "_WAYFINDER_COMPLETE").source())


COMMANDS = {"completion": completion}
