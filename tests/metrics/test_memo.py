"""What is computed once for a trace, and belongs to nobody."""

from __future__ import annotations

import gc
import weakref

import pandas as pd

from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.memo import once, once_of_two
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, profile_json


def trace_of(operators: object) -> Trace:
    trace = read(Source("p.json", profile_json(operators, runs=4)))
    assert isinstance(trace, Trace)
    return trace


def test_each_trace_has_its_own_result_computed_once() -> None:
    asked: list[Trace] = []

    @once
    def rows(trace: Trace) -> pd.DataFrame:
        asked.append(trace)
        return pd.DataFrame({"operators": [len(trace.operators)]})

    first, second = trace_of(UNFUSED_OPERATORS), trace_of(FUSED_OPERATORS)
    counts = [rows(trace)["operators"][0] for trace in (first, second, first, second)]
    assert counts == [len(UNFUSED_OPERATORS), len(FUSED_OPERATORS)] * 2
    assert asked == [first, second]


def test_what_one_does_to_a_table_no_other_sees() -> None:
    trace = trace_of(UNFUSED_OPERATORS)
    before = by_operator(trace).copy()
    mine = by_operator(trace)
    mine["share"] = 0.0
    mine.loc[0, "count"] = 99.0
    mine["new"] = 1
    mine.columns = [f"my {name}" for name in mine.columns]
    mine.index.name = "mine"
    pd.testing.assert_frame_equal(by_operator(trace), before)
    assert by_operator(trace).index.name is None


def test_results_are_forgotten_with_their_trace() -> None:
    trace = trace_of(UNFUSED_OPERATORS)
    by_operator(trace)
    there = weakref.ref(trace)
    del trace
    gc.collect()
    assert there() is None


def test_two_traces_have_the_last_result_of_their_own() -> None:
    asked: list[tuple[Trace, Trace]] = []

    @once_of_two
    def both(first: Trace, second: Trace) -> int:
        asked.append((first, second))
        return len(first.operators) + len(second.operators)

    one, other = trace_of(UNFUSED_OPERATORS), trace_of(FUSED_OPERATORS)
    whole = len(UNFUSED_OPERATORS) + len(FUSED_OPERATORS)
    assert both(one, other) == both(one, other) == both(other, one) == whole
    assert asked == [(one, other), (other, one)]
    assert both(one, one) == 2 * len(UNFUSED_OPERATORS)
    assert both(one, other) == whole, "of the second that it was last given with"
    assert len(asked) == 4
    gone = weakref.ref(other)
    del other
    asked.clear()
    gc.collect()
    assert gone() is None, "what is computed keeps no trace"
