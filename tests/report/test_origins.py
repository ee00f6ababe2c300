"""Where the files of a comparison come from: no two of them look alike."""

from __future__ import annotations

from dataclasses import replace

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import Side, side_of_trace
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.origins import origin_of, origins
from fusescope.analysis.trace import Trace
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, Operator, profile_json


def side(label: str, name: str, operators: list[Operator]) -> Side:
    trace = read(Source(name, profile_json(operators, 2)))
    assert isinstance(trace, Trace)
    return replace(side_of_trace(trace), label=label)


def test_two_files_of_one_name_are_told_apart() -> None:
    comparison = compare(
        side("pynative", "kernel_details.json", list(UNFUSED_OPERATORS)),
        side("graph", "kernel_details.json", list(FUSED_OPERATORS)),
    )
    assert [origin.file_name for origin in origins(comparison)] == [
        "kernel_details.json of pynative",
        "kernel_details.json of graph",
    ]

    alike = compare(
        side("a.json", "a.json", list(UNFUSED_OPERATORS)),
        side("a.json", "a.json", list(FUSED_OPERATORS)),
    )
    names = [origin.file_name for origin in origins(alike)]
    assert names == [one.name for one in (alike.baseline, alike.candidate)]
    assert all(name.startswith("a.json (") for name in names)


def test_a_file_of_a_folder_is_named_with_the_folder() -> None:
    comparison = compare(
        side("rank0_ascend_pt", "trace_view.json", list(UNFUSED_OPERATORS)),
        side("after.json", "after.json", list(FUSED_OPERATORS)),
    )
    first, second = (origin.file_name for origin in origins(comparison))
    assert (first, second) == ("trace_view.json of rank0_ascend_pt", "after.json")


def test_other_names_stay_as_they_are() -> None:
    comparison = compare(
        side("a.json", "a.json", list(UNFUSED_OPERATORS)),
        side("b.json", "b.json", list(FUSED_OPERATORS)),
    )
    assert [origin.file_name for origin in origins(comparison)] == ["a.json", "b.json"]


def test_the_date_of_a_profile_is_told_where_its_clock_tells_it() -> None:
    """1736408883 s after 1970 are 2025-01-09 07:48:03 UTC; ONNX Runtime's name has no zone."""
    given = side("a.json", "a.json", list(UNFUSED_OPERATORS))
    found = []
    for format_, started in (
        ("kineto", 1736408883 * 10**9),
        ("kineto", 5),
        ("onnxruntime", 10**18),
    ):
        meta = replace(given.trace.meta, format=format_, tool="T", started_ns=started)
        found.append(origin_of(replace(given, trace=replace(given.trace, meta=meta))).made)
    undated = "recorded with T, the date is not in the file"
    assert found == ["recorded 2025-01-09 07:48 UTC with T", undated, undated]
