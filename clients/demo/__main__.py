"""`python -m wayfinder.clients.demo [--speed N] [--keep]`; people type `wayfinder demo`."""

from __future__ import annotations

import sys

import click

from .play import main


@click.command()
@click.option("--speed", default=1.0, show_default=True, help="How many times faster than it was.")
@click.option("--keep", is_flag=True, help="Keep the demo's folder and say where it is.")
def demo(speed: float, keep: bool) -> None:
    """Play a recorded Pi session through a real daemon, then print the brief."""
    sys.exit(main(speed, keep))


if __name__ == "__main__":
    demo()
