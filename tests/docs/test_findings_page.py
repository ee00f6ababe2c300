"""docs/findings.md has every kind of finding, by the name that the pages give it, and its case."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fusescope.analysis.messages import language
from fusescope.analysis.wording.findings.texts import TEXTS

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "findings.md"
_LINK = re.compile(r"\[(?P<label>[^\]]+)\]\(cases\.md#(?P<case>[a-z-]+)\)")


def test_every_kind_has_a_row() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if "|" in line]
    rows = {row[0].strip("`"): row for row in cells if row[0].startswith("`")}
    links = {code: _LINK.fullmatch(row[1]) for code, row in rows.items()}
    assert [code for code, link in links.items() if link is None] == []
    assert {code: link["label"] for code, link in links.items() if link} == {
        code: text.label.text() for code, text in TEXTS.items()
    }
    cases = re.findall(r"^## (.+)$", (DOCS / "cases.md").read_text(encoding="utf-8"), re.MULTILINE)
    known = {re.sub(r"[^a-z -]", "", title.lower()).replace(" ", "-") for title in cases}
    assert {link["case"] for link in links.values() if link} <= known
    assert all(row[2] and row[3] for row in rows.values())


@pytest.mark.usefixtures("translations")
def test_the_chinese_page_names_them_as_the_catalogue_does() -> None:
    page = (DOCS / "zh" / "findings.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| `(\w+)` \| \[?([^\]|]+?)(?:\]\([^)]*\))? \|", page, re.MULTILINE)
    with language.speaking("zh"):
        assert dict(cells) == {code: text.label.text() for code, text in TEXTS.items()}
