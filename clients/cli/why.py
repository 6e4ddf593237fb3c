"""`wayfinder why ID`: the verdict and its rule, and everything that ever touched an id."""

from __future__ import annotations

from typing import Any, cast

import click
import msgspec

from ...daemon.eventlog.reader import Reader, SessionRow
from ...reducer.alignment.tensions import tensions, watches
from ...reducer.alignment.verdict import Verdict, history, verdict
from ...reducer.alignment.words import say
from ...reducer.session.state import Session
from ...reducer.vocabulary.event import Envelope
from ..terminal.safe import safe_line
from .log import one_line
from .reading import Says, choose, reading, refold

# The specification's six clauses, as a person would say them; 0: nothing is active.
CLAUSES = {
    0: "no step is active",
    1: "a person said otherwise",
    2: "too little could be seen",
    3: "two episodes in a row looked like another intent",
    4: "fitting work or confirming evidence was seen",
    5: "three episodes without explainable progress",
    6: "too early to tell",
}


@click.command()
@click.argument("wanted", metavar="ID", required=False)
@click.option("--session", help="The session; default: the most recently active.")
@click.option("--json", "as_json", is_flag=True)
def why(wanted: str | None, session: str | None, as_json: bool) -> None:
    """Explain the alignment verdict; with ID, tell all that ever touched it, with causes.

    ID is a node, an episode, a correction, a patch or a piece of evidence.
    """
    with reading() as reader:
        row = choose(reader, session)
        folded = refold(reader, row)
        touched = touching(reader, row, wanted) if wanted else []
    if wanted and not touched:
        raise Says(f"Nothing in {row.session_id} ever named {wanted!r}.")
    found = verdict_of(folded, wanted)
    if as_json:
        click.echo(msgspec.json.encode(as_value(folded, found, touched)))
        return
    click.echo(f"{row.session_id}\n")
    for line in explained(found):
        click.echo(line)
    for tension in tensions(folded):
        click.echo(
            safe_line(f"tension: {say(tension.declared.words)} / {say(tension.observed.words)}")
        )
        click.echo(safe_line(f"  resolved by: {say(tension.resolves)}"))
    for watch in watches(folded):
        click.echo(safe_line(f"watch: {say(watch.words)}"))
    if touched:
        click.echo(f"\n{len(touched)} events name {safe_line(wanted or '')}:")
        for envelope in touched:
            click.echo(one_line(envelope))


def verdict_of(session: Session, wanted: str | None) -> Verdict:
    """The verdict when that episode completed, if an episode is meant; else the one now."""
    return history(session).get(wanted or "", verdict(session))


def explained(found: Verdict) -> list[str]:
    """Status, clause, reason, window and what it rests on, in plain words."""
    window = found.window
    lines = [
        f"{found.status}: {say(found.reason)}",
        f"  rule {found.clause} of 6: {CLAUSES[found.clause]}",
        f"  about {found.transition_id or 'no step'}, since {found.since_id or 'the beginning'}",
        (
            f"  window: opened by {window.opened_by} {window.opened_id}, "
            f"{window.completed} episodes, coverage {window.coverage}"
        ),
        f"  episodes: {', '.join(found.episode_ids) or 'none'}",
        f"  evidence: {', '.join(found.evidence_ids) or 'none'}",
    ]
    return [safe_line(line) for line in lines]


def touching(reader: Reader, row: SessionRow, wanted: str) -> list[Envelope]:
    """Every event whose cause is `wanted` or whose payload names it as a whole value or key."""
    return [
        envelope
        for envelope in reader.events(row.session_id)
        if wanted in (envelope.causation_id, envelope.event_id)
        or names(msgspec.json.decode(envelope.payload), wanted)
    ]


def names(value: Any, wanted: str) -> bool:
    """Whether a decoded JSON value holds `wanted` as a whole text or key, at any depth."""
    if isinstance(value, dict):
        inside = cast("dict[str, Any]", value)
        return wanted in inside or any(names(one, wanted) for one in inside.values())
    if isinstance(value, list):
        return any(names(one, wanted) for one in cast("list[Any]", value))
    return value == wanted


def as_value(session: Session, found: Verdict, touched: list[Envelope]) -> dict[str, Any]:
    return {
        "sessionId": session.session_id,
        "verdict": found,
        "reason": say(found.reason),
        "rule": CLAUSES[found.clause],
        "tensions": tensions(session),
        "watches": watches(session),
        "events": touched,
    }


COMMANDS = {"why": why}
