"""What is taken away of several sides: the report, Markdown and CSV, and the picture in it."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
from dataclasses import replace

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.compare.multiple.choice import several_sides
from fusescope.analysis.compare.multiple.comparison import MultipleComparison, compare_several
from fusescope.analysis.compare.multiple.pareto import pareto
from fusescope.analysis.report.exports.parquet import parquet
from fusescope.analysis.report.exports.perfetto import several_perfetto_json
from fusescope.analysis.report.html import report_html
from fusescope.analysis.report.multiple.csv import multiple_csv
from fusescope.analysis.report.multiple.html import multiple_html
from fusescope.analysis.report.multiple.markdown import MAX_LINES, multiple_markdown
from fusescope.analysis.report.multiple.parquet import multiple_parquet
from fusescope.analysis.report.pictures import pareto as drawn
from fusescope.analysis.report.pictures.pareto import Mark, pareto_picture, place_names
from tests.compare.multiple.test_several_sides import STEADY, with_costs
from tests.compare.test_comparison import experiment_of, trace_of
from tests.factories import UNFUSED_OPERATORS, experiment_zip, profile_json
from tests.report.test_html import Page, of_experiment

HOSTILE = "<img src=x onerror=alert(1)> ](http://a) =1+1"
COSTS = {"unfused": (0.0, 10_000_000), "fused": (1e-6, 8_000_000), HOSTILE: (0.01, 20_000_000)}
TIMES = {"unfused": [10.0] * 8, "fused": [5.0] * 8, HOSTILE: [4.0] * 8}


@pytest.fixture(scope="module")
def three() -> MultipleComparison:
    """unfused, fused of half its time with fewer bytes, and the fastest with the largest costs."""
    data = experiment_zip(TIMES, control=STEADY, model_name=HOSTILE)
    return compare_several(several_sides([with_costs(experiment_of(data), COSTS)]))


def marks(multiple: MultipleComparison) -> list[list[Mark]]:
    found = pareto(multiple)
    assert found is not None
    return [list(panel.marks) for panel in pareto_picture(multiple, found).panels]


def test_marks_stand_at_latency_and_cost_and_are_filled_on_the_front(
    three: MultipleComparison,
) -> None:
    difference, memory = marks(three)
    plot = drawn.WIDTH - drawn.LEFT - drawn.RIGHT  # 664 units are 10 ms × 1.08
    assert [mark.x for mark in memory] == pytest.approx(
        [drawn.LEFT + plot * ms / 10.8 for ms in (10, 5, 4)], abs=0.06
    )
    assert [mark.is_front for mark in memory] == [False, True, True]
    assert [mark.role for mark in memory] == ["baseline", "candidate", "candidate"]
    # 20 MB × 1.08 are 200 units
    bottom = drawn.TOP + 2 * drawn.PLOT_HEIGHT + drawn.BETWEEN
    assert [bottom - mark.y for mark in memory] == pytest.approx(
        [200 * mb / 21.6 for mb in (10, 8, 20)], abs=0.06
    )
    assert memory[1].title == "fused: 5.00 ms, peak memory 8.00 MB"
    # 0 stands at 1e-8; from there to 0.01 are six decades, and 1e-6 is a third of the way.
    up = [mark.y for mark in difference]
    assert (up[0] - up[1]) / (up[0] - up[2]) == pytest.approx(1 / 3, abs=0.002)


spots = st.tuples(
    st.floats(drawn.LEFT, drawn.WIDTH - drawn.RIGHT), st.floats(drawn.TOP, drawn.TOP + 200)
)
words = st.text("mW中·", min_size=1, max_size=13)


@given(st.lists(st.tuples(words, spots), min_size=1, max_size=8), st.booleans())
def test_names_cover_neither_each_other_nor_a_mark(
    sides: list[tuple[str, tuple[float, float]]], is_one_spot: bool
) -> None:
    texts = [text for text, _ in sides]
    places = [sides[0][1] if is_one_spot else spot for _, spot in sides]
    names = place_names(texts, places, drawn.TOP, drawn.TOP + 200)
    assert [name.text for name in names] == texts
    boxes = [name.box for name in names]
    taken = boxes + [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    for at, (left, top, right, bottom) in enumerate(boxes):
        assert drawn.LEFT <= left and right <= drawn.WIDTH - drawn.RIGHT + 0.01
        assert drawn.TOP <= top and bottom <= drawn.TOP + 200
        for other in taken[:at] + taken[at + 1 :]:
            assert not (
                left < other[2] and other[0] < right and top < other[3] and other[1] < bottom
            )


def test_the_report_is_whole_and_names_are_text(three: MultipleComparison) -> None:
    text = multiple_html(three)
    assert text == multiple_html(three)
    page = Page(text)
    assert not page.of("img") and not [
        name for _, attributes in page.elements for name in attributes if name.startswith("on")
    ]
    ids = {attributes.get("id") for _, attributes in page.elements}
    links = {a["href"] for a in page.of("a") if a.get("href")}
    assert links and all(str(link)[1:] in ids for link in links)
    assert " is the fastest of the 3: every other one is slower than it beyond" in page.text
    assert "2.00×" in page.text and "beaten by fused" in page.text
    assert "Pareto front of latency, output difference and peak memory: fused, <img" in page.text
    run = [script for attributes, script in page.scripts if attributes.get("type") is None]
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in run]
    policy = str(page.of("meta")[1]["content"])
    assert re.findall(r"'sha256-([^']+)'", policy) == hashes
    payload = next(script for attributes, script in page.scripts if attributes.get("type"))
    assert payload.count('"label":') >= 3 and "<img" not in payload
    # In the report of a pair the picture stands with all recorded variants.
    pair = of_experiment({**TIMES, "fused": [5.0] * 8})
    assert report_html(pair).count('class="pareto"') == 1


def test_profiles_have_no_picture_and_one_line_a_file() -> None:
    files = [
        trace_of(profile_json(UNFUSED_OPERATORS, runs=8, gap_us=gap_us), f"{gap_us}.json")
        for gap_us in (20, 2, 18)
    ]
    multiple = compare_several(several_sides(files))
    page = Page(multiple_html(multiple))
    assert (
        "Pareto" not in page.text
        and "18.json: recorded apart from 20.json" in page.text.replace("2.json, ", "")
    )
    assert page.text.count("SHA-256") == 3 and "20.json20.json" not in page.text
    told = multiple_markdown(multiple)
    assert told.count("<sub>") == 3 and "recorded apart from 20.json" in told


def test_markdown_is_short_and_interprets_no_name(three: MultipleComparison) -> None:
    told = multiple_markdown(three)
    assert len(told.splitlines()) < MAX_LINES
    assert re.findall(r"(?<!\\)(?:<img|\])", told) == [] and "\\<img" in told
    rows = [line for line in told.splitlines() if line.startswith("| ")]
    assert len(rows) == 5  # heads, three sides, basis
    assert rows[1].startswith("| unfused | – |  | baseline | 10.0 ms | 100 /s |")
    assert rows[-1].startswith("| basis |  |  |  | measured | measured | measured |")


def test_csv_has_a_line_a_side_and_explains_its_columns(three: MultipleComparison) -> None:
    tables = {
        name: list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
        for name, data in multiple_csv(three).items()
    }
    rows = {row["variant"]: row for row in tables["variants.csv"]}
    fused = rows["fused"]
    assert float(fused["latency"]) == pytest.approx(5e6) and float(fused["memory"]) == 8e6
    assert (fused["outcome"], fused["may_be_fastest"], fused["on_pareto_front"]) == (
        "faster", "False", "True"
    )  # fmt: skip
    assert rows["unfused"]["dominated_by"] == "fused" and rows["unfused"]["speedup"] == ""
    assert float(fused["speedup_low"]) <= float(fused["speedup"]) == pytest.approx(2.0)
    units = {row["column"]: (row["unit"], row["basis"]) for row in tables["figures.csv"]}
    assert units["latency"] == ("ns", "measured") and units["short_op_time"] == (
        "fraction", "measured"
    )  # fmt: skip
    assert set(units) <= set(fused)


def test_parquet_has_every_call_with_its_side(three: MultipleComparison) -> None:
    tables = {
        name.removesuffix(".parquet"): pq.read_table(io.BytesIO(data))
        for name, data in multiple_parquet(three).items()
    }
    rows = tables["variants"].to_pylist()
    assert [row["name"] for row in rows][:1] == ["unfused"] and len(rows) == 3
    calls = tables["calls"].to_pandas()
    for side in three.sides:
        of = calls[calls["side_name"] == side.name]
        assert list(of["dur_ns"]) == list(side.trace.calls["dur_ns"])
    types = {field.name: str(field.type) for field in tables["calls"].schema}
    assert (types["side_name"], types["dur_ns"], types["op_class"]) == ("string", "int64", "string")
    candidates = set(tables["operators"]["side_name"].to_pylist())
    assert candidates == {side.name for side in three.sides[1:]}
    own = three.comparisons[0].operators["delta_ns"].sum()
    told = tables["operators"].to_pandas()
    assert told[told["side_name"] == three.sides[1].name]["delta_ns"].sum() == pytest.approx(own)


def test_columns_that_one_side_alone_has_are_null_on_the_others() -> None:
    first = pd.DataFrame({"n": pd.array([1, 2], "Int64"), "x_ns": [None, None], "s": ["a", "b"]})
    second = pd.DataFrame({"x_ns": ["late", None], "f": [0.5, 1.5], "e": [None, None]})
    found = pq.read_table(io.BytesIO(parquet(first, second))).to_pydict()
    assert found == {
        "n": [1, 2, None, None],
        "s": ["a", "b", None, None],
        "x_ns": [None, None, "late", None],
        "f": [None, None, 0.5, 1.5],
        "e": [None] * 4,
    }


def test_perfetto_has_a_process_a_side_all_from_the_start(three: MultipleComparison) -> None:
    events = json.loads(several_perfetto_json(three))["traceEvents"]
    names = [one["args"]["name"] for one in events if one["name"] == "process_name"]
    assert names == [three.sides[at].name for at in three.order]
    for pid, at in enumerate(three.order, 1):
        calls = [one for one in events if one["ph"] == "X" and one["pid"] == pid]
        operators = three.sides[at].trace.operators
        assert {one["name"] for one in calls} == set(operators["name"])
        assert 0 <= min(one["ts"] for one in calls) < 1000


def test_figures_of_unlike_settings_are_not_in_one_table(three: MultipleComparison) -> None:
    """τ of a pair is 10 × the larger dispatch cost of its two sides."""
    assert "short_op_time" in three.columns
    first, second = three.comparisons
    other = replace(second, tau=replace(second.tau, value=20_000.0))
    assert "short_op_time" not in replace(three, comparisons=(first, other)).columns
