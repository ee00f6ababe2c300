"""Where repetitions begin: one cut of a trace, alone and beside another file, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.advice.explanation import explain_trace
from fusescope.analysis.advice.sides import advised
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.metrics.step import mean_step
from fusescope.analysis.report.explanation.explanation_json import explanation_values
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.diagnostics import diagnostic_sentence
from fusescope.analysis.wording.explanation import leading_sentence
from fusescope.analysis.wording.explanation.traced_unit import unit_said
from fusescope.analysis.work_units import with_common_runs, with_unit_runs
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


def with_host(trace: Trace, loads_us: int) -> Trace:
    """A trace of blocks far apart, before each of which the host loads data for so long."""
    starts = trace.calls["start_ns"].to_numpy("int64")
    spans: list[Span] = [
        (0, "frame", "loader.py(1): load", at - 450_000, at - 450_000 + loads_us * 1000)
        for at in starts[::6].tolist()
    ]
    calls: list[Call] = [(at, at + 1, 0, at - 2_000) for at in starts.tolist()]
    rows = pd.array(np.arange(len(starts)), dtype="Int64")
    return replace(trace, calls=trace.calls.assign(source_row=rows), host=host_of(spans, calls))


def said_of(trace: Trace) -> str:
    found = explain_trace(trace)
    assert found is not None
    return str(unit_said(found.unit)[0]).replace("**", "")


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
    known = with_host(window(2, 48, 500), loads_us)
    assert set(with_unit_runs(known).runs["dur_ns"]) == {takes}


def test_each_place_says_what_the_time_of_a_repetition_holds() -> None:
    """Blocks of 150 us, 500 us apart. Of one file the host explains the pauses, so a block lasts
    650 us there; the other one has no host. Compared, both end with their last kernel."""
    shown, hidden = with_host(window(2, 48, 500), 400), window(2, 48, 500)
    assert (
        "takes 650 µs until the next one begins, the mean of 7; its last kernel ends after 150 µs."
    ) in said_of(shown)
    assert (
        "takes 150 µs from its first kernel to its last, the mean of 8. The time until the next "
        "one begins is left out, as the file does not show what the host does then."
    ) in said_of(hidden)
    for pair in ((shown, hidden), (hidden, shown)):
        found = explain(*pair)
        assert found is not None
        assert (found.unit.before_ns, found.unit.after_ns) == (150_000, 150_000)
        said = leading_sentence(found)
        assert "A repetition ends with its last kernel here" in said
        assert "begins 500 µs later in the baseline and 500 µs later in the candidate" in said
        notes = [_note(trace) for trace in with_common_runs(*pair)]
        own = "as the file does not show what the host does until the next one"
        other = "where this file is shown alone, each lasts until the next one begins"
        assert [(own in note, other in note) for note in notes] == [
            (trace is hidden, trace is shown) for trace in pair
        ]
        values = explanation_values(found)
        assert values is not None and values["unit"]["lasts_to"] == "last_kernel"


def test_repetitions_without_a_pause_need_no_word_of_their_end() -> None:
    """Blocks of 180 us begin behind their pause of 30 us, which is a sixth of each. With two pauses
    of 10 us none stands out: a file that begins behind neither has its blocks begin there."""
    assert "until the next one begins" in said_of(window(2, 48))
    assert "until the next one begins" not in said_of(window(1, 50, 10))
    found = explain(window(2, 48), window(2, 54))
    assert found is not None and "to its last here" not in leading_sentence(found)
    values = explanation_values(found)
    assert values is not None and values["unit"]["lasts_to"] == "next"


def _note(trace: Trace) -> str:
    codes_of_repeats = ("runs_repeated", "runs_cut_alike")
    notes = [note for note in trace.diagnostics if note.code in codes_of_repeats]
    return " ".join(map(diagnostic_sentence, notes))


def test_runs_with_time_between_them_have_no_throughput() -> None:
    """Blocks of 150 us that follow one another run 6 667 times a second; 500 us apart they do not,
    and how often is not said by their own time."""
    for pause_us, per_second in ((0, 1e9 / 150_000), (500, None)):
        pair = [side_of_trace(window(first, 48, pause_us)) for first in (2, 2)]
        found = compare(pair[0], replace(pair[1], label="b")).figure("throughput")
        assert found.baseline.value == (per_second and pytest.approx(per_second))
        assert found.baseline.reason == (None if per_second else "time_between_runs")
