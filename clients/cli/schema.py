"""`wayfinder schema patch`: what a patch must look like, from the structs themselves."""

from __future__ import annotations

import json

import click

from ...reducer.net.schema import strict, tool_parameters


@click.command()
@click.argument("what", type=click.Choice(["patch"]))
@click.option("--tool", "for_tool", is_flag=True, help="The plain form that a model is given.")
def schema(what: str, for_tool: bool) -> None:
    """Print the JSON Schema of a GraphPatch."""
    assert what == "patch"
    click.echo(
        json.dumps(tool_parameters() if for_tool else strict(), indent=2, ensure_ascii=False)
    )


COMMANDS = {"schema": schema}
