"""Statistics of calls by operator and op type, against hand and against plain Python."""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis.metrics.breakdown import by_operator, by_type
from fusescope.analysis.metrics.spans import run_spans
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame

TYPES = ["Conv", "Relu", "AllReduce", "Relu"]
TALKS = [False, False, True, False]
# Operator, run (None: outside), start, duration, wait before it, calls that the row stands for.
Call = tuple[int, int | None, int, int, int | None, int]


def trace_of(calls: list[Call], runs: int) -> Trace:
    operator, run, start_ns, dur_ns, wait_ns, n = zip(*calls, strict=True) if calls else [()] * 6
    return Trace(
        Meta("hand", "test"),
        runs_frame(
            run=range(runs), kind=["step"] * runs, dur_ns=[1000] * runs, profiled=[True] * runs
        ),
        operators_frame(
            operator=range(4),
            name=["a", "b", "c", "d"],
            op_type=TYPES,
            is_communication=TALKS,
        ),
        calls_frame(
            operator=pd.array(operator, dtype="Int64"),
            run=pd.array(run, dtype="Int64"),
            start_ns=pd.array(start_ns, dtype="Int64"),
            dur_ns=pd.array(dur_ns, dtype="Int64"),
            wait_ns=pd.array(wait_ns, dtype="Int64"),
            n=pd.array(n, dtype="Int64"),
        ),
    )


def test_statistics_by_hand() -> None:
    trace = trace_of(
        [
            (1, 0, 0, 80, None, 1),
            (0, 0, 80, 10, 5, 3),
            (1, 0, 100, 20, 10, 1),
            (2, 0, 120, 500, None, 1),
            (1, 1, 1000, 10, None, 1),
            (3, 1, 1010, 40, 0, 1),
            (1, None, 5000, 9999, None, 1),  # outside every run
        ],
        runs=2,
    )
    table = by_operator(trace).set_index("name")
    b = table.loc["b"]  # 10, 20, 80 in two runs; computing takes 10 + 110 + 40 = 160 in all
    assert (b["count"], b["total_ns"], b["per_run_ns"], b["min_ns"]) == (1.5, 110, 55, 10)
    assert (b["max_ns"], b["median_ns"], b["wait_ns"]) == (80, 20, 10)
    assert b["p90_ns"] == pytest.approx(68)  # at 0.9 x 2 = 1.8: 20 + 0.8 x 60
    assert b["mean_ns"] == pytest.approx(110 / 3)
    assert b["share"] == pytest.approx(110 / 160)
    assert (table.loc["a", "count"], table.loc["a", "mean_ns"]) == (1.5, 10 / 3)
    assert pd.isna(table.loc["c", "share"]) and pd.isna(table.loc["c", "wait_ns"])
    relu = by_type(trace).set_index("op_type").loc["Relu"]  # 10, 20, 40, 80
    assert (relu["median_ns"], relu["wait_ns"]) == (30, 5)
    assert relu["p90_ns"] == pytest.approx(68)  # at 0.9 x 3 = 2.7: 40 + 0.7 x 40


def test_types_that_took_equally_long_are_in_the_order_of_their_first_call() -> None:
    calls: list[Call] = [(1, 0, 0, 30, None, 1), (0, 0, 30, 30, None, 1), (2, 0, 60, 30, None, 1)]
    assert by_type(trace_of(calls, runs=1))["op_type"].tolist() == ["Relu", "Conv", "AllReduce"]


def test_nothing_ran() -> None:
    trace = trace_of([], runs=1)
    assert by_operator(trace).empty and by_type(trace).empty
    assert run_spans(trace)[["kernel_ns", "span_ns"]].to_numpy().tolist() == [[0, 1000]]


CALLS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.none() | st.integers(0, 2),
        st.integers(0, 10_000),
        st.integers(0, 2**50),
        st.none() | st.integers(0, 1000),
        st.integers(1, 5),
    ),
    min_size=1,
    max_size=30,
)


@settings(max_examples=25)
@given(CALLS)
def test_statistics_are_those_of_plain_python(calls: list[Call]) -> None:
    trace = trace_of(calls, runs=3)
    runs = steady_runs(trace).runs
    calls = [call for call in calls if call[1] in runs]
    table = by_operator(trace).set_index("operator")
    groups: dict[int, list[Call]] = defaultdict(list)
    for call in calls:
        groups[call[0]].append(call)
    assert set(table.index) == set(groups)
    whole = sum(call[3] for call in calls if not TALKS[call[0]])
    for operator, own in groups.items():
        row, times = table.loc[operator], [call[3] for call in own]
        assert int(row["total_ns"]) == sum(times)
        assert (int(row["min_ns"]), int(row["max_ns"])) == (min(times), max(times))
        assert row["median_ns"] == pytest.approx(statistics.median(times))
        assert row["p90_ns"] == pytest.approx(np.percentile(times, 90))
        assert row["count"] == pytest.approx(sum(call[5] for call in own) / len(runs))
        assert row["mean_ns"] == pytest.approx(sum(times) / sum(call[5] for call in own))
        waits = [call[4] for call in own if call[4] is not None]
        if waits:
            assert row["wait_ns"] == pytest.approx(statistics.mean(waits))
        else:
            assert pd.isna(row["wait_ns"])
        if TALKS[operator] or not whole:
            assert pd.isna(row["share"])
        else:
            assert row["share"] == pytest.approx(sum(times) / whole)


@settings(max_examples=25)
@given(CALLS)
def test_spans_are_those_of_plain_python(calls: list[Call]) -> None:
    calls = [(*call[:3], call[3] % 5_000, *call[4:]) for call in calls]
    trace = trace_of(calls, runs=3)
    spans = run_spans(trace).set_index("run")
    assert list(spans.index) == list(steady_runs(trace).runs)
    own = {run: [call for call in calls if call[1] == run] for run in spans.index}
    for run, of_run in own.items():
        assert spans.loc[run, "kernel_ns"] == sum(call[3] for call in of_run)
        if any(own.values()):
            busy = len({ns for call in of_run for ns in range(call[2], call[2] + call[3])})
            assert spans.loc[run, "busy_ns"] == busy
            gap = spans.loc[run, "gap_ns"]
            assert pd.isna(gap) if busy > 1000 else gap == 1000 - busy
        else:
            assert pd.isna(spans.loc[run, "busy_ns"])


@pytest.mark.exhaustive
@given(CALLS)
def test_many_tables_are_those_of_plain_python(calls: list[Call]) -> None:
    test_statistics_are_those_of_plain_python.hypothesis.inner_test(calls)
    test_spans_are_those_of_plain_python.hypothesis.inner_test(calls)


def test_kernels_that_outlive_their_run_leave_no_negative_gap() -> None:
    """Run 0 is [0, 100), run 1 [200, 300): a kernel of run 0 runs from 60 to 240."""
    made = trace_of([(0, 0, 60, 180, None, 1), (0, 1, 250, 30, None, 1)], runs=2)
    runs = made.runs.assign(start_ns=pd.array([0, 200], "Int64"), dur_ns=[100, 100])
    spans = run_spans(replace(made, runs=runs))
    # 40 of run 0; of run 1 the other's 40 and its own 30.
    assert list(spans["busy_ns"]) == [40, 70]
    assert list(spans["gap_ns"]) == [60, 30]
    assert list(spans["kernel_ns"]) == [180, 30]
