"""Long tables: a browser gets a page, which turns to what is picked; a session keeps no more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from fusescope.app.parts import operators
from fusescope.app.parts.paging import pages
from tests.app.pages import is_clean
from tests.factories import UNFUSED_OPERATORS, profile_json
from tests.patience import GIVE_UP_S

Start = Callable[..., AppTest]


@pytest.fixture
def two_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "ROWS", 2)


def shown_names(page: AppTest) -> list[str]:
    """Names in the table of operators, which is the one with inputs."""
    for one in page.dataframe:
        frame = one.value
        heads = [name[-1] if isinstance(name, tuple) else name for name in frame.columns]
        if "Name" in heads and ("Type" in heads or "OP Type" in heads):
            return [str(name) for name in frame.iloc[:, heads.index("Name")]]
    raise AssertionError("no table of operators")


def turn(page: AppTest, key: str, number: int) -> AppTest:
    page.session_state[key] = number
    return page.run()


@pytest.mark.usefixtures("two_a_page")
def test_operators_of_a_comparison_come_in_pages(start: Start) -> None:
    page = start()
    assert is_clean(page)
    first = shown_names(page)
    captions = [one.value for one in page.caption]
    [told] = [text for text in captions if text.startswith("Rows 1 to 2 of ")]
    assert told.endswith("A click on a head sorts these alone.") and len(first) == 2
    page = turn(page, f"{operators.TABLE}_page", 2)
    second = shown_names(page)
    assert set(second).isdisjoint(first)
    assert len(page.session_state["fusescope"].shown_rows) == len(second) <= 2
    # What is searched for is found on every page, and a page that is gone is not shown.
    page = page.text_input(key="search").set_value(first[0]).run()
    assert is_clean(page) and first[0] in shown_names(page)


TRACE = """
import streamlit as st
from fusescope.app.views import trace

compare_page = st.Page(lambda: st.write("compare"), title="Compare", url_path="compare")
record_page = st.Page(lambda: st.write("record"), title="Record", url_path="record")
trace_page = st.Page(lambda: trace.show(compare_page, record_page), title="Trace", default=True)
st.navigation([trace_page, compare_page, record_page], position="top").run()
"""


@pytest.mark.usefixtures("two_a_page")
def test_operators_of_a_trace_come_in_pages(tree: Path) -> None:
    (tree / "open" / "one.json").write_bytes(profile_json(UNFUSED_OPERATORS, runs=3))
    page = AppTest.from_string(TRACE, default_timeout=GIVE_UP_S)
    page.query_params["trace"] = "file:one.json"
    page = page.run()
    assert is_clean(page)
    assert shown_names(page) == ["a/Conv", "head/Gemm"]  # 100 and 50 of 200 us
    page = turn(page, "trace_operators_page", 2)
    assert shown_names(page) == ["a/BatchNormalization", "a/Relu"]


def test_a_short_table_is_whole(start: Start) -> None:
    page = start()
    assert not any(one.value.startswith("Rows 1 to ") for one in page.caption)
