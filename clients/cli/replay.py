"""`wayfinder replay`: fold a session anew; `--verify` compares every digest on the way."""

from __future__ import annotations

import click
import msgspec

from ...daemon.eventlog.reader import Reader, SessionRow
from ...reducer.net.digest import net_digest
from ...reducer.session.fold import replay as refold
from ...reducer.session.state import Session, episodes_digest
from .reading import choose, reading


@click.command()
@click.argument("session", required=False)
@click.option("--to", "to_seq", type=int, help="Stop after this event.")
@click.option("--verify", is_flag=True, help="Compare the net's digest at every batch.")
@click.option("--all", "every", is_flag=True, help="Every session of the log.")
@click.option("--json", "as_json", is_flag=True)
def replay(
    session: str | None, to_seq: int | None, verify: bool, every: bool, as_json: bool
) -> None:
    """Fold SESSION from its first event and print what it arrives at."""
    with reading() as reader:
        rows = reader.sessions() if every else [choose(reader, session)]
        found = [_folded(reader, row, to_seq, verify) for row in rows]
    if as_json:
        click.echo(msgspec.json.encode(found if every else found[0]))
        return
    for one in found:
        click.echo(
            f"{one['sessionId']}: {one['events']} events, revision {one['revision']}, "
            f"{one['batches']} batches{' verified' if verify else ''}, {one['episodes']} episodes"
        )
        click.echo(f"  net {one['netDigest']}\n  episodes {one['episodesDigest']}")


def _folded(
    reader: Reader, row: SessionRow, to_seq: int | None, verify: bool
) -> dict[str, str | int]:
    """A mismatch is a FoldError, which `reading()` turns into a sentence and exit code 1."""
    events = reader.events(row.session_id, to_seq=to_seq)
    session: Session = refold(events, row.session_id, verify=verify, whole=to_seq is None)
    return {
        "sessionId": row.session_id,
        "events": session.seq,
        "revision": session.revision,
        "batches": len(session.patches),
        "episodes": len(session.episodes),
        "netDigest": net_digest(session.net),
        "episodesDigest": episodes_digest(session),
    }


COMMANDS = {"replay": replay}
