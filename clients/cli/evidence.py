"""`wayfinder evidence`: what was observed for a step, episode by episode."""

from __future__ import annotations

import click
import msgspec

from ...reducer.session.state import EpisodeRecord, Session
from ...reducer.vocabulary.evidence import Evidence
from ..terminal.safe import safe_line
from .reading import choose, reading, refold


@click.command()
@click.argument("step", metavar="[ID]", required=False)
@click.option("--session", help="The session; default: the most recently active.")
@click.option("--json", "as_json", is_flag=True)
def evidence(step: str | None, session: str | None, as_json: bool) -> None:
    """Show episodes, tests, error signatures and evidence of step ID (default: of all)."""
    with reading() as reader:
        folded = refold(reader, choose(reader, session))
    episodes = [r for r in folded.episodes.values() if step is None or r.transition_id == step]
    pieces = [e for e in folded.net.evidence.values() if step is None or e.target_id == step]
    if as_json:
        click.echo(msgspec.json.encode({"episodes": episodes, "evidence": pieces}))
        return
    _print(folded, step, episodes, pieces)


def _print(
    session: Session, step: str | None, episodes: list[EpisodeRecord], pieces: list[Evidence]
) -> None:
    known = session.net.transitions.get(step or "")
    what = f"{step}: {known.intent}" if known else step or "all steps"
    click.echo(safe_line(f"{session.session_id}, {what}"))
    for record in episodes:
        for line in episode_lines(record):
            click.echo(line)
    click.echo(f"{len(pieces)} pieces of evidence")
    for piece in pieces:
        mark = f" = {piece.result}" if piece.result else ""
        click.echo(
            safe_line(
                f"  {piece.evidence_id}  {piece.type}{mark}: {piece.summary} "
                f"(from {piece.source}, vouched for by {piece.confidence_owner})"
            )
        )


def episode_lines(record: EpisodeRecord) -> list[str]:
    """Kind, outcome and counts; then facts and error signatures, each on its line."""
    episode = record.episode
    tools = ", ".join(f"{tool.tool} x{tool.count}" for tool in episode.tools)
    lines = [
        f"{episode.episode_id}  {episode.kind}, {episode.outcome}  {episode.calls} calls ({tools})"
        f"  files read {episode.files_read}, changed {episode.files_changed}"
        f"  → {record.transition_id or 'no step'}"
        + (f" (moved from {record.stamped_transition_id})" if record.moved_by else "")
    ]
    for fact in episode.facts:
        lines.append(f"    {fact.kind}:{fact.name}" + (f"={fact.result}" if fact.result else ""))
    for counted in episode.signatures:
        lines.append(f"    {counted.count}x {counted.signature.sample}")
    for refusal in episode.refusals:
        lines.append(f"    refused {refusal.count}x: {refusal.refusal.quote}")
    return [safe_line(line) for line in lines]


COMMANDS = {"evidence": evidence}
