"""`wayfinder import`: read past sessions of any known agent."""

from __future__ import annotations

import sys

import click

from .children import run_module


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True))
@click.option("--agent", help="Skip recognition: the files are this agent's.")
@click.option("--discover", is_flag=True, help="Find this machine's sessions by itself.")
@click.option("--dry-run", is_flag=True, help="Only say what would be imported and noticed.")
@click.option("--follow", is_flag=True, help="Go on reading as the files grow; Ctrl-C ends it.")
@click.option("--json", "as_json", is_flag=True, help="One result per line.")
def import_files(
    files: tuple[str, ...],
    agent: str | None,
    discover: bool,
    dry_run: bool,
    follow: bool,
    as_json: bool,
) -> None:
    """Import session FILES of Pi, Claude Code, Codex, OpenCode or Gemini; formats are recognised.

    Tells per file what was found, and when Wayfinder would have spoken up.
    """
    chosen = {
        "--discover": discover,
        "--dry-run": dry_run,
        "--follow": follow,
        "--json": as_json,
    }
    arguments = [flag for flag, on in chosen.items() if on]
    if agent:
        arguments += ["--agent", agent]
    sys.exit(run_module("adapters.importer", [*arguments, *files]))


COMMANDS = {"import": import_files}
