"""docs/findings.md has every kind of finding, by the name that the pages give it."""

from __future__ import annotations

from pathlib import Path

from analysis.wording.findings.texts import TEXTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "findings.md"


def test_every_kind_has_a_row() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
    rows = {row[0].strip("`"): row for row in cells if row[0].startswith("`")}
    assert {code: row[1] for code, row in rows.items()} == {
        code: text.label.text() for code, text in TEXTS.items()
    }
    assert all(row[2] and row[3] for row in rows.values())
