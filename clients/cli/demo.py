"""`wayfinder demo`: a recorded session, live, in a daemon of its own."""

from __future__ import annotations

import sys

import click


@click.command()
@click.option(
    "--speed", default=1.0, show_default=True, type=click.FloatRange(0.1, 1000.0),
    help="How many times faster than it was recorded.",
)  # fmt: skip
@click.option("--keep", is_flag=True, help="Keep the demo's folder and say where it is.")
def demo(speed: float, keep: bool) -> None:
    """Play a recorded Pi session through a real daemon, then print the brief.

    It uses a folder of its own; a daemon of yours that is running is left alone.
    """
    from ..demo import main

    sys.exit(main(speed, keep))


COMMANDS = {"demo": demo}
