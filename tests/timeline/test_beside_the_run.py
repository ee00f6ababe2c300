"""What runs in the time of the run that is drawn and is not of it: else the device seems idle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.timeline.payload import timeline_payload
from fusescope.analysis.timeline.sums import sums
from fusescope.analysis.trace import Trace
from tests.step_traces import Kernel, steps_of

GEMM = Kernel("gemm", 100, "matrix_product")


def launched_before() -> Trace:
    """A step of four kernels of 100 us, of which the first two are of no run."""
    trace = steps_of([[GEMM] * 4])
    run = pd.array([None, None, 0, 0], "Int64")
    return replace(trace, calls=trace.calls.assign(run=run))


def test_kernels_of_no_run_are_drawn_where_they_ran() -> None:
    side = side_of_trace(launched_before())
    payload = timeline_payload(compare(side, side))
    drawn = payload["sides"][0]
    assert list(drawn["calls"]["start_ns"]) == [0, 100_000, 200_000, 300_000]
    assert str(drawn["caption"]).startswith("1 distinct operator in 2 executions, 400 µs")
    assert "with 2 executions of other work in that time" in str(drawn["caption"])


def test_kernels_of_other_times_are_not() -> None:
    """Two equal steps: of the one that is shown only its own two kernels."""
    side = side_of_trace(steps_of([[GEMM] * 2] * 2))
    drawn = timeline_payload(compare(side, side))["sides"][0]
    assert len(drawn["calls"]["start_ns"]) == 2 and "not of it" not in str(drawn["caption"])


def at_times(kernels: list[tuple[int | None, int, int]], spans: list[tuple[int, int]]) -> Trace:
    """A trace of kernels (run, start, length) in us, and runs (start, length) in us."""
    trace = steps_of([[GEMM] * len(kernels)] * len(spans))
    calls = trace.calls.head(len(kernels))
    columns = list(zip(*kernels, strict=True))
    calls = calls.assign(
        run=pd.array(columns[0], "Int64"),
        start_ns=pd.array([1000 * us for us in columns[1]], "Int64"),
        dur_ns=[1000 * us for us in columns[2]],
    )
    runs = trace.runs.assign(
        start_ns=pd.array([1000 * start for start, _ in spans], "Int64"),
        dur_ns=[1000 * dur for _, dur in spans],
    )
    return replace(trace, calls=calls, runs=runs)


def drawn_of(trace: Trace) -> dict[str, Any]:
    side = side_of_trace(trace)
    drawn: dict[str, Any] = timeline_payload(compare(side, side))["sides"][0]
    return drawn


def test_what_began_before_the_run_is_drawn_from_its_start_on() -> None:
    """A kernel from 950 to 1,050 us, the step from 1,000 to 1,400 us: 50 us of it lie inside."""
    kernels: list[tuple[int | None, int, int]]
    kernels = [(None, 950, 100), (None, 900, 100), (0, 1100, 100), (0, 1300, 100)]
    drawn = drawn_of(at_times(kernels, [(1000, 400)]))
    assert list(drawn["calls"]["start_ns"]) == [0, 100_000, 300_000]
    assert list(drawn["calls"]["dur_ns"]) == [50_000, 100_000, 100_000]
    assert drawn["dur_ns"] == 400_000
    assert sums(drawn, 0, 400_000)["busy"] == 250_000
    text = str(drawn["caption"])
    assert "with 1 execution of other work in that time, which began earlier" in text


def test_what_else_runs_until_the_last_of_its_own_ends_is_drawn_until_then() -> None:
    """The step's last kernel ends at 1,500 us, 100 us after the step. Beside it run one from 1,390
    to 1,410 us, one from 1,450 to 1,600 us, of which 50 us are drawn, and one that is too late."""
    kernels: list[tuple[int | None, int, int]]
    kernels = [
        (0, 1000, 100), (0, 1480, 20), (None, 1390, 20), (None, 1450, 150), (None, 1500, 50),
    ]  # fmt: skip
    drawn = drawn_of(at_times(kernels, [(1000, 400)]))
    assert drawn["dur_ns"] == 500_000
    assert list(drawn["calls"]["start_ns"]) == [0, 390_000, 450_000, 480_000]
    assert list(drawn["calls"]["dur_ns"]) == [100_000, 20_000, 50_000, 20_000]
    # 0 to 100, 390 to 410 and 450 to 500 us.
    assert sums(drawn, 0, 500_000)["busy"] == 170_000


@given(
    st.lists(
        st.tuples(st.sampled_from([0, None]), st.integers(0, 60), st.integers(0, 30)), min_size=1
    ).filter(lambda kernels: any(run == 0 for run, _, _ in kernels))
)
def test_what_is_drawn_is_what_ran_in_that_time(
    kernels: list[tuple[int | None, int, int]],
) -> None:
    """The device is busy in the drawing as it was in the time that is drawn, us by us."""
    kernels = [(run, max(start, 20) if run == 0 else start, dur) for run, start, dur in kernels]
    drawn = drawn_of(at_times(kernels, [(20, 30)]))
    last = max([50, *(start + dur for run, start, dur in kernels if run == 0)])
    busy = {at for _, start, dur in kernels for at in range(start, start + dur) if 20 <= at < last}
    assert drawn["dur_ns"] == 1000 * (last - 20)
    assert sums(drawn, 0, drawn["dur_ns"])["busy"] == 1000 * len(busy)
