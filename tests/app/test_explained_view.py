"""What changed on the Compare page: rows for the browser, and what a pick in them shows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from fusescope.analysis.report.explanation.rows import ChangeRow, ExplainedRows, KernelRow, Way
from fusescope.analysis.timeline.highlight import Highlight
from fusescope.app.parts.explanation import changes
from tests.app.pages import is_clean
from tests.module_traces import kineto_json, model

Start = Callable[..., AppTest]


def drawn(page: AppTest, name: str) -> list[dict[str, Any]]:
    """What components of this name draw."""
    return [
        json.loads(component.proto.json)
        for component in page.get("bidi_component")
        if component.proto.component_name == name
    ]


@pytest.fixture
def compared(tree: Path, start: Start) -> AppTest:
    """Two layers, in each a product of 25 us that takes 700."""
    for name, wide_us in (("a.json", 25), ("b.json", 700)):
        given = kineto_json(model(layers=2, narrow_us=600, wide_us=wide_us))
        (tree / "open" / name).write_bytes(given)
    return start(baseline="file:a.json", candidate="file:b.json")


def test_changes_are_rows_with_kernels_and_ways(compared: AppTest) -> None:
    assert is_clean(compared)
    [data] = drawn(compared, "fusescope_changes")
    first = data["rows"][0]
    assert first["kind"] == "slower"
    assert "+1.35 ms" in "".join(text for _, text in first["parts"])
    assert first["kernels"][0]["cells"] == [
        ["50 µs", "2 × 25.0 µs"],
        ["1\u202f400 µs", "2 × 700 µs"],
        ["+1.35 ms", ""],
    ]
    assert first["ways"][0] == "Show the median place in the timelines"


def test_timelines_follow_the_changes_and_no_groups_repeat_them(compared: AppTest) -> None:
    heads = [head.value for head in compared.subheader]
    assert heads[0] == "Timelines"
    assert not any("by pattern" in head for head in heads)


def test_a_pick_is_shown_in_the_timelines_or_in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []
    table = changes.state.table
    monkeypatch.setattr(table, "highlight", lambda of, place: shown.append((of, place)))
    monkeypatch.setattr(table, "select_row", lambda of, row: shown.append((of, row)))
    monkeypatch.setattr(table, "pick_beside", lambda: None)
    monkeypatch.setattr(changes.state.folds, "open_fold", shown.append)
    place = Highlight(((1, 2), None), (7,))
    kernels = (KernelRow("k", "", "", "", "", "", 7), KernelRow("l", "", "", "", "", "", None))
    row = ChangeRow((), "", "same", 0, 0, (), "", kernels, (Way("", place),))
    rows = ExplainedRows((), (), (), (row,), "", "")
    picks: tuple[object, ...] = (
        {"change": 0, "way": 0}, {"change": 0, "kernel": 0}, {"change": 0, "kernel": 1},
        {"change": 1, "way": 0}, {"change": True, "way": 0}, {"change": 0, "way": -1}, {}, None, 1,
    )  # fmt: skip
    for picked in picks:
        changes.pick(rows, "pair", picked)
    assert shown == [("pair", place), ("pair", 7), "operators"]


def test_a_picked_group_opens_below(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []
    state = changes.state
    monkeypatch.setattr(state.groups, "select_group", lambda of, group: shown.append((of, group)))
    monkeypatch.setattr(state.folds, "open_fold", shown.append)
    row = ChangeRow((), "", "same", 0, 0, (), "", (KernelRow("g", "", "", "", "", "", 4),), ())
    rows = ExplainedRows((), (row,), (), (), "", "")
    for picked in ({"change": 0}, {"change": 0, "kernel": 1}, None, {"change": 0, "kernel": 0}):
        changes.pick_group(rows, "pair", picked)
    assert shown == [("pair", 4), "groups"]
