"""Operators in no group on the Fusion page: the sample's fused side has one, ReorderOutput."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.readers import read_path
from fusescope.app.parts.fusion import ungrouped
from tests.app.pages import is_clean, markdown_texts, texts
from tests.patience import GIVE_UP_S

SAMPLE = Path(__file__).resolve().parents[2] / "sample_traces" / "mobilenetv2.zip"


@cache
def sample() -> Comparison:
    return compare(*choose_sides(read_path(SAMPLE)))


def row_of(name: str) -> int:
    operators = sample().operators
    return int(operators.loc[operators["name"] == name, "row"].iloc[0])


def test_they_are_found_by_name_and_type_and_by_their_row() -> None:
    found = ungrouped.matching(sample(), " reorder ")
    assert found[["side", "name", "reason"]].to_numpy().tolist() == [
        ["candidate", "ReorderOutput", "inserted"]
    ]
    assert ungrouped.matching(sample(), "").empty
    assert ungrouped.matching(sample(), "head/Gemm").empty  # it is in a group
    assert list(ungrouped.of_row(sample(), row_of("ReorderOutput"))["name"]) == ["ReorderOutput"]
    assert ungrouped.of_row(sample(), row_of("head/Gemm")).empty


def test_the_page_shows_what_is_found_and_what_is_picked(
    tree: Path, start: Callable[..., AppTest]
) -> None:
    shutil.copy(SAMPLE, tree / "samples" / "mobilenetv2.zip")
    page = start(folded=True, groups="true")
    page = page.text_input(key="group_search").input("ReorderOutput").run()
    assert is_clean(page)
    assert "**1 operator in no group**" in list(markdown_texts(page))
    assert "No group matches." not in [caption.value for caption in page.caption]
    [table] = [frame.value for frame in page.dataframe if "reason" in frame.value.columns]
    assert table[["name", "reason", "time"]].to_numpy().tolist() == [
        ["ReorderOutput", "inserted between groups", "10.9 µs"]
    ]
    # What a click in the timelines leaves behind.
    kept = page.session_state["fusescope"]
    kept.picked_row = (kept.picked_row[0], row_of("ReorderOutput"))
    page = page.text_input(key="group_search").input("").run()
    assert is_clean(page)
    told = " ".join([*markdown_texts(page), *texts(page)]).replace("\\", "")
    assert "is in no group: inserted between groups. It takes" in told and "10.9 µs" in told
    assert "Choose a group in the table" not in " ".join(one.value for one in page.caption)


def _draw_found(*runs: bool) -> None:
    import pandas as pd

    from fusescope.analysis.wording.counted import Runs
    from fusescope.app.parts.fusion.ungrouped import show_found

    row = {"side": "candidate", "name": "x", "op_type": "Cast", "reason": "inserted"}
    show_found(pd.DataFrame([row | {"per_run_ns": 5000.0}]), Runs(runs[0], runs[1]))


@pytest.mark.parametrize(
    ("runs", "head"),
    [
        ((True, True), "Time per run"),
        ((False, False), "Time per file"),
        ((True, False), "Time"),
    ],
)
def test_times_of_files_without_runs_are_not_called_per_run(
    runs: tuple[bool, bool], head: str
) -> None:
    page = AppTest.from_function(_draw_found, args=runs, default_timeout=GIVE_UP_S).run()
    [table] = page.dataframe
    assert json.loads(table.proto.columns)["time"]["label"] == head
