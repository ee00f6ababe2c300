"""What is taken away of a comparison is made of the same sides, read once, as what is shown."""

from __future__ import annotations

from dataclasses import replace

from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.graphs.names_by_order import count_by_order
from fusescope.analysis.compare.side import side_of_trace
from fusescope.app.sources import comparisons
from tests.compare.graphs.captures import LAYER, launched, replay, trace_of


def test_a_report_without_names_counts_what_the_page_counts() -> None:
    """24 kernels of a replay have the operators of the other file: a comparison of sides that have
    them already would count none."""
    layers = LAYER * 6
    before = trace_of(launched(layers, 1000, runs=True, is_named=True), "eager.json")
    after = trace_of(replay(layers), "replay.json")
    sides = (replace(side_of_trace(before), label="/home/alice/a.json"), side_of_trace(after))
    shown = comparisons.compare(*sides, Assumptions(), private=False)
    taken = shown.redacted
    assert taken is not shown and taken.comparison.baseline.label == "<path>/a.json"
    for comparison in (shown.comparison, taken.comparison):
        assert count_by_order(comparison.candidate.trace) == 24


def test_a_comparison_that_names_nobody_is_taken_as_it_is() -> None:
    """What the comparison adds to its sides is no name of a user, host or path."""
    layers = LAYER * 6
    sides = (
        side_of_trace(trace_of(launched(layers, 1000, runs=True, is_named=True), "eager.json")),
        side_of_trace(trace_of(replay(layers), "replay.json")),
    )
    shown = comparisons.compare(*sides, Assumptions(), private=False)
    assert shown.comparison.candidate.trace is not sides[1].trace
    assert shown.redacted is shown
