"""Pages that name a button or a section of the dashboard name it as the dashboard does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.catalogue import LANGUAGES, extracted, read
from tests.docs.test_translations import PAGES

ROOT = Path(__file__).resolve().parents[2]
# What stands between single asterisks that begins with a capital is a label on the page.
LABEL = re.compile(r"(?<!\*)\*([A-Z][^*\n]+)\*(?!\*)")


@pytest.fixture(scope="module")
def chinese() -> dict[str, str]:
    """The Chinese of every text of one form."""
    told = [(m.id, m.string) for m in read(LANGUAGES / "zh.po") if isinstance(m.id, str)]
    return {english.lower(): str(text) for english, text in told}


@pytest.fixture(scope="module")
def texts() -> set[str]:
    ids = (message.id for message in extracted())
    return {text.lower() for one in ids for text in ((one,) if isinstance(one, str) else one)}


@pytest.mark.parametrize("page", ["dashboard.md", "report.md"])
def test_labels_are_those_of_the_catalogue(page: str, texts: set[str]) -> None:
    found = LABEL.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))
    labels = [label for label in found if not label.isupper()]  # CSV is CSV everywhere
    assert labels
    assert [label for label in labels if label.lower() not in texts] == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/")])
def test_chinese_pages_name_them_as_the_chinese_dashboard_does(
    page: str, chinese: dict[str, str]
) -> None:
    labels = LABEL.findall((ROOT / page).read_text(encoding="utf-8"))
    names = {chinese[label.lower()] for label in labels if label.lower() in chinese}
    text = re.sub(
        "[‘’]", lambda mark: "“”"["‘’".index(mark[0])], (ROOT / PAGES[page]).read_text("utf-8")
    )
    assert [name for name in names if name not in text] == []
