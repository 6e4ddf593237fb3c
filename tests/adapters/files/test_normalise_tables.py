"""The tables all agents share: commands, tools, signatures, facts, plans, the last gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayfinder.adapters.normalise import runners, shell, signatures
from wayfinder.adapters.normalise.calls import Place, RawCall, called
from wayfinder.adapters.normalise.clean import Cleaner
from wayfinder.adapters.normalise.facts import relative
from wayfinder.adapters.normalise.outcomes import said, settled_by
from wayfinder.adapters.normalise.plans import PlanLedger, Step
from wayfinder.adapters.normalise.text import masked, one_line
from wayfinder.adapters.normalise.tools import kind_of
from wayfinder.daemon.redact.hmacs import References
from wayfinder.reducer.vocabulary.codec import decode, encode
from wayfinder.reducer.vocabulary.observation import (
    AnyObservation,
    Called,
    Planned,
    PlanState,
    Prompted,
    SettleReason,
)
from wayfinder.reducer.vocabulary.terms import EpisodeKind as K
from wayfinder.reducer.vocabulary.terms import FactKind, FactResult, Outcome

PASS, FAIL = FactResult.PASS, FactResult.FAIL


def run(
    refs: References, command: str, text: str, outcome: Outcome = Outcome.OK, **more: Any
) -> Called:
    raw = RawCall("c", "bash", {"command": command}, text, 1, outcome, command=command, **more)
    return called(raw, Place("/home/dev/shop", refs))


def facts(call: Called) -> set[tuple[str, FactResult | None]]:
    return {(f"{fact.kind}:{fact.name}", fact.result) for fact in call.facts}


@pytest.mark.parametrize(
    ("line", "kind", "heads"),
    [
        ("cd x && python -m pytest tests/a.py -q 2>&1 | tail -5", K.TEST,
         ["pytest", "pytest tests/a.py"]),
        ("FOO=1 timeout 30 npx vitest run src/x.test.ts", K.TEST, ["vitest"]),
        ("npm run lint", K.BUILD, ["npm run lint"]),
        ("npm run test:unit -- --watch=false", K.TEST, ["npm run test:unit"]),
        ("bash -lc 'go vet ./...'", K.BUILD, ["go vet"]),
        ("uv run --with x ruff check .", K.RUN, None),
        ("git add . && git commit -m 'fix; test it'", K.RUN, ["git add", "git commit"]),
        ("git status", K.INSPECT, ["git status"]),
        ("grep -rn 'npm test' src | head", K.SEARCH, ["grep"]),
        ("cat > a.py <<'EOF'\nimport pytest; pytest.main()\nEOF", K.EDIT, ["cat"]),
        ("sed -i 's/a/b/' src/x.py", K.EDIT, ["sed"]),
        ("sed -n 1,5p src/x.py", K.INSPECT, ["sed"]),
        ("ls -la; cat README.md", K.INSPECT, ["ls", "cat", "cat README.md"]),
        ("strace -f ./server", K.INSTRUMENT, ["strace"]),
        ("make test", K.TEST, ["make test"]),
        ("for f in *.py; do ruff check $f; done", K.BUILD, ["ruff check"]),
        ("echo hello", K.INSPECT, []),
    ],
)  # fmt: skip
def test_a_command_line_is_called_after_the_strongest_thing_it_does(
    line: str, kind: K, heads: list[str] | None
) -> None:
    """Wrappers, pipes that only trim, quotes and here-documents do not hide it."""
    found = shell.understand(line)
    assert found.kind is kind
    if heads is not None:
        names = [name for name, _ in found.heads]
        assert names[: len(heads)] == heads or set(heads) <= set(names)


def test_the_same_run_has_the_same_name_whatever_is_shown_of_it() -> None:
    """Output trimming, `cd` and wrappers do not make another attempt; other arguments do."""
    names = {
        shell.understand(line).canonical
        for line in (
            "npm run check",
            "cd /x && npm run check 2>&1 | tail -20",
            "timeout 60 npm run check | grep error | head -5",
        )
    }
    assert names == {"npm run check"}
    assert shell.understand("npm run check --fix").canonical not in names


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_no_command_line_is_too_strange(line: str) -> None:
    found = shell.understand(line)
    assert len(found.heads) <= 2 * shell.SEGMENTS_MAX


def test_a_pipe_hides_the_exit_status_but_not_the_runners_word(refs: References) -> None:
    """`pytest | tail` exits with tail's status: only pytest's own summary says how it went."""
    silent = run(refs, "pytest | tail -5", "no summary here")
    assert ("command:pytest", None) in facts(silent) and silent.outcome is Outcome.OK
    summary = "FAILED t/a.py::test_x - assert 1\n==== 1 failed in 0.1s ===="
    failed = run(refs, "pytest | tail -5", summary)
    assert failed.outcome is Outcome.FAILED
    assert {
        ("command:pytest", FAIL),
        ("test:t/a.py::test_x", FAIL),
        ("test:test_x", FAIL),
    } <= facts(failed)
    shown = run(refs, "set -o pipefail; pytest | tail -5", "==== 3 passed in 0.1s ====")
    assert ("command:pytest", PASS) in facts(shown)


def test_showing_an_old_report_proves_nothing(refs: References) -> None:
    """Only a command that ran something is believed."""
    shown = run(refs, "cat old.log", "FAILED t/a.py::test_x\n==== 1 failed in 0.1s ====")
    assert shown.outcome is Outcome.OK
    assert not any(name.startswith("test:") for name, _ in facts(shown))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tests/a.py::test_one PASSED  [50%]\nE   AssertionError: no\n",
         {("test:tests/a.py::test_one", PASS), ("assertion:AssertionError: no", FAIL)}),
        ("  ✓ adds (3 ms)\n  ✕ removes (1 ms)\n", {("test:adds", PASS), ("test:removes", FAIL)}),
        ("--- FAIL: TestA (0.00s)\n--- PASS: TestB (0.00s)\n",
         {("test:TestA", FAIL), ("test:TestB", PASS)}),
        ("test net::folds ... ok\ntest net::seals ... FAILED\n",
         {("test:net::folds", PASS), ("test:net::seals", FAIL)}),
        ("src/a.ts(3,4): error TS2322: no\n",
         {("assertion:TS2322", FAIL), ("file:src/a.ts", FAIL)}),
        ("error[E0308]: mismatched types\n", {("assertion:E0308", FAIL)}),
        ("  12:3  error  'x' is unused  no-unused-vars\n", {("assertion:no-unused-vars", FAIL)}),
        ("./a.go:4:2: undefined: X\n", {("assertion:undefined: X", FAIL), ("file:./a.go", FAIL)}),
        ("app/x.py:3:1: F401 unused\n", {("assertion:F401", FAIL), ("file:app/x.py", FAIL)}),
        ("ok 1 - adds\nnot ok 2 - removes\n", {("test:adds", PASS), ("test:removes", FAIL)}),
        ("test_a (m.T) ... ok\ntest_b (m.T) ... FAIL\n",
         {("test:test_a", PASS), ("test:test_b", FAIL)}),
        ("took 3 ms span=session-middleware\n", {("trace:session-middleware", None)}),
    ],
)  # fmt: skip
def test_names_a_selector_may_match(text: str, expected: set[Any]) -> None:
    """Each runner's own lines give names and results; nothing else does."""
    found = {(f"{kind}:{name}", result) for kind, name, result in runners.read(text).names}
    assert expected <= found


def test_an_ordinary_text_has_no_names() -> None:
    assert runners.read("The test of time: error prone, PASS the salt.\nok then\n") == runners.EMPTY


def test_a_signature_survives_details_and_not_progress(refs: References) -> None:
    """Numbers, paths, ids and times do not make another trouble; another error does."""

    def digest(text: str) -> str:
        found = signatures.signature(text, K.TEST, Outcome.FAILED, refs)
        assert found is not None
        return found.digest

    one = digest("src/a.ts(3,4): error TS2322: Type 'x' is wrong\nTook 3.2s")
    same = digest("lib/deep/b.ts(99,1): error TS2322: Type 'x' is wrong\nTook 0.1s")
    assert one == same
    assert one != digest("src/a.ts(3,4): error TS2345: Type 'x' is wrong")


def test_what_is_not_recognised_is_not_stored(refs: References) -> None:
    """Output is data: a failure without an error line has a signature without its words."""
    found = signatures.signature("my private diary\nline two", K.RUN, Outcome.FAILED, refs)
    assert found is not None and found.sample == signatures.NO_LINE


def test_only_trouble_of_the_work_has_a_signature(refs: References) -> None:
    for outcome in set(Outcome) - signatures.TROUBLES:
        assert signatures.signature("error: x", K.RUN, outcome, refs) is None


def test_different_words_same_trouble_is_known_by_its_command(refs: References) -> None:
    """One build failing in ever new words keeps one command reference."""
    calls = [
        run(
            refs, f"cd /x && npm run build 2>&1 | tail -{n}", f"error: {word} broke", Outcome.FAILED
        )
        for n, word in enumerate(("alpha", "beta", "gamma"), start=1)
    ]
    assert len({call.signature.digest for call in calls if call.signature}) == 3
    assert len({call.command_ref for call in calls}) == 1


def test_a_search_that_finds_nothing_is_no_trouble(refs: References) -> None:
    """grep says so with its exit status."""
    call = run(refs, "grep -r nothing src", "(no output)", Outcome.FAILED)
    assert call.outcome is Outcome.FAILED and call.signature is None


def test_the_output_of_what_prints_secrets_is_not_looked_at(refs: References) -> None:
    """Exit status and size are all that may be known of it."""
    call = run(refs, "printenv | sort; false", "error: DB=hunter2", Outcome.FAILED)
    assert call.signature is not None and "hunter2" not in call.signature.sample


def test_a_refusal_is_one_gate_whatever_was_refused(refs: References) -> None:
    text = "Review mode is active: edits wait.\nTried: {}"
    refused = [
        run(refs, command, text.format(command), Outcome.BLOCKED_BY_POLICY).refusal
        for command in ("rm x", "touch y")
    ]
    assert len({refusal.digest for refusal in refused if refusal}) == 1


@pytest.mark.parametrize(
    ("tool", "kind"),
    [
        ("Read", K.INSPECT), ("mcp__tools__AskQuestions", K.ASK), ("mcp__x__Agents", K.DELEGATE),
        ("TodoWrite", K.PLAN), ("set_phase", K.PLAN), ("str_replace_editor", K.EDIT),
        ("github_search_issues", K.SEARCH), ("jira_create_ticket", K.EDIT), ("zzz", K.OTHER),
        ("browser_take_screenshot", K.INSPECT), ("run_tests", K.TEST),
    ],
)  # fmt: skip
def test_a_tool_is_placed_by_its_name(tool: str, kind: K) -> None:
    assert kind_of(tool) is kind


def test_sentences_count_only_near_the_start() -> None:
    """A file that quotes a refusal far down is none."""
    assert said("Request interrupted by user") is Outcome.ABORTED
    assert said("x" * 700 + " Request interrupted by user") is None
    assert settled_by("529 overloaded") is SettleReason.OUTAGE


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/dev/shop/src/a.py", "src/a.py"), ("src/../src/a.py", "src/a.py"),
        ("/home/someone/secret/plans.txt", "plans.txt"), ("~/.ssh/config", "config"),
        ("C:\\Users\\me\\a.gd", "a.gd"), ("../other/b.py", "b.py"), (".", ""),
    ],
)  # fmt: skip
def test_paths_outside_the_project_keep_only_their_name(path: str, shown: str) -> None:
    assert relative(path, "/home/dev/shop") == shown


# --- plans ------------------------------------------------------------------------------------


def steps(*texts: str, done: int = 0) -> list[Step]:
    return [
        Step(text, PlanState.DONE if n < done else PlanState.PENDING)
        for n, text in enumerate(texts)
    ]


def test_ids_survive_rewording_reordering_and_dropping() -> None:
    """Equal words, then likeness, then place between known neighbours; dropped steps stay."""
    ledger = PlanLedger()
    first = ledger.whole(steps("read the parser", "mend the lexer", "ship it"))
    assert [item.item_id for item in first] == ["s1", "s2", "s3"]
    second = ledger.whole(steps("mend the lexer (tokens)", "read the parser", "release"))
    assert [item.item_id for item in second] == ["s2", "s1", "s3"]
    third = ledger.whole(steps("read the parser", "write docs"))
    by_id = {item.item_id: item for item in third}
    assert by_id["s1"].state is PlanState.PENDING
    assert by_id["s4"].text == "write docs"
    assert {i for i, item in by_id.items() if item.state is PlanState.DROPPED} == {"s2", "s3"}


def test_a_new_plan_after_a_finished_one_starts_afresh() -> None:
    ledger = PlanLedger()
    ledger.whole(steps("a b c", "d e f", done=2))
    assert [i.item_id for i in ledger.whole(steps("something else entirely"))] == ["s3"]


def test_the_last_plan_is_all_the_ledger_needs() -> None:
    """After a restart the ids go on."""
    ledger = PlanLedger()
    items = ledger.whole(steps("read the parser", "mend the lexer"))
    again = PlanLedger(Planned(1, 0, "c", items))
    assert [i.item_id for i in again.whole(steps("mend the lexer", "new thing"))][:2] == [
        "s2",
        "s3",
    ]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(st.text(max_size=12), max_size=8), max_size=6))
def test_ids_are_never_given_twice(plans: list[list[str]]) -> None:
    """In one plan each id once; an id never moves back to a fresh step."""
    ledger = PlanLedger()
    for texts in plans:
        ids = [item.item_id for item in ledger.whole(steps(*texts))]
        assert len(ids) == len(set(ids)) <= 128


# --- the last gate ----------------------------------------------------------------------------


class Masking:
    """Masks one word, and remembers what it was asked at which level."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def redact_many(self, texts: Sequence[str], level: int) -> list[str]:
        self.asked += [(text, level) for text in texts]
        return [text.replace("hunter2", "[redacted:exact]") for text in texts]


def test_every_string_passes_the_redactor_before_it_is_cut(refs: References) -> None:
    """Names at level 1, free text at level 2; a secret at the cut edge is masked whole."""
    prompt = Prompted(0, 1, line="x" * 195 + " hunter2 and more")
    call = run(refs, "pytest hunter2/t.py", "E   AssertionError: hunter2\n", Outcome.FAILED)
    masking = Masking()
    done = Cleaner(masking).clean([prompt, call], 5)
    assert [seen.position for seen in done] == [5, 6]
    assert b"hunter2" not in b"".join(map(encode, done))
    levels = dict(masking.asked)
    assert levels[prompt.line] == 2
    assert levels["pytest hunter2/t.py"] == 1


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=500), st.text(max_size=300), st.sampled_from(Outcome))
def test_whatever_a_tool_prints_makes_a_valid_observation(
    refs: References, cleaner: Cleaner, text: str, tool: str, outcome: Outcome
) -> None:
    """Bounds, patterns and control characters hold for any text and any name."""
    raw = RawCall("c", tool, {"path": text, "pattern": text}, text, 1, outcome, command=text)
    (seen,) = cleaner.clean([called(raw, Place(text, refs))], 1)
    assert decode(encode(seen), AnyObservation) == seen


def test_the_first_facts_are_those_that_failed(refs: References) -> None:
    """A bound must not lose them."""
    text = (
        "".join(f"--- PASS: TestP{n} (0.00s)\n" for n in range(100)) + "--- FAIL: TestF (0.00s)\n"
    )
    call = run(refs, "go test ./...", text, Outcome.FAILED)
    assert len(call.facts) == 64
    assert any(f.kind is FactKind.TEST and f.name == "TestF" for f in call.facts)


def test_masks_are_stable() -> None:
    """Masking twice changes nothing, and codes of compilers stay."""
    for line in ("a/b/c.py:3: E0308 at 0x7f", "id 3f2a9c11-0000-4000-8000-000000000001 in 3.5s"):
        assert masked(masked(line)) == masked(line)
    assert masked("error TS2322 at line 7") == "error TS2322 at line #"
    assert one_line("a\x1b[31m red\x1b[0m\x07\nb") == "a red b"
