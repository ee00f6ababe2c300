"""Where repetitions begin: one cut of a trace, alone and beside another file, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.advice.sides import advised
from analysis.compare import compare
from analysis.compare.side import side_of_trace
from analysis.metrics.step import mean_step
from analysis.trace import Trace
from analysis.work_units import with_common_runs, with_unit_runs
from tests.host.hosts import Call, Span, host_of
from tests.step_traces import Kernel, steps_of

# 140 us of kernels; the device pauses 30 us before `wait`, and 10 us before `add`.
BLOCK = (
    Kernel("norm", 10), Kernel("qkv", 40, "matrix_product"), Kernel("wait", 5, after_us=30),
    Kernel("mlp", 60, "matrix_product"), Kernel("add", 15, after_us=10), Kernel("gelu", 10),
)  # fmt: skip


def window(first: int, kernels: int, pause_us: float = 30, name: str = "t") -> Trace:
    """So many kernels of blocks that follow one another, from the `first` of a block on."""
    block = [replace(each, after_us=pause_us) if each.name == "wait" else each for each in BLOCK]
    return steps_of(
        [[block[(first + at) % len(block)] for at in range(kernels)]], marked=False, name=name
    )


def codes(trace: Trace) -> set[str]:
    return {note.code for note in trace.diagnostics}


def first_kernels(trace: Trace) -> set[str]:
    """The kernels with which the runs of a trace begin."""
    first = trace.calls[trace.calls["run"].notna()].groupby("run")["operator"].first()
    return {trace.texts("name")[at] for at in first.tolist()}


@given(st.integers(0, 5), st.integers(0, 5), st.integers(40, 60))
def test_a_trace_has_the_same_runs_alone_and_beside_another_file(
    first: int, second: int, kernels: int
) -> None:
    """Blocks begin behind their longest pause, wherever the file begins: 180 us from start to
    start, of which the device is idle for 40."""
    traces = (window(first, kernels), window(second, kernels + 7))
    for alone, beside in zip(map(with_unit_runs, traces), with_common_runs(*traces), strict=True):
        assert alone.runs.equals(beside.runs)
        assert alone.calls["run"].equals(beside.calls["run"])
        assert first_kernels(alone) == {"wait"}
        assert set(alone.runs["dur_ns"]) == {180_000}
        assert "runs_cut_alike" not in codes(beside)
        step = mean_step(alone)
        assert step is not None and step.idle_ns == 40_000


def test_the_figures_of_one_file_are_the_same_on_both_pages() -> None:
    pair = compare(side_of_trace(window(0, 50)), side_of_trace(window(3, 61, 50)))
    alone = [advised(trace).step for trace in (window(0, 50), window(3, 61, 50))]
    beside = [mean_step(side.trace) for side in (pair.baseline, pair.candidate)]
    assert alone == beside
    assert [step.idle_ns for step in beside if step is not None] == [40_000, 60_000]


def test_a_file_without_a_longest_pause_is_cut_as_the_other_one_and_says_so() -> None:
    """With pauses of 10 us before two kernels none stands out: each file by itself begins where it
    begins, and the second one beside the first begins with that one's kernel."""
    before, after = window(1, 50, 10), window(4, 50, 10)
    assert [first_kernels(with_unit_runs(trace)) for trace in (before, after)] == [
        {"qkv"},
        {"add"},
    ]
    pair = with_common_runs(before, after)
    assert [first_kernels(trace) for trace in pair] == [{"qkv"}, {"qkv"}]
    assert "runs_repeated" in codes(pair[0]) and "runs_cut_alike" not in codes(pair[0])
    assert "runs_cut_alike" in codes(pair[1]) and "runs_repeated" not in codes(pair[1])


@pytest.mark.parametrize("first", range(6))
def test_a_later_cut_keeps_the_number_of_runs(first: int) -> None:
    """Eight blocks: seven have a next one that begins."""
    assert len(with_unit_runs(window(first, 48)).runs) == 7


def test_blocks_far_apart_end_with_their_last_kernel_also_in_a_window_that_cuts_them() -> None:
    """Without events of the host, blocks of 150 us are 500 us apart: the last one is a run where
    the file holds it whole."""
    runs = [with_unit_runs(window(first, 48, 500)).runs for first in (2, 5)]
    assert [len(table) for table in runs] == [8, 7]
    assert {ns for table in runs for ns in table["dur_ns"]} == {150_000}


@pytest.mark.parametrize(("loads_us", "takes"), [(100, 150_000), (400, 650_000)])
def test_blocks_far_apart_end_with_their_last_kernel_where_the_host_shows_little(
    loads_us: int, takes: int
) -> None:
    """Of 500 us between blocks the host loads data in 100: what calls the next one is as little
    known as without a host. Where it does so in 400, that is why, and a part of the block."""
    trace = window(2, 48, 500)
    starts = trace.calls["start_ns"].to_numpy("int64")
    begins = starts[::6]  # of blocks, each behind its pause
    spans: list[Span] = [
        (0, "frame", "loader.py(1): load", at - 450_000, at - 450_000 + loads_us * 1000)
        for at in begins.tolist()
    ]
    calls: list[Call] = [(at, at + 1, 0, at - 2_000) for at in starts.tolist()]
    rows = np.arange(len(starts))
    frame = trace.calls.assign(source_row=pd.array(rows, dtype="Int64"))
    known = replace(trace, calls=frame, host=host_of(spans, calls))
    assert set(with_unit_runs(known).runs["dur_ns"]) == {takes}
