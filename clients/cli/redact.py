"""`wayfinder redact`: text on standard input → what would be stored of it."""

from __future__ import annotations

import sys

import click

from .children import run_module


@click.command()
@click.option("--level", type=click.Choice(["1", "2"]), default="1", show_default=True,
              help="1: evidence shown to you; 2: what a model would be sent.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="With the spans that were masked.")
def redact(level: str, as_json: bool) -> None:
    """Read a text from standard input and print what would be stored of it."""
    sys.exit(run_module("daemon.redact", ["--level", level, *(["--json"] if as_json else [])]))


COMMANDS = {"redact": redact}
