"""Parts of the page Compare behind titles: computed where they are open, and led to by links."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from fusescope.app.parts.comparison import times
from fusescope.app.sources import comparisons
from tests.app.conftest import PARTS
from tests.app.pages import address, headline, is_clean, turn_to

Start = Callable[..., AppTest]
ALL = {*PARTS, "groups", "several"}


def opened(page: AppTest) -> set[str]:
    """Return the parts that are open, as the address has them."""
    return {name for name, value in address(page).items() if name in ALL and value == "true"}


def test_folded_parts_compute_nothing(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("computed")

    for name in ("findings", "missed_fusions"):
        monkeypatch.setattr(comparisons.Shown, name, property(never))
    monkeypatch.setattr(times, "show", never)
    page = start(folded=True)
    assert is_clean(page) and not page.error
    titles = [one.label for one in page.expander]
    assert titles[0] == "Operators, modules and shapes of both sides"
    assert titles[1] == "What fusion bought, group by group"
    assert len(titles) == len(ALL)
    assert not page.metric and not page.dataframe and not page.get("plotly_chart")
    # What stands in a part that a link opens is computed, and nothing else.
    page = start(folded=True, figures="true")
    assert is_clean(page) and page.metric and not page.dataframe


def test_former_pages_lead_to_their_part(start: Start) -> None:
    page = turn_to(start(folded=True), "fusion")
    assert is_clean(page) and headline(page) == "fused is 2.00× faster than unfused"
    assert opened(page) == {"groups"}
    assert page.dataframe[0].key == "ledger_table"
    page = turn_to(start(folded=True), "variants")
    assert is_clean(page) and opened(page) == {"several"}
    assert list(page.dataframe[0].value["Variant"]) == ["unfused", "fused"]


def test_no_more_numbers_and_captions_than_can_be_read_before_the_first_part(start: Start) -> None:
    page = start(folded=True)
    words = [page.header[0].value, *(one.value for one in (*page.markdown, *page.text))]
    assert len(page.caption) <= 10
    numbers = sum(word[0].isdigit() for text in words for word in text.split() if word)
    assert numbers <= 40
