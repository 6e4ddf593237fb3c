"""`wayfinder doctor`: check everything and say what is wrong. Exit code 1 if something is bad."""

from __future__ import annotations

import sys

import click
import msgspec

from ...daemon.doctor import Finding, Health, examine
from ...daemon.paths import resolve
from ..terminal.safe import safe_line
from .children import run_module

MARKS = {Health.OK: "ok  ", Health.NOTE: "note", Health.BAD: "BAD "}


@click.command()
@click.option("--drill", is_flag=True, help="Also rehearse a restore from a copy of the log.")
@click.option("--model", is_flag=True, help="Make one call to the observer's model, if any.")
@click.option("--json", "as_json", is_flag=True)
def doctor(drill: bool, model: bool, as_json: bool) -> None:
    """Check files, folders, processes, every session's digests, and say what to do."""
    if model:
        sys.exit(run_module("observer.checkup", ["--json"] if as_json else []))
    found: list[Finding] = []
    for finding in examine(resolve(), drill=drill):
        found.append(finding)
        if not as_json:
            click.echo(safe_line(f"{MARKS[finding.health]}  {finding.what:<14} {finding.says}"))
    if as_json:
        click.echo(msgspec.json.encode(found))
    sys.exit(any(finding.health is Health.BAD for finding in found))


COMMANDS = {"doctor": doctor}
