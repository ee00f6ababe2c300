"""Where the files of a comparison come from: no two of them look alike."""

from __future__ import annotations

from dataclasses import replace

from analysis.compare import compare
from analysis.compare.side import Side, side_of_trace
from analysis.readers import read
from analysis.readers.input.source import Source
from analysis.report.origins import origins
from analysis.trace import Trace
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


def test_other_names_stay_as_they_are() -> None:
    comparison = compare(
        side("a.json", "a.json", list(UNFUSED_OPERATORS)),
        side("b.json", "b.json", list(FUSED_OPERATORS)),
    )
    assert [origin.file_name for origin in origins(comparison)] == ["a.json", "b.json"]
