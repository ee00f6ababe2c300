"""Where the time of a run goes, computed by hand, and held against what a vendor's tool says."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.metrics.step import (
    StepParts,
    gaps_of,
    mean_gaps,
    mean_step,
    place_of_shown,
    shown_run,
    step_of,
    why_no_step,
)
from fusescope.analysis.readers import read_path
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from tests.metrics.test_device import trace

META = Meta(format="kineto", tool="PyTorch profiler")
KINDS = ("gemm", "Memcpy HtoD", "AllReduce")


def made(calls: list[tuple[int, int, int]], runs: list[tuple[int | None, int]]) -> Trace:
    """Calls are (kind, start, length) of the first run, runs (start, length)."""
    return Trace(
        META,
        runs_frame(
            run=list(range(len(runs))),
            kind=["step"] * len(runs),
            start_ns=[start for start, _ in runs],
            dur_ns=[dur for _, dur in runs],
            profiled=[True] * len(runs),
        ),
        operators_frame(
            operator=[0, 1, 2],
            name=list(KINDS),
            op_type=list(KINDS),
            level=["device_kernel"] * 3,
            is_communication=[False, False, True],
        ),
        calls_frame(
            operator=[kind for kind, _, _ in calls],
            run=[0] * len(calls),
            start_ns=[start for _, start, _ in calls],
            dur_ns=[dur for _, _, dur in calls],
        ),
    )


def test_the_parts_add_up_to_the_run() -> None:
    # Kernels: 0 to 70 and 180 to 200. The copy ends at 80, 10 ns after them; the collective is
    # alone from 100 to 110.
    assert step_of(trace()) == StepParts(0, 200, 90, 10, 10, 90)


def test_what_runs_beside_computing_is_hidden() -> None:
    # Compute 0-100; all-reduce 50-120: 20 are not hidden; copy 110-140: 20 beside neither.
    found = step_of(made([(0, 0, 100), (2, 50, 70), (1, 110, 30)], [(0, 200)]))
    assert found == StepParts(0, 200, 100, 20, 20, 60)


def test_a_kernel_counts_where_it_ran() -> None:
    """Launched in the first run, it outlives that by 40 ns, which the second run has."""
    assert step_of(made([(0, 60, 80)], [(0, 100)])) == StepParts(0, 100, 40, 0, 0, 60)
    both = made([(0, 60, 80)], [(0, 100), (100, 90)])
    calls = calls_frame(operator=[0, 0], run=[0, 1], start_ns=[60, 150], dur_ns=[80, 10])
    found = replace(both, calls=calls)
    assert shown_run(found) == 1
    assert step_of(found) == StepParts(1, 90, 50, 0, 0, 40)


def test_a_call_on_another_clock_is_not_of_the_run() -> None:
    """Blocks are processes: what another one ran at the same count, or nobody's run, is apart."""
    found = made([(0, 0, 50)], [(0, 100), (0, 400)])
    found.runs["block"] = found.runs["block"].astype("Int64")
    found.runs.loc[:, "block"] = [0, 1]
    calls = calls_frame(operator=[0] * 3, run=[0, 1, None], start_ns=[0, 60, 80], dur_ns=[50, 9, 9])
    assert step_of(replace(found, calls=calls)) == StepParts(0, 100, 50, 0, 0, 50)


def test_a_file_that_does_not_mark_its_runs_has_no_step() -> None:
    """Between its runs nothing need run: that is not idle time of a run."""
    assert step_of(trace(kind="file")) is None
    assert why_no_step(trace(kind="file")) == "runs_unknown"


def test_what_a_file_does_not_tell_is_none() -> None:
    unplaced = trace(starts=[0, 50, 60, 100, None])
    assert step_of(unplaced) is None
    assert why_no_step(unplaced) == "no_start_times"
    mixed = trace()
    mixed.operators["level"] = mixed.operators["level"].cat.add_categories("framework_op")
    mixed.operators.loc[0, "level"] = "framework_op"
    assert step_of(mixed) is None, "operators of a host ran at the same time"
    assert why_no_step(mixed) == "mixed_levels"
    longer = made([(0, 0, 80), (0, 100, 80)], [(None, 100)])
    assert step_of(longer) is None
    assert why_no_step(longer) == "longer_than_run"
    assert step_of(made([(0, 0, 80), (0, 100, 80)], [(None, 200)])) == StepParts(
        0, 200, 160, 0, 0, 40
    )


def test_idle_time_of_unlike_runs_is_where_it_is_in_each() -> None:
    """A run of 100 ns idle for 10 before the copy and 10 at its end, one of 400 only for 300 at its
    end: on average 5 and 155, where the first run alone would have 80 and 80 of 160."""
    calls = calls_frame(
        operator=[0, 1, 0, 1],
        run=[0, 0, 1, 1],
        start_ns=[0, 60, 100, 150],
        dur_ns=[50, 30, 50, 50],
    )
    found = mean_gaps(replace(made([], [(0, 100), (100, 400)]), calls=calls))
    assert found is not None
    assert (found.before_ns.tolist(), found.after_ns) == ([0, 5, 0], 155)


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 400), st.integers(0, 120)),
        min_size=1,
        max_size=12,
    ),
    st.integers(1, 300),
)
def test_idle_time_before_and_after_operators_is_that_of_the_mean(
    calls: list[tuple[int, int, int]], first: int
) -> None:
    trace = made(calls, [(0, first), (first, 500 - first)])
    mean, gaps = mean_step(trace), mean_gaps(trace)
    assert (mean is None) == (gaps is None)
    if mean is not None and gaps is not None:
        assert abs(gaps.before_ns.sum() + gaps.after_ns - mean.idle_ns) <= 1  # which is rounded


def test_it_is_the_run_nearest_to_the_mean_and_of_a_recording_the_median_one() -> None:
    """Runs of 100, 240, 200 and 460 ns: 250 on average; the lower median is the third."""
    runs = made([(0, 0, 10)], [(0, 100), (100, 240), (400, 200), (700, 460)])
    starts = [0, 100, 450, 700]
    calls = calls_frame(operator=[0] * 4, run=[0, 1, 2, 3], start_ns=starts, dur_ns=[10] * 4)
    found = replace(runs, calls=calls)
    assert shown_run(found) == 1 and place_of_shown(found) == (2, 4)
    assert step_of(found) == StepParts(1, 240, 10, 0, 0, 230)
    copies = replace(found, runs=found.runs.assign(copy=pd.array([1] * 4, "Int64")))
    assert shown_run(copies) == 2 and place_of_shown(copies) == (3, 4)
    assert place_of_shown(made([(0, 0, 10)], [(0, 100)])) is None


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(-50, 250), st.integers(0, 120)),
        min_size=1,
        max_size=12,
    )
)
def test_whatever_overlaps_nothing_is_counted_twice(calls: list[tuple[int, int, int]]) -> None:
    traced = made([(kind, start + 50, dur) for kind, start, dur in calls], [(50, 200)])
    found = step_of(traced)
    assert found is not None
    ran = [[False] * 200 for _ in KINDS]
    for kind, start, dur in calls:
        for at in range(max(0, start), min(200, start + dur)):
            ran[kind][at] = True
    first = [
        (gemm, not gemm and comm, not gemm and not comm and copy)
        for gemm, copy, comm in zip(*ran, strict=True)
    ]
    computing, communication, copies = (sum(part) for part in zip(*first, strict=True))
    assert (found.computing_ns, found.communication_ns, found.copies_ns) == (
        computing, communication, copies,
    )  # fmt: skip
    assert found.idle_ns == 200 - computing - communication - copies
    ends = [min(200, start + dur) for _, start, dur in calls if start < 200 and start + dur > 0]
    last = max(ends, default=0)
    gaps = gaps_of(traced)
    assert gaps is not None
    assert gaps.after_ns == 200 - last
    assert gaps.before_ns.sum() + gaps.after_ns == found.idle_ns


@pytest.mark.parametrize("name", ["2024-10-level1-rank0", "2025-01-level1-rank0"])
def test_ascend_s_own_table_says_the_same(shared_traces: Path, name: str) -> None:
    folder = shared_traces / "third_party" / "ascend_torch_npu" / name
    found = read_path(folder)
    assert isinstance(found, Trace)
    step = step_of(found)
    assert step is not None
    with (folder / "step_trace_time.csv").open() as file:
        [told] = csv.DictReader(file)
    for head, ns in (
        ("Computing", step.computing_ns),
        ("Communication(Not Overlapped)", step.communication_ns),
        ("Free", step.idle_ns),
        ("Stage", step.span_ns),
    ):
        assert ns / 1e3 == pytest.approx(float(told[head]), abs=1.0), head
