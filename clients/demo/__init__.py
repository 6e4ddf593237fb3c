"""`wayfinder demo`: a recorded Pi session, played through a real agent.sock.

The player starts a daemon of its own in a folder of its own; one that the person runs is left
alone. It needs neither Node nor a browser.
"""

from __future__ import annotations


def main(speed: float = 1.0, keep: bool = False) -> int:
    """What `wayfinder demo` runs; see `play.main`."""
    from .play import main as play

    return play(speed, keep)
