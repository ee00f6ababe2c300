"""What runs in the time of the run that is drawn and is not of it: else the device seems idle."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.timeline.payload import timeline_payload
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
