"""Which trouble repeats without a changed approach. Seed, "低信息循环"; DESIGN 5.

A streak counts failures with one signature by one command. It ends when the approach changes:
an edit went through, the same command passed, or the same trouble came from another command.
Calls of one reply were decided together, so all their failures are one failure.
Polling that succeeds, batches of edits and edit-test-edit therefore never build a streak.
"""

from __future__ import annotations

from typing import Final

from ...reducer.vocabulary.observation import Called
from ...reducer.vocabulary.terms import EpisodeKind, Outcome

STREAKS_MAX: Final = 32

# (signature digest|command ref|entry id of the reply, repeats), most recent last, without what is
# missing at the end: `Resume.streaks` as it is.
Streaks = tuple[tuple[str, int], ...]


def after(streaks: Streaks, call: Called) -> Streaks:
    """The streaks once `call` has ended."""
    if is_edit(call):
        return ()
    if call.signature is None:
        return _without_command(streaks, call) if call.outcome is Outcome.OK else streaks
    key = key_of(call)
    known = next((streak for streak in streaks if _attempt(streak[0]) == _attempt(key)), ("", 0))
    repeats = known[1] if call.entry_id is not None and known[0] == key else known[1] + 1
    digest = call.signature.digest
    kept = tuple(streak for streak in streaks if _digest(streak[0]) != digest)
    return (*kept, (key, repeats))[-STREAKS_MAX:]


def of_signature(streaks: Streaks, digest: str) -> int:
    """Repeats of a signature without a changed approach; 0 when the approach has changed."""
    return next((count for key, count in streaks if _digest(key) == digest), 0)


def is_edit(call: Called) -> bool:
    """An edit that went through: the one thing that always changes the approach."""
    return call.outcome is Outcome.OK and (
        call.kind is EpisodeKind.EDIT or bool(call.files_changed)
    )


def key_of(call: Called) -> str:
    assert call.signature is not None
    parts = call.signature.digest, call.command_ref or "", call.entry_id or ""
    return "|".join(parts).rstrip("|")


def _attempt(key: str) -> list[str]:
    """What is done again: the trouble and the command, whatever reply did it."""
    digest, command_ref, _ = (*key.split("|", 2), "", "")[:3]
    return [digest, command_ref]


def _digest(key: str) -> str:
    return key.partition("|")[0]


def _without_command(streaks: Streaks, call: Called) -> Streaks:
    if call.command_ref is None:
        return streaks
    return tuple(streak for streak in streaks if _attempt(streak[0])[1] != call.command_ref)
