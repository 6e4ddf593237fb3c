"""The log, for commands that read: opened read-only, folded here, with the daemon on or off.

`brief`, `why` and the others fold from the log itself, so that what they say live and what they
say offline cannot disagree.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator

import click

from ...daemon.eventlog.connection import LogUnavailable
from ...daemon.eventlog.order import OutOfOrder
from ...daemon.eventlog.reader import Reader, SessionRow
from ...daemon.paths import UnsafePath, resolve
from ...reducer.session.fold import FoldError, fold
from ...reducer.session.state import Session


class Says(click.ClickException):
    """An error in one plain sentence; exit code 1."""

    def format_message(self) -> str:
        return self.message


@contextlib.contextmanager
def reading() -> Generator[Reader]:
    """The log, or a sentence that says why not."""
    try:
        reader = Reader.open(resolve().database)
    except (LogUnavailable, UnsafePath) as error:
        raise Says(str(error)) from error
    try:
        yield reader
    except (OutOfOrder, FoldError) as error:
        raise Says(f"The log is damaged: {error}. `wayfinder doctor` tells more.") from error
    finally:
        reader.close()


def choose(reader: Reader, wanted: str | None) -> SessionRow:
    """The session whose id is, starts with or contains `wanted`; without it the latest."""
    rows = reader.sessions()
    if not rows:
        raise Says("No session yet. `wayfinder connect pi`, or `wayfinder import FILE`.")
    if wanted is None:
        return rows[0]
    for fits in (str.__eq__, str.startswith, str.__contains__):
        found = [row for row in rows if fits(row.session_id, wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            raise Says(f"{wanted!r} fits {len(found)} sessions: {_some(found)}")
    raise Says(f"No session {wanted!r}. There are: {_some(rows)}")


def _some(rows: list[SessionRow]) -> str:
    names = ", ".join(row.session_id for row in rows[:5])
    return names + (f" and {len(rows) - 5} more" if len(rows) > 5 else "")


def refold(reader: Reader, row: SessionRow, to_seq: int | None = None) -> Session:
    """The session as it was after event `to_seq` (default: now)."""
    session = Session(row.session_id)
    for envelope in reader.events(row.session_id, to_seq=to_seq):
        fold(session, envelope)
    return session
