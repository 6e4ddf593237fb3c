"""`wayfinder correct`: put the agent right in one line."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from ...daemon.messages import Correct, Refused, Taken
from ...daemon.paths import resolve
from ...reducer.people.oneline import aim, parse
from ...reducer.session.state import Session
from ...reducer.vocabulary.answer import Conflict, Rejected
from ...reducer.vocabulary.people import CorrectionType, HumanIntentPatch
from ..human import Answered, DaemonAway, connect, new_id
from ..terminal.safe import safe_line
from .reading import Says, choose, reading, refold

# flag → (type, what its value is). The words of the command are the text, if the type takes one.
FLAGS: dict[str, tuple[CorrectionType, str]] = {
    "retire": (CorrectionType.RETIRE, "This branch no longer matters."),
    "gate": (CorrectionType.GATE, "From here on I decide."),
    "open-gate": (CorrectionType.OPEN_GATE, "Go on through this gate."),
    "redescribe": (CorrectionType.REDESCRIBE, "The words of this step are wrong; these are right."),
    "only": (CorrectionType.ONLY, "Work on this step alone for now."),
    "undo": (CorrectionType.UNDO, "Take this correction back."),
}


def flags(command: Any) -> Any:
    for name, (_, about) in reversed(FLAGS.items()):
        command = click.option(f"--{name}", metavar="ID", help=about)(command)
    return command


@click.command()
@click.argument("words", nargs=-1)
@click.option("--goal", is_flag=True, help="The words are the overall goal.")
@flags
@click.option("--wrong-step", is_flag=True, help="The active step is not what to do now.")
@click.option(
    "--supersede", nargs=2, metavar="OLD NEW", help="Force NEW in place of an active OLD."
)
@click.option("--reassociate", nargs=2, metavar="EPISODE STEP", help="This work belongs there.")
@click.option("--session", help="The session; default: the most recently active.")
@click.option("--no-start", is_flag=True, help="Do not start the daemon if it is away.")
@click.option("--json", "as_json", is_flag=True)
def correct(
    words: tuple[str, ...], session: str | None, no_start: bool, as_json: bool, **given: Any
) -> None:
    """Tell the agent in one line; it arrives in its very next turn.

    WORDS alone are understood where they say one of the usual things, in English or Chinese, and
    are delivered as they are otherwise. What was understood is printed, and can be undone.
    """
    with reading() as reader:
        folded = refold(reader, choose(reader, session))
    correction = meant(folded, " ".join(words).strip(), given)
    try:
        line = connect(resolve(), start=not no_start, say=lambda text: click.echo(text, err=True))
        with line:
            answer = line.ask(Correct(correction))
    except DaemonAway as error:
        raise Says(str(error)) from error
    if as_json:
        click.echo(msgspec.json.encode({"correction": correction, "answer": answer}))
    else:
        click.echo(safe_line(told(correction, answer, folded)))
    if not isinstance(answer, Taken):
        raise SystemExit(1)


def meant(session: Session, text: str, given: dict[str, Any]) -> HumanIntentPatch:
    """The correction the flags or the words say. Raises Says if they say none or several."""
    chosen = [
        (kind, given[name.replace("-", "_")], None)
        for name, (kind, _) in FLAGS.items()
        if given.get(name.replace("-", "_"))
    ]
    if given.get("goal"):
        chosen.append((CorrectionType.GOAL, None, None))
    if given.get("wrong_step"):
        chosen.append((CorrectionType.WRONG_STEP, None, None))
    for name, kind in (
        ("supersede", CorrectionType.SUPERSEDE),
        ("reassociate", CorrectionType.REASSOCIATE),
    ):
        if given.get(name):
            chosen.append((kind, *given[name]))
    if len(chosen) > 1:
        raise Says("One correction at a time, so that each can be undone by itself.")
    if chosen:
        kind, target, other = chosen[0]
        return built(session, kind, text or None, target, other)
    if not text:
        raise Says('Say it in one line: wayfinder correct "only find the cause"')
    active = session.net.active_transition()
    steps = {t.transition_id: t.intent for t in session.net.transitions.values()}
    aimed = aim(parse(text), text, steps, active.transition_id if active else None)
    return built(session, aimed.type, aimed.text, aimed.target_id, None)


def built(
    session: Session, kind: CorrectionType, text: str | None, target: str | None, other: str | None
) -> HumanIntentPatch:
    try:
        return msgspec.convert(
            {
                "correctionId": new_id("cor"),
                "sessionId": session.session_id,
                "type": kind.value,
                "text": text,
                "targetId": target,
                "otherId": other,
                "baseRevision": session.revision,
            },
            HumanIntentPatch,
        )
    except msgspec.ValidationError as error:
        raise Says(f"That cannot be sent: {error}") from error


def told(correction: HumanIntentPatch, answer: Answered, session: Session) -> str:
    """One line for the person: what was understood, and what becomes of it."""
    kind = correction.type.value.replace("_", " ")
    what = f"{kind}{' ' + correction.target_id if correction.target_id else ''}"
    if isinstance(answer, Taken) and answer.confirmed:
        return (
            f"{session.session_id}: taken as «{what}»; it goes into the agent's next turn. "
            f"To take it back: wayfinder correct --undo {correction.correction_id}"
        )
    if isinstance(answer, Taken):
        return (
            f"«{what}» waits for your click in the page (wayfinder open): it is not certain that "
            f"a person sent it ({answer.because})"
        )
    if isinstance(answer, Rejected):
        fault = answer.faults[0]
        known = f"; there are: {', '.join(fault.known)}" if fault.known else ""
        return f"not possible ({fault.code}): expected {fault.expected}{known}"
    if isinstance(answer, Conflict):
        return f"{', '.join(answer.conflicting)} changed since you looked; look again and repeat"
    if isinstance(answer, Refused):
        return f"refused ({answer.code}): {answer.expected}"
    return f"unexpected answer: {type(answer).__name__}"


COMMANDS = {"correct": correct}
