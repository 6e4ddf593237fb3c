"""`wayfinder config`: every setting, its value, and where the value comes from."""

from __future__ import annotations

import click
import msgspec

from ...daemon.paths import resolve
from ...daemon.settings import BadSetting, load, value_of
from .reading import Says


@click.command()
@click.option("--json", "as_json", is_flag=True)
def config(as_json: bool) -> None:
    """Show the settings and the folders in use."""
    paths = resolve()
    try:
        loaded = load(paths.settings)
    except BadSetting as error:
        raise Says(str(error)) from error
    values = {
        name: {"value": value_of(loaded.settings, name), "from": source}
        for name, source in loaded.sources.items()
    }
    folders = {"run": str(paths.run), "state": str(paths.state), "config": str(paths.config)}
    if as_json:
        click.echo(msgspec.json.encode({"folders": folders, "settings": values}))
        return
    for name, folder in folders.items():
        click.echo(f"{name} folder: {folder}")
    click.echo(f"settings file: {paths.settings}{'' if paths.settings.exists() else ' (none)'}\n")
    for name, entry in values.items():
        click.echo(f"{name} = {entry['value']}    ({entry['from']})")


COMMANDS = {"config": config}
