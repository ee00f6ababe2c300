"""Rows that would count twice: copies, copied tables, sums, several ranks in one file."""

from __future__ import annotations

import json

import pytest

from fusescope.analysis.readers import read
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.csv_table import head_cells
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import Reader
from fusescope.analysis.trace import Diagnostic, Meta, Trace
from fusescope.analysis.wording import diagnostic_sentence
from tests import miniatures

META = Meta(format="test", tool="test", file_name="t")
KERNELS = {
    "name": ["a", "b", "a", "c"],
    "level": ["device_kernel"] * 4,
    "stream": ["1", "1", "1", "2"],
    "start_ns": [100, 200, 300, 100],
    "dur_ns": [50, 60, 70, 80],
}


def made(columns: dict[str, list[object]]) -> Trace:
    return build_trace(META, columns)


def note(trace: Trace, code: str) -> Diagnostic:
    [found] = [one for one in trace.diagnostics if one.code == code]
    return found


def test_an_execution_that_stands_twice_counts_once() -> None:
    twice = {name: [*values, values[1], values[0]] for name, values in KERNELS.items()}
    trace = made(twice)
    assert trace.calls["dur_ns"].sum() == 260 and len(trace.calls) == 4
    found = note(trace, "rows_twice")
    assert (found.severity, found.count, str(found.example)) == ("warning", 2, "row 5: b")
    assert "2 duplicate rows" in diagnostic_sentence(found)


def test_equal_lengths_or_streams_are_no_copies() -> None:
    columns: dict[str, list[object]] = {
        "name": ["a", "a", "a", "b", "z", "z"],
        "stream": ["1", "2", "1", "1", "1", "1"],
        "start_ns": [100, 100, 200, 100, 50, 50],
        "dur_ns": [10, 10, 10, 10, 0, 0],
    }
    assert len(made(columns).calls) == 6


def test_an_equal_call_inside_another_is_no_copy() -> None:
    """Files in whole microseconds: the outer call has no time left for itself."""
    columns: dict[str, list[object]] = {
        "name": ["to", "to", "add", "mul", "sub"],
        "stream": ["1"] * 5,
        "start_ns": [0, 0, 10_000, 20_000, 30_000],
        "span_ns": [5000, None, None, None, None],
        "dur_ns": [0, 5000, 1000, 1000, 1000],
    }
    assert len(made(columns).calls) == 5


def test_a_table_without_starts_that_stands_twice_counts_once() -> None:
    columns: dict[str, list[object]] = {"name": list("abcd"), "dur_ns": [5, 7, 5, 9]}
    assert len(made({name: values * 2 for name, values in columns.items()}).calls) == 4
    means = {"name": ["a"] * 8, "dur_ns": [5] * 8}  # of a mean that stands for eight executions
    assert len(made(means).calls) == 8
    other = {"name": list("abcdabcd"), "dur_ns": [5, 7, 5, 9, 5, 7, 5, 8]}
    assert len(made(other).calls) == 8


@pytest.mark.parametrize(("name", "dur", "rows"), [("Total", 200, 3), ("total:", 200, 3)])
def test_a_row_of_totals_is_no_operator(name: str, dur: int, rows: int) -> None:
    trace = made({"name": ["a", "b", "c", name], "dur_ns": [50, 60, 90, dur]})
    assert (len(trace.calls), trace.calls["dur_ns"].sum()) == (rows, 200)
    assert str(note(trace, "total_row").example) == f"row 4: {name}"


def test_an_operator_called_sum_stays() -> None:
    trace = made({"name": ["a", "b", "c", "Sum"], "dur_ns": [50, 60, 90, 70]})
    assert len(trace.calls) == 4


def test_two_ranks_told_as_one_are_said() -> None:
    steps = range(0, 2_000_000, 100_000)
    columns: dict[str, list[object]] = {
        "name": ["a", "a"] * 20,
        "level": ["device_kernel"] * 40,
        "stream": ["2"] * 40,
        "start_ns": [start + rank for start in steps for rank in (0, 7_000)],
        "dur_ns": [60_000] * 40,
    }
    found = note(made(columns), "streams_overlap")
    assert (found.severity, found.count, found.values["of"]) == ("warning", 20, 40)
    assert "ranks" in diagnostic_sentence(found)
    # A device begins a kernel a little before the last one ends.
    soon = {**columns, "start_ns": [20_000 * at for at in range(40)]}
    assert note(made(soon), "overlapping_calls").severity == "info"
    apart = {**columns, "device": ["0", "1"] * 20}
    assert not [one for one in made(apart).diagnostics if one.code == "streams_overlap"]


def test_totals_of_two_ranks_in_one_table_are_said() -> None:
    """The table of one rank has one line a type."""
    columns: dict[str, list[object]] = {
        "name": ["Conv2D", "Relu", "Conv2D", "Relu"],
        "n": [10, 5, 10, 5],
        "dur_ns": [1000, 500, 1100, 500],
    }
    trace = made(columns)
    assert trace.calls["dur_ns"].sum() == 3100
    found = note(trace, "totals_joined")
    assert (found.severity, found.count, str(found.example)) == ("warning", 2, "row 3: Conv2D")
    assert "several devices" in diagnostic_sentence(found)


CSV_FORMATS = [
    reader
    for reader in miniatures.FORMATS
    if miniatures.main_file(reader).name.endswith(".csv")
    and len(head_cells(miniatures.main_file(reader).head)) > 1
    # one operator a folder; tables of too few layers to be told from chance
    and reader.name not in ("msprof_op", "openvino_counters")
]


@pytest.mark.parametrize("reader", CSV_FORMATS, ids=lambda reader: str(reader.name))
@pytest.mark.parametrize("with_head", [True, False])
def test_a_table_joined_with_itself_has_the_totals_of_one(reader: Reader, with_head: bool) -> None:
    source = miniatures.main_file(reader)
    data = source.content.rstrip(b"\n") + b"\n"
    more = data if with_head else data.partition(b"\n")[2]
    once, twice = (read(Source(source.name, text)) for text in (data, data + more))
    assert isinstance(once, Trace) and isinstance(twice, Trace)
    assert twice.calls["dur_ns"].sum() == once.calls["dur_ns"].sum()
    assert twice.calls["n"].sum() == once.calls["n"].sum()
    found = {one.code for one in twice.diagnostics}
    assert found & {"rows_twice", "heads_again"}
    assert "starts_go_back" not in found  # what is left is of one recording


JSON_FORMATS = [
    reader
    for reader in miniatures.FORMATS
    if miniatures.main_file(reader).name.endswith(".json")
    and miniatures.main_file(reader).content.lstrip().startswith(b"[")
    and reader.name != "tensorrt_times"  # no operators
]


@pytest.mark.parametrize("reader", JSON_FORMATS, ids=lambda reader: str(reader.name))
def test_events_joined_with_themselves_have_the_totals_of_one(reader: Reader) -> None:
    source = miniatures.main_file(reader)
    events = json.loads(source.content)
    once, twice = (
        read(Source(source.name, json.dumps(told).encode())) for told in (events, events + events)
    )
    assert isinstance(once, Trace) and isinstance(twice, Trace)
    assert twice.calls["dur_ns"].sum() == once.calls["dur_ns"].sum()
    assert (len(twice.calls), len(twice.runs)) == (len(once.calls), len(once.runs))
    assert note(twice, "rows_twice").count > 0


def test_names_that_differ_behind_the_cut_stay_two() -> None:
    head = "void kernel<" + "x" * 600
    columns = {**KERNELS, "name": [head + "1>", head + "2>", head + "1>", "c"]}
    trace = made(columns)
    names = trace.operators["name"].tolist()
    assert len(set(names)) == 3 and all(len(name) <= 512 for name in names)
    assert all(name.endswith("…") for name in names[:2])
    assert trace.calls.groupby("operator")["dur_ns"].sum().tolist() == [120, 60, 80]
    # and a name is cut alike in every file, so that it joins with itself
    other = made({**columns, "name": ["c", head + "1>", "c", "c"]})
    assert other.operators["name"][1] == names[0]
    assert note(trace, "long_text").count == 2
