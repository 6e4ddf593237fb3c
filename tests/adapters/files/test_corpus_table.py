"""Real sessions, one row per file: what its index says of it, and why we say otherwise where we do.

Columns: turns (of them asked by no person), calls, failures by outcome, calls inside sub-agents,
compactions, aborted turns, calls that never got a result.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from wayfinder.adapters.importer.formats import NotASession, recognise
from wayfinder.adapters.importer.reading import Reading
from wayfinder.adapters.normalise.clean import Cleaner
from wayfinder.adapters.reader import Source
from wayfinder.daemon.redact.hmacs import References
from wayfinder.reducer.vocabulary.observation import (
    Called,
    NoteCode,
    Noted,
    Prompted,
    Settled,
    SettleReason,
)
from wayfinder.reducer.vocabulary.terms import Outcome

pytestmark = pytest.mark.corpus


class Row(Struct):
    file: str
    turns: int
    calls: int
    failures: dict[str, int] = {}
    machine: int = 0
    inner: int = 0
    compactions: int = 0
    aborted: int = 0
    unanswered: int = 0


F, T, B, U, A, S, X = (
    "failed", "tool_error", "blocked_by_policy", "refused_by_user", "aborted", "sibling_failed",
    "unknown",
)  # fmt: skip

# The index counts calls asked for: our calls + unanswered. Where a figure differs, why.
TABLE = [
    # Index: 12 errors. 12 are flagged; nine more checks failed behind `| tail`, by tsc's own lines,
    # and two of the flagged are aborts.
    Row("pi/v1-before-compaction", 55, 448, {F: 15, T: 4, A: 2}, compactions=2, aborted=18,
        unanswered=6),
    # Index: one compaction. The second stands on the last line, behind another record.
    Row("pi/v1-dec-compact", 77, 429, {F: 15, T: 1, A: 1}, compactions=2, aborted=10, unanswered=3),
    # Index: 19 errors, 22 aborted or failed replies. Ten more checks failed behind a pipe; one of
    # the 22 replies is an outage.
    Row("pi/v1-large", 88, 373, {F: 27, A: 2}, aborted=21, unanswered=18),
    Row("pi/v3-gjc-blocked-ko", 8, 204, {B: 23, F: 9, T: 3}, unanswered=1),
    # Index: 72 calls, without those on the line whose escape we mend.
    Row("pi/v3-gjc-design-ko", 21, 75, {F: 2, T: 2}),
    Row("pi/v3-kimchi-statusline", 5, 49, {T: 1}),
    Row("pi/v3-welpy", 9, 121, {F: 2, T: 3}, inner=43, compactions=2),
    Row("claude/cc-1.0.51-interrupt", 1, 1, {A: 1}, aborted=1),
    # Index: 3 calls; two of them are the sub-agent's.
    Row("claude/cc-1.0.71-task", 1, 1, inner=2),
    Row("claude/cc-1.0.98-short", 1, 12, {B: 1}),
    # Index: 167 calls and 23 errors: 156 and all 23 are inside the sub-agents.
    Row("claude/cc-1.0.98-sidechain-inline", 2, 11, inner=156),
    Row("claude/cc-2.0.76-rejections", 7, 44, {U: 4}),
    Row("claude/cc-2.1.12-plan-rejected", 3, 38, {U: 5}, aborted=1),
    Row("claude/cc-2.1.12-test-fails-5x", 6, 39, {F: 5, U: 4}),
    # Index: 27 errors; one build more failed behind a pipe.
    Row("claude/cc-2.1.17-long-27-errors", 22, 303, {F: 19, T: 9}, compactions=1, aborted=1),
    Row("claude/cc-2.1.179-rate-limit", 1, 0),
    Row("claude/cc-2.1.30-sibling-cascade", 1, 67, {T: 2, S: 8}),
    Row("claude/cc-2.1.4-in-flight", 1, 0, unanswered=1),
    Row("claude/cc-2.1.4-subagents", 4, 21, {T: 4, A: 1}, inner=56, aborted=1),
    Row("claude/cc-lint-loop", 15, 116, {F: 6}),
    # Index: 14 errors. Twelve commands failed, and three patches did not apply.
    Row("codex/codex-0.121-long", 39, 252, {F: 12, T: 3}, aborted=1),
    Row("codex/codex-0.125", 2, 74, {F: 4}),
    Row("codex/codex-2025-11-empty", 0, 0),
    Row("opencode/oc-1.15.6-sanitized", 16, 96, {T: 1, X: 34}, aborted=1, unanswered=1),
    Row("opencode/oc-1.15.6-zh-masked", 25, 143, {F: 12, T: 2, X: 2}, aborted=3, unanswered=1),
    Row("gemini/gem-0.2x-session-a", 2, 2),
    Row("gemini/gem-0.2x-session-b", 2, 1, machine=1),
    # Index: 45 calls. The history was cut: one more result has no call left.
    Row("gemini/gem-history-compressed", 6, 46, {F: 3, T: 4, U: 1}, compactions=1),
    Row("gemini/gem-history-planmode", 1, 39, {T: 1}),
    Row("probe/claude-2.1.332-main", 2, 5, {F: 2}, machine=1),
    # Index: no turn. Its one prompt is the parent's.
    Row("probe/claude-2.1.332-subagent", 1, 0, machine=1),
    Row("probe/codex-0.171-main", 1, 6, {F: 4}),
    Row("probe/codex-0.171-compaction", 2, 3, {F: 2}, compactions=4, unanswered=1),
    # Index: one turn. The stream does not say what was asked.
    Row("probe/codex-0.171-exec-stream", 0, 6, {F: 4}),
    Row("probe/codex-0.171-subagent-child", 1, 0, machine=1, aborted=1),
    Row("probe/gemini-0.61-session", 1, 5, {F: 2, T: 1}),
    Row("probe/opencode-1.18.33-export", 1, 6, {F: 2, T: 1}),
    Row("derived/pi-truncated-tail", 5, 49, {T: 1}),
    # Index: 14 calls asked for, two of them unanswered where the file is cut.
    Row("derived/codex-truncated-mid-utf8", 1, 12, {F: 1}, unanswered=2),
]  # fmt: skip

# No session of these five agents: streams of other interfaces, hooks, a debug log, another agent.
OTHERS = [
    "claude/cc-1.0.51-pretty-printed", "probe/claude-2.1.332-hook-payloads",
    "probe/codex-0.171-hook-payloads", "probe/gemini-0.61-hook-payloads",
    "probe/gemini-0.61-stream-json", "probe/opencode-1.18.33-plugin-events",
    "probe/opencode-1.18.33-run-stream", "swe-agent/ctf-babyencryption", "swe-agent/ctf-web",
]  # fmt: skip


def path_of(corpus: Path, name: str) -> Path:
    (found,) = (corpus / "sessions" / Path(name).parent).glob(Path(name).name + ".json*")
    return found


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.file)
def test_a_file_reads_as_the_table_says(row: Row, corpus: Path, read_path: Any) -> None:
    """Turns, calls, failures by class, sub-agents, compactions: as the index, or with a reason."""
    path = path_of(corpus, row.file)
    found = read_path(recognise(path).agent, path)
    calls, prompts = found.of(Called), found.of(Prompted)
    outcomes = Counter(call.outcome.value for call in calls if call.outcome is not Outcome.OK)
    assert row == Row(
        row.file,
        turns=len(prompts),
        calls=len(calls),
        failures=dict(outcomes),
        machine=sum(prompt.machine for prompt in prompts),
        inner=sum(call.inner_calls for call in calls),
        compactions=sum(note.code is NoteCode.COMPACTION for note in found.of(Noted)),
        aborted=sum(settled.reason is SettleReason.ABORTED for settled in found.of(Settled)),
        unanswered=found.unanswered,
    )
    assert set(found.skips.lost) <= {"cut_record"}
    assert not found.skips.unknown


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_session_is_said_to_be_none(name: str, corpus: Path, read_path: Any) -> None:
    """And read by force it ends in skips, not in a crash."""
    path = path_of(corpus, name)
    with pytest.raises(NotASession):
        recognise(path)
    for agent in ("pi", "claude", "codex", "gemini", "opencode"):
        read_path(agent, path)


def test_every_file_is_in_the_table(corpus: Path) -> None:
    files = {
        f"{path.parent.name}/{path.name.rpartition('.json')[0]}"
        for path in (corpus / "sessions").rglob("*.json*")
    }
    assert files == {row.file for row in TABLE} | set(OTHERS)


def reading(path: Path, cleaner: Cleaner, refs: References) -> Any:
    found = Reading(Source(recognise(path).agent, path), cleaner, refs)
    for _ in found.batches():
        pass
    return found.result().totals


@pytest.mark.parametrize(
    ("name", "spoken"),
    [
        ("pi/v3-gjc-blocked-ko", 1),
        ("claude/cc-2.1.30-sibling-cascade", 0),
        ("claude/cc-2.1.12-plan-rejected", 0),
        ("claude/cc-lint-loop", 0),
        ("claude/cc-2.1.12-test-fails-5x", 0),
        ("claude/cc-2.1.17-long-27-errors", 0),
        ("pi/v1-dec-compact", 0),
        ("codex/codex-0.121-long", 0),
        ("probe/codex-0.171-main", 1),
    ],
)
def test_when_it_would_have_spoken(
    name: str, spoken: int, corpus: Path, cleaner: Cleaner, refs: References
) -> None:
    """Gates and true repeats speak; polling, batches, refusals by a person and repairs do not."""
    totals = reading(path_of(corpus, name), cleaner, refs)
    assert len(totals.spoken) == spoken, totals.spoken


def test_one_refusal_met_22_times_is_one_gate(
    corpus: Path, cleaner: Cleaner, refs: References
) -> None:
    """Spread over the whole session, between successful calls."""
    totals = reading(path_of(corpus, "pi/v3-gjc-blocked-ko"), cleaner, refs)
    assert sorted(gate.count for gate in totals.gates) == [1, 22]
