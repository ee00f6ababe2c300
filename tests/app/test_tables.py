"""Tables of the Compare page, and the pieces that keep text harmless."""

from __future__ import annotations

import csv
import io

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.io.formats.style import Styler

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.compare.totals import Total
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.app.parts import alone, ascend, panels, tables
from fusescope.app.parts.heads import NO_HEAD, Head
from fusescope.app.parts.table import (
    MAX_DRAWN,
    MIN_COLUMNS,
    NAME_CHARS,
    NAME_WIDTH,
    Table,
    text_of,
    width_of,
)
from fusescope.app.parts.tables import operator_table
from tests.compare.test_comparison import experiment_of
from tests.factories import experiment_zip
from tests.step_traces import Kernel, steps_of


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": ["=1+1", "b"],
            "op_type": ["Conv", None],
            "op_type_baseline": ["Conv", None],
            "op_type_candidate": ["Conv", None],
            "op_class": ["convolution", "unknown"],
            "per_run_ns_baseline": [2500.0, None],
            "per_run_ns_candidate": [1000.0, 500.0],
            "delta_ns": [-1500.0, 500.0],
            "side": ["both", "candidate"],
            "speedup": [2.5, None],
            "median_ns_baseline": [2500.0, None],
            "median_ns_candidate": [1000.0, 500.0],
            "wait_ns_baseline": [None, None],
            "wait_ns_candidate": [None, None],
            "utilisation_baseline": [None, None],
            "utilisation_candidate": [None, None],
            "share_baseline": [1.0, None],
            "share_candidate": [0.5, 0.25],
            "bytes_moved_baseline": [2000.0, None],
            "bytes_moved_candidate": [1000.0, 500.0],
            "start_baseline": [0.0, None],
            "start_candidate": [100.0, 1200.0],
            "inputs": ["float32[1]", None],
            "outputs": ["float32[1]", None],
            "provider": ["CPUExecutionProvider", None],
        }
    )


def test_a_count_of_less_than_one_run_is_not_none() -> None:
    text = text_of(tables.TYPE_FIGURES[0])
    assert text is not None and [text(0.5), text(3.0)] == ["0.5", "3"]


def test_a_column_is_as_wide_as_its_longest_text() -> None:
    """28 characters of 7 px, or 5 of 14, and the margins of a cell, 24 px."""
    names = ["fused", "without:ConvActivationFusion"]
    assert width_of(names, least=120, most=265) == 28 * 7 + 24
    assert width_of(["均值的运行"], least=60, most=265) == 5 * 14 + 24
    assert width_of(["fused"], least=120, most=265) == 120
    assert width_of(["x" * 200], least=120, most=265) == 265


def test_units_are_microseconds_and_percent() -> None:
    table = tables.operator_table(frame()).frame
    assert table[("Duration per run, µs", "baseline")][0] == 2.5
    assert list(table[("Duration per run, µs", "change")]) == [-1.5, 0.5]
    assert list(table[("Of time without communication, %", "candidate")]) == [50.0, 25.0]
    assert list(table[("Bytes moved, kB", "candidate")]) == [1.0, 0.5]
    assert table[("", "Core type")][0] == "CPU"


def test_a_row_of_two_devices_says_both() -> None:
    rows = pd.DataFrame(
        {
            "provider_baseline": ["NVIDIA H100", None, "CPUExecutionProvider", None, "CPU", None],
            "provider_candidate": ["MI300X", "MI300X", "CUDAExecutionProvider", "GPU", None, None],
            "side": ["both", "candidate", "both", "both", "both", "both"],
        }
    )
    shown = tables.core_types(tables.places_of_both(rows))
    assert list(shown)[:3] == ["NVIDIA H100 → MI300X", "MI300X", "CPU → CUDA"]
    # Where one side does not say it, the other one's is not that of both.
    assert list(shown)[3:5] == ["– → GPU", "CPU → –"] and pd.isna(shown[5])


def test_kernels_of_an_engine_stand_in_a_column_of_their_own() -> None:
    rows = frame().assign(kernel=["gemm_mlas_f32", None], provider=[None, None])
    told = {str(head): column for head, column in tables.operator_table(rows).columns.items()}
    assert told["('', 'Kernel')"].iloc[0] == "gemm_mlas_f32"
    assert "('', 'Core type')" not in told


def test_a_figure_that_no_row_has_is_left_out() -> None:
    columns = tables.operator_table(frame()).columns
    assert any(group.startswith("Duration") for group, _ in columns)
    assert not any(group.startswith("Utilisation") for group, _ in columns)


def counted() -> pd.DataFrame:
    return frame().assign(
        name=["mm", "add"],
        inputs=["float16[32,1,8,8,16]:NC1HWC0; float32[64]", "float16[4]"],
        outputs=["float16[]", None],
        provider=["AI_CORE", "AI_VECTOR_CORE"],
        count_baseline=[3.0, None],
        count_candidate=[3.0, 1.0],
        mean_ns_baseline=[833.0, None],
        mean_ns_candidate=[333.0, 500.0],
        cube_ratio_baseline=pd.array([0.5, None], dtype="Float64"),
        cube_ratio_candidate=pd.array([0.625, None], dtype="Float64"),
        memory_bound_baseline=pd.array([None, None], dtype="Float64"),
        memory_bound_candidate=pd.array([1.25, 12.5], dtype="Float64"),
        ub_read_bandwidth_baseline=pd.array([None, None], dtype="Float64"),
        ub_read_bandwidth_candidate=pd.array([None, None], dtype="Float64"),
    )


def test_the_ascend_view_has_the_columns_of_kernel_details_with_counters() -> None:
    whole = ascend.kernel_table(counted())
    times = [("Duration(us)", name) for name in ("baseline", "candidate", "change", "speedup")]
    assert list(whole.only([]).columns) == [("", "Name"), ("", "Type"), *times]
    assert list(whole.choices)[:2] == ["Accelerator Core", "Count"]
    table = whole.frame
    heads = list(table.columns)
    assert table[("Duration(us)", "baseline")][0] == 2.5
    assert list(table[("Count", "candidate")]) == [3.0, 1.0]
    assert table[("Cube ratio, %", "baseline")][0] == 50.0
    assert table[("Cube ratio, %", "candidate")][0] == 62.5
    assert pd.isna(table[("Cube ratio, %", "candidate")][1])
    assert list(table[("Memory bound", "candidate")]) == [1.25, 12.5]
    assert not any(group.startswith("UB read") for group, _ in heads)
    assert table[("", "Input Shapes")][0] == "32,1,8,8,16;64"
    assert table[("", "Input Data Types")][0] == "float16;float32"
    assert table[("", "Input Formats")][0] == "NC1HWC0;ND"
    assert pd.isna(table[("", "Input Formats")][1])
    assert table[("", "Output Shapes")][0] == "" and pd.isna(table[("", "Output Shapes")][1])


def test_counters_stand_in_the_other_view_too() -> None:
    table = tables.operator_table(counted()).frame
    assert table[("Cube ratio, %", "candidate")][0] == 62.5


def test_without_counters_the_ascend_view_keeps_its_other_columns() -> None:
    heads = [label for _, label in ascend.kernel_table(frame().assign(**SINGLE)).columns]
    assert "Accelerator Core" in heads and "Input Shapes" in heads


def test_times_of_the_ascend_view_are_in_microseconds() -> None:
    rows = counted()
    rows["name"] = ["aclnnForeachAddListV2_ForeachAddListAiCore_ForeachAddList", "new"]
    heads, read = read_cells(ascend.kernel_table(rows).drawn)
    assert "…" in read[0][0] and read[0][0].startswith("aclnn") and read[0][0].endswith("AddList")
    at = heads.index(("Duration(us)", "baseline"))
    assert read[0][at] == "2.50" and read[1][at] == ""


def test_times_of_a_column_share_the_unit_that_its_head_names() -> None:
    """1.2345 ms and 0.3 ms."""
    table = Table()
    times = pd.Series([1234.5, None, 300.0])
    table.number(NO_HEAD, Head("Time spent", "µs"), times, "Help.", "%.1f")
    heads, read = read_cells(table.drawn)
    assert heads == ["Time spent, ms"] == [table.settings[1]["label"]]
    assert read == [["1.23"], [""], ["0.30"]]
    assert table.csv.decode("utf-8-sig").split("\n")[0].startswith('"Time spent, µs"')


def test_what_runs_in_some_steps_is_not_read_as_never() -> None:
    rows = counted()
    rows["count_baseline"] = [0.5, 1234.0]
    heads, read = read_cells(ascend.kernel_table(rows).drawn)
    at = heads.index(("Count", "baseline"))
    assert [row[at] for row in read] == ["0.5", "1\u202f234"]


def read_cells(drawn: object) -> tuple[list[object], list[list[str]]]:
    """The heads, and the cells as they are read."""
    assert isinstance(drawn, Styler)
    drawn._compute()
    body = drawn._translate(False, False)["body"]
    cells = [[str(cell["display_value"]) for cell in row if cell["type"] == "td"] for row in body]
    return list(drawn.data.columns), cells


SINGLE = {
    f"{name}_{side}": [1.0, None]
    for name in ("count", "mean_ns")
    for side in ("baseline", "candidate")
}


def test_each_column_has_its_settings_where_streamlit_counts_them() -> None:
    table = tables.operator_table(frame())
    assert table.columns
    for number, (_, label) in enumerate(table.columns, start=1):
        assert table.settings[number]["label"] == label
        assert table.settings[number]["help"]


def test_a_figure_stands_beside_the_name_where_the_page_is_narrow() -> None:
    """At 420 px a table has 388, of which a box to pick takes 38 and a time 110. The file that is
    taken away keeps its order."""
    made = tables.operator_table(frame())
    heads = list(made.arranged.frame.columns)
    assert [head[1] for head in heads[:2]] == ["Name", "baseline"]
    assert heads.index(("", "Type")) == 5, "behind both times, the change and the speedup"
    assert NAME_WIDTH <= 388 - 38 - 110
    assert list(made.frame.columns)[1][1] == "Type"


def test_the_duration_of_one_trace_is_seen_whole_where_the_page_is_narrow() -> None:
    """Of 388 px a box to pick takes 38, and the duration with its head 130."""
    trace = steps_of([[Kernel("gemm", 10)]])
    made = alone.operator_table(by_operator(trace), trace).arranged
    name, duration = list(made.frame.columns)[:2]
    assert (name, duration) == ("Name", "Duration per step, µs")
    assert made.configs[0]["width"] <= 388 - 38 - 130


def test_csv_has_one_line_of_heads_and_no_formula() -> None:
    text = tables.operator_table(frame()).csv.decode("utf-8-sig")
    head, first, second = csv.reader(io.StringIO(text))
    assert head[0] == "Name"
    assert "Duration per run, µs change" in head
    assert first[0] == "'=1+1"
    assert first[head.index("Duration per run, µs change")] == "-1.5"
    assert second[1] == ""


@pytest.mark.parametrize("text", ["fused", "OR tools 2", "a-b", "compiled_freezing", "x"])
def test_plain_names_stand_as_they_are(text: str) -> None:
    assert panels.name(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "a.json",
        "www.x.com",
        "_a_",
        "a__b",
        "a--b",
        "-> b",
        ":red[x]",
        "<b>",
        "a  b",
        "a@b.c",
        "1. x",
    ],
)
def test_other_names_become_code(text: str) -> None:
    assert panels.name(text).startswith("`")


def test_of_a_few_op_types_each_is_a_name_that_stays_whole() -> None:
    types = "GroupConvolution, FullyConnected, Convolution, …"
    assert panels.code_or_name(types) == types
    assert panels.code_or_name("aten::mm, Gemm") == "` aten::mm `, Gemm"
    assert panels.code_or_name("f(a, b)") == "` f(a, b) `"
    assert panels.code_or_name("*a*, [b](c)") == "` *a*, [b](c) `"


@given(st.text(max_size=80))
def test_a_code_span_cannot_be_left(text: str) -> None:
    """The fence is longer than any run of backticks inside."""
    span = panels.code_span(text)
    fence = span[: len(span) - len(span.lstrip("`"))]
    inner = span[len(fence) : -len(fence)]
    assert span == f"{fence}{inner}{fence}"
    assert fence not in inner
    assert "\n" not in inner


def test_own_text_is_escaped() -> None:
    assert panels.own("~1 [x] $2 a_b *c*") == r"\~1 \[x\] \$2 a\_b \*c\*"


def test_cells_are_read_with_unit_and_stay_whole_values() -> None:
    rows = frame()
    rows["name"] = ["module/" * 20 + "Conv", "new"]
    drawn = operator_table(rows).only([]).drawn
    assert isinstance(drawn, Styler)
    assert [label for _, label in drawn.data.columns] == [
        "Name", "Type", "baseline", "candidate", "change", "speedup",
    ]  # fmt: skip
    assert drawn.data.iloc[0, 0].startswith("module/module/")
    assert len(drawn.data.iloc[0, 0]) > 100
    _, read = read_cells(drawn)
    assert len(read[0][0]) == NAME_CHARS and "…" in read[0][0]
    assert read[0][2:] == ["2.50", "1.00", "−1.50", "2.50×"]
    assert read[1][2:] == ["", "0.50", "+0.50", "new"]


def test_types_that_differ_are_both_named() -> None:
    """As in the report: a kernel's name beside the type of what took its place would mislead."""
    rows = frame()
    rows["op_type_baseline"] = ["Kernel2<cutlass_80_tensorop>", None]
    rows["op_type_candidate"] = ["Cijk_Alik_Bljk_MT128x144x64", "Clip"]
    rows["op_type"] = rows["op_type_candidate"]
    drawn = operator_table(rows).only([]).drawn
    assert list(drawn.data.iloc[:, 1]) == [
        "Kernel2<cutlass_80_tensorop> → Cijk_Alik_Bljk_MT128x144x64", "Clip",
    ]  # fmt: skip
    _, read = read_cells(drawn)
    assert [row[1] for row in read] == ["CUTL… sm80 → Cijk…44x64", "Clip"]
    rows["op_type_baseline"], rows["op_type_candidate"] = ["Conv", None], ["FusedConv", "Clip"]
    _, read = read_cells(operator_table(rows).only([]).drawn)
    assert read[0][1] == "Conv → FusedConv"


def test_a_large_table_keeps_plain_numbers() -> None:
    rows = pd.concat([frame()] * (MAX_DRAWN // MIN_COLUMNS), ignore_index=True)
    drawn = operator_table(rows).only([]).drawn
    assert isinstance(drawn, pd.DataFrame)
    assert ("Duration per run, µs", "change") in drawn.columns


def test_numbers_of_a_table_are_written_like_those_of_the_cards() -> None:
    rows = frame()
    rows["bytes_moved_baseline"] *= 1e6
    drawn = tables.operator_table(rows).drawn
    assert isinstance(drawn, Styler)
    drawn._compute()
    shown = [cell["display_value"] for cell in drawn._translate(False, False)["body"][0]]
    assert "2\u202f000.0" in shown  # MB moved
    assert "50.0" in shown  # the ratio
    made = Table()
    made.number(NO_HEAD, Head("Output difference"), pd.Series([7e-06]), "", "%.1e")
    made.number(NO_HEAD, Head("Speedup"), pd.Series([12345.678]), "", "%.2f×")
    texts = [text(value) for text, value in zip(made.texts.values(), (7e-06, 12345.678))]
    assert texts == ["7.0e-06", "12\u202f345.68×"]


def test_times_of_a_side_stand_apart_beside_a_far_longer_one() -> None:
    """Of 10.4, 9.69 and 491 ms in one column the first two would both read 10."""
    experiment = experiment_of(experiment_zip({"unfused": [491.0] * 8, "fused": [10.4] * 8}))
    pair = [side_of_variant(experiment, name) for name in ("unfused", "fused")]
    found = (Total("latency", 491e6, 10.4e6), Total("busy", 480e6, 9.69e6))
    cells = tables.totals_table(compare(*pair), found).frame
    assert cells.iloc[:, 1].tolist() == ["491", "480"]
    assert cells.iloc[:, 2].tolist() == ["10.4", "9.7"]
