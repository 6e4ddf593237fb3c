"""The page people read names what the code knows."""

from __future__ import annotations

from pathlib import Path

from wayfinder.reducer.alignment.clauses import CLAUSES, SURE
from wayfinder.reducer.vocabulary.people import CorrectionType
from wayfinder.reducer.vocabulary.terms import FactKind

PAGE = (Path(__file__).parents[3] / "docs" / "alignment.md").read_text("utf-8")


def test_the_clauses_stand_in_order_with_their_status() -> None:
    """docs/alignment.md lists the six clauses as the table has them."""
    rows = [line for line in PAGE.splitlines() if line[2:3].isdigit() and line.startswith("| ")]
    assert [(int(row[2]), row.split("`")[-2]) for row in rows] == [
        (number, status.value) for number, status, _ in CLAUSES
    ]
    assert f"{SURE}" in PAGE


def test_every_kind_of_selector_is_shown() -> None:
    """One example each."""
    assert all(f"`{kind}:" in PAGE for kind in FactKind)


def test_the_corrections_a_person_types_are_explained() -> None:
    """All but those a page offers by a button."""
    by_button = {"undo", "accept", "reject", "reassociate", "supersede"}
    assert all(f"| {kind} |" in PAGE for kind in CorrectionType if kind not in by_button)
