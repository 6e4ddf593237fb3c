"""`wayfinder stats`: how much the declared path was worth (seed, "最脆弱的假设")."""

from __future__ import annotations

import click
import msgspec

from ...reducer.alignment.scorecard import Scorecard, Share, scorecard
from .reading import choose, reading, refold


@click.command()
@click.argument("session", required=False)
@click.option("--json", "as_json", is_flag=True)
def stats(session: str | None, as_json: bool) -> None:
    """Coverage, lead, hit rate and usefulness of what the agent declared in SESSION."""
    with reading() as reader:
        folded = refold(reader, choose(reader, session))
    card = scorecard(folded)
    if as_json:
        click.echo(msgspec.json.encode(card))
        return
    click.echo(f"{folded.session_id}, {card.turns} turns\n")
    for line in lines(card):
        click.echo(line)


def lines(card: Scorecard) -> list[str]:
    lead = "nothing to measure" if card.lead_median is None else f"{card.lead_median:g} calls"
    return [
        f"work done under a declared step      {share(card.coverage)} episodes",
        f"                                     {share(card.calls_covered)} calls",
        f"declared before its first fitting act by {lead} (median)",
        f"steps whose proof was then observed  {share(card.hit_rate)}",
        f"steps with fitting work after them   {share(card.usefulness)}",
        f"updates that changed nothing         {share(card.idle_patches)}",
        f"coverage by quarter of the session   {', '.join(map(share, card.by_quarter))}",
        (
            f"before / after a compaction          {share(card.before_compaction)} / "
            f"{share(card.after_compaction)}"
        ),
    ]


def share(of: Share) -> str:
    return f"{of.part} of {of.whole}" + (f" ({of.ratio:.0%})" if of.ratio is not None else "")


COMMANDS = {"stats": stats}
