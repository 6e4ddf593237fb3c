"""The demo itself: a daemon of its own, the recording through its agent.sock, then the brief."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Final

import click

from ...daemon.eventlog.reader import Reader
from ..terminal.safe import safe_line
from .feed import Feed, Frame, NoDaemon
from .own_daemon import NotStarted, OwnDaemon
from .recording import Recording, load
from .story import Story

SETTLE_S: Final = 30.0
POLL_S: Final = 0.05
_BRIEF: Final = "from wayfinder.clients.cli import main; main()"
_COLOURS: Final = {"declared": "cyan", "observed": "", "asked": "green"}


def main(speed: float = 1.0, keep: bool = False) -> int:
    """Plays the recorded session at `speed` times its own pace; returns the exit code.

    With `keep` the demo's folder stays and its name is told.
    """
    recording = load()
    try:
        with OwnDaemon(keep=keep) as daemon:
            _introduce(recording, speed)
            _play(daemon, recording, speed)
            _await_commit(daemon, recording)
            return _brief(daemon, recording.session_id, keep)
    except (NoDaemon, NotStarted, TimeoutError) as error:
        click.echo(f"wayfinder demo: {error}", err=True)
        return 1
    except KeyboardInterrupt:
        return 130


def _introduce(recording: Recording, speed: float) -> None:
    head = recording.head
    seconds = head.duration_ms / 1000 / speed
    click.echo(
        f"A session recorded from a real {head.agent} {head.agent_version}, played in about "
        f"{seconds:.0f} s through a daemon of its own.\n"
    )


def _play(daemon: OwnDaemon, recording: Recording, speed: float) -> None:
    duration_ms = recording.head.duration_ms
    # The last event happens now when it is played, whatever the speed.
    base_ms = int(time.time() * 1000 + duration_ms / speed - duration_ms)
    story = Story()
    total = len(recording.sent)
    began = time.monotonic()
    sent = 0

    def show(frame: Frame) -> None:
        nonlocal sent
        sent += 1
        elapsed = time.monotonic() - began
        for who, what in story.lines(frame):
            if who:
                _say(who, what, elapsed)
        _bar(sent, total)

    feed = Feed(daemon.sock, recording, base_ms=base_ms, speed=speed, on_sent=show)
    feed.play()
    _bar(0, 0)


def _say(who: str, what: str, elapsed_s: float) -> None:
    _bar(0, 0)
    mark = click.style(f"{who:<9}", fg=_COLOURS.get(who) or None, dim=who == "observed")
    click.echo(f"{int(elapsed_s) // 60:2d}:{int(elapsed_s) % 60:02d}  {mark} {safe_line(what)}")


def _bar(sent: int, total: int) -> None:
    """A line that is drawn over; nothing where the output is no terminal."""
    if not sys.stdout.isatty():
        return
    if total == 0:
        click.echo("\r\x1b[K", nl=False)
        return
    filled = 30 * sent // total
    click.echo(f"\r\x1b[K       [{'#' * filled}{'.' * (30 - filled)}] {sent} of {total}", nl=False)


def _await_commit(daemon: OwnDaemon, recording: Recording) -> None:
    """The last frame is durable; wait until the log holds what became of it."""
    until = time.monotonic() + SETTLE_S
    while not _settled(daemon, recording.session_id):
        if time.monotonic() > until:
            raise TimeoutError("the session was not committed in time; see its log with --keep")
        time.sleep(POLL_S)


def _settled(daemon: OwnDaemon, session_id: str) -> bool:
    reader = Reader.open(daemon.paths.database)
    try:
        row = reader.session(session_id)
    finally:
        reader.close()
    return row is not None and row.settled is not None


def _brief(daemon: OwnDaemon, session_id: str, keep: bool) -> int:
    click.echo()
    done = subprocess.run(
        [sys.executable, "-P", "-c", _BRIEF, "brief", session_id],
        env=daemon.environment,
        check=False,
    )
    click.echo("\nYour own sessions appear the same way: wayfinder connect pi, then work in pi.")
    if keep:
        click.echo(f"The demo's log is kept in {daemon.folder}.")
    return done.returncode
