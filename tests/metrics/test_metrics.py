"""Every figure of one trace against numbers worked out by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.metrics.breakdown import by_class, by_operator, by_type
from fusescope.analysis.metrics.small_ops import default_tau, short_ops, small_ops
from fusescope.analysis.metrics.spans import run_spans, union_ns
from fusescope.analysis.metrics.utilisation import model_flops, operator_utilisation, utilisation
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from tests.factories import (
    BN,
    CONV,
    GEMM,
    RELU,
    UNFUSED_OPERATORS,
    node_event,
    profile_json,
    session_event,
)


def trace_of(data: bytes) -> Trace:
    trace = read(Source("p.json", data))
    assert isinstance(trace, Trace)
    return trace


def test_breakdown_by_operator_type_and_class() -> None:
    trace = trace_of(profile_json((CONV, BN, RELU, (*RELU[:0], "b/Relu", *RELU[1:])), runs=2))
    types = by_type(trace).set_index("op_type")
    assert list(types.index) == ["Conv", "Relu", "BatchNormalization"]  # largest total first
    relu = types.loc["Relu"]
    assert (relu["count"], relu["total_ns"], relu["per_run_ns"]) == (2, 80_000, 40_000)
    assert (relu["mean_ns"], relu["median_ns"], relu["p90_ns"]) == (20_000, 20_000, 20_000)
    assert relu["share"] == pytest.approx(40 / 170)
    assert relu["provider"] == "CPUExecutionProvider"
    assert by_class(trace)["share"].sum() == pytest.approx(1)
    assert by_operator(trace)["count"].tolist() == [1, 1, 1, 1]


def test_small_and_short_operators() -> None:
    small = small_ops(trace_of(profile_json(UNFUSED_OPERATORS, runs=2)))
    assert small.time == pytest.approx(50 / 200)  # BatchNormalization 30 + Relu 20 of 200
    assert small.count == pytest.approx(2 / 4)
    assert (small.light_ns, small.light_count, small.unknown_time) == (50_000, 2, 0)
    short = short_ops(trace_of(profile_json(UNFUSED_OPERATORS)), 30_000)
    assert (short.short_ns, short.short_count) == (20_000, 1)  # below, not at
    assert short.time == pytest.approx(20 / 200)
    assert default_tau(None) == (10_000, "assumed")
    assert default_tau(5_000) == (50_000, "measured")
    assert default_tau(500) == (10_000, "assumed")  # below, the profiler would measure itself


def test_unknown_operators_stay_in_the_denominator() -> None:
    strange = ("x", "MyKernel", 100, [], [])
    small = small_ops(trace_of(profile_json((RELU, strange))))
    assert small.time == pytest.approx(20 / 120)
    assert small.unknown_time == pytest.approx(100 / 120)


def test_all_durations_zero_gives_no_ratio() -> None:
    trace = trace_of(profile_json((("a", "Relu", 0, [], []),), gap_us=0))
    assert small_ops(trace).time is None
    assert by_type(trace)["share"].isna().all()
    assert utilisation(1e6, 0.0, 1e9) is None


def test_spans_busy_time_and_gap() -> None:
    spans = run_spans(trace_of(profile_json(UNFUSED_OPERATORS, runs=2, gap_us=3)))
    assert spans["span_ns"].tolist() == [215_000] * 2
    assert spans["busy_ns"].tolist() == [200_000] * 2
    assert spans["gap_ns"].tolist() == [15_000] * 2


def test_overlapping_streams_count_once() -> None:
    assert union_ns(np.array([0, 5, 20]), np.array([10, 10, 5])) == 20
    assert union_ns(np.array([0, 1]), np.array([10, 2])) == 10


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 50)), max_size=30))
def test_union_equals_painting(intervals: list[tuple[int, int]]) -> None:
    painted = {tick for start, dur in intervals for tick in range(start, start + dur)}
    start = np.array([i[0] for i in intervals], dtype="int64")
    dur = np.array([i[1] for i in intervals], dtype="int64")
    assert union_ns(start, dur) == len(painted)


def run_trace(durations: list[int], warmup: list[bool] | None = None) -> Trace:
    count = len(durations)
    return Trace(
        Meta("test", "test"),
        runs_frame(
            run=range(count),
            dur_ns=durations,
            profiled=[True] * count,
            warmup=warmup or [False] * count,
        ),
        operators_frame(operator=[0], name=["a"]),
        calls_frame(operator=[0] * count, run=list(range(count)), dur_ns=durations),
    )


def test_slow_first_runs_are_set_aside() -> None:
    assert steady_runs(run_trace([50, 10, 10, 11])).runs == (1, 2, 3)
    assert steady_runs(run_trace([50, 40, 10, 10, 11, 10])).slow == 2
    assert steady_runs(run_trace([14, 10, 10, 10])).slow == 0
    assert steady_runs(run_trace([50, 10])).slow == 0  # two runs cannot tell
    assert steady_runs(run_trace([10, 10, 50])).slow == 0  # a late outlier is data


def test_marked_warm_up_wins_over_guessing() -> None:
    steady = steady_runs(run_trace([50, 40, 10, 10], [True, False, False, False]))
    assert (steady.runs, steady.marked, steady.slow) == ((1, 2, 3), 1, 0)
    assert steady_runs(run_trace([50, 40], [True, True])).runs == (0, 1)


def test_utilisation() -> None:
    trace = trace_of(profile_json((CONV, RELU, GEMM), runs=2))
    flops, reason = model_flops(trace)
    assert flops == 2 * 256 * 27 + 2 * 10 * 256 and reason is None
    assert utilisation(13_824.0, 1000.0, 1e11) == pytest.approx(0.13824)
    table = by_operator(trace)
    per_operator = operator_utilisation(table["flops"], table["mean_ns"], 1e9)
    assert per_operator.isna().tolist() == [False, True, False]
    assert per_operator[0] == pytest.approx(13_824 / (100e-6 * 1e9))


def test_flops_of_a_model_need_nearly_all_heavy_operators() -> None:
    unknown = ("b/Conv", "Conv", 90, [], [])
    assert model_flops(trace_of(profile_json((CONV, unknown))))[1] == "flops_unknown"
    assert model_flops(trace_of(profile_json((RELU,))))[1] == "no_heavy_operators"


def test_a_trace_without_runs_still_has_a_breakdown() -> None:
    events = json.loads(profile_json((CONV, RELU)))
    data = json.dumps([e for e in events if e["name"] != "model_run"]).encode()
    assert by_operator(trace_of(data))["total_ns"].tolist() == [100_000, 20_000]


def test_a_gap_is_not_what_runs_inside_a_loop() -> None:
    """Loop 0..100 with a body operator 60..90: busy all the time, whatever the self times."""
    loop, body = ("l", "Loop", 100, [], []), ("l/Add", "Add", 30, [], [])
    events = [node_event(body, 1060), node_event(loop, 1000), session_event("model_run", 990, 120)]
    trace = trace_of(json.dumps(events).encode())
    spans = run_spans(trace)
    assert spans["busy_ns"].tolist() == [100_000] and spans["gap_ns"].tolist() == [20_000]
    assert spans["kernel_ns"].tolist() == [100_000]
