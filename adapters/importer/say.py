"""A result for people: one line per file, and a short report of what would have been said.

Text of sessions is untrusted even after redaction: control characters never reach the terminal.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from .result import Result, Totals

_TROUBLES: Final = (
    ("failed", "failed"),
    ("tool_error", "tool errors"),
    ("blocked_by_policy", "blocked"),
    ("refused_by_user", "refused by you"),
    ("aborted", "aborted"),
    ("sibling_failed", "siblings"),
    ("unknown", "unknown"),
)


def line(result: Result) -> str:
    """`claude  cc-lint-loop.jsonl  15 turns, 116 calls, 6 failed · 21 episodes · silent`"""
    name = safe(PurePath(result.file).name)
    if result.totals is None:
        known = f"known already, {result.fresh} new facts"
        return f"{result.agent or '-':<9} {name}  {safe(result.error or known)}"
    totals = result.totals
    parts = [f"{totals.turns} turns", f"{totals.calls} calls"]
    if totals.inner_calls:
        parts.append(f"{totals.inner_calls} inside sub-agents")
    parts += [f"{n} {word}" for key, word in _TROUBLES if (n := totals.outcomes.get(key))]
    parts += [f"{totals.compactions} compactions"] if totals.compactions else []
    lost = sum(result.skips.get("lost", {}).values())
    parts += [f"{lost} records lost"] if lost else []
    spoken = f"would have spoken {len(totals.spoken)}×" if totals.spoken else "silent"
    episodes = f"{totals.episodes} episodes"
    return f"{result.agent or '-':<9} {name}  {', '.join(parts)} · {episodes} · {spoken}"


def report(result: Result) -> list[str]:
    """Indented lines below the one: what would have been said, gates, signatures, skips."""
    lines: list[str] = []
    if result.totals is not None:
        lines += _spoken(result.totals)
    for kind, counts in result.skips.items():
        if counts:
            said = ", ".join(f"{safe(reason)} {n}" for reason, n in counts.items())
            lines.append(f"    {kind}: {said}")
    return lines


def _spoken(totals: Totals) -> list[str]:
    lines = [f"    would have said, at {s.position}: {safe(s.words)}" for s in totals.spoken]
    lines += [f"    gate {gate.count}×: {safe(gate.what)}" for gate in totals.gates]
    lines += [
        f"    {sign.outcome} {sign.count}×: {safe(sign.what)}"
        for sign in totals.signatures
        if sign.count > 1
    ]
    return lines


def safe(text: str) -> str:
    """One line without anything a terminal could obey."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text[:400])
