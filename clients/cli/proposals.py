"""`wayfinder proposals`: what waits for a person, and the person's decision."""

from __future__ import annotations

import click
import msgspec

from ...daemon.messages import Correct
from ...daemon.paths import resolve
from ...reducer.vocabulary.people import CorrectionType
from ..human import DaemonAway, connect
from ..terminal.safe import safe_line
from .correct import built, told
from .reading import Says, choose, reading, refold


@click.command()
@click.option("--accept", metavar="ID", help="Apply this proposal on the net as it is now.")
@click.option("--reject", metavar="ID", help="Turn this proposal down.")
@click.option("--session", help="The session; default: the most recently active.")
@click.option("--all", "every", is_flag=True, help="Also those already decided.")
@click.option("--json", "as_json", is_flag=True)
def proposals(
    accept: str | None, reject: str | None, session: str | None, every: bool, as_json: bool
) -> None:
    """List the proposals of a session; accept or reject one."""
    with reading() as reader:
        row = choose(reader, session)
        found = reader.proposals(row.session_id)
        folded = refold(reader, row)
    if accept or reject:
        kind = CorrectionType.ACCEPT if accept else CorrectionType.REJECT
        correction = built(folded, kind, None, accept or reject, None)
        try:
            with connect(resolve(), start=True, say=lambda t: click.echo(t, err=True)) as line:
                answer = line.ask(Correct(correction))
        except DaemonAway as error:
            raise Says(str(error)) from error
        click.echo(
            msgspec.json.encode(answer) if as_json else safe_line(told(correction, answer, folded))
        )
        return
    shown = [proposal for proposal in found if every or proposal.decision is None]
    if as_json:
        click.echo(msgspec.json.encode(shown))
        return
    for proposal in shown:
        ops = msgspec.json.decode(proposal.body).get("ops", [])
        what = ", ".join(str(op.get("op")) for op in ops[:6])
        state = proposal.decision or "waiting"
        click.echo(
            safe_line(f"{proposal.proposal_id}  {state}  by {proposal.agent_id}, "
                      f"on revision {proposal.base_revision}: {what}")
        )  # fmt: skip
    if not shown:
        click.echo(f"{row.session_id}: no proposal waits")


COMMANDS = {"proposals": proposals}
