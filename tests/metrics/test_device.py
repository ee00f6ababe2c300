"""What a device did in a run, computed by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.runs.entered import with_entered_runs
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.metrics.device import DeviceUse, device_use
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from fusescope.analysis.wording import diagnostic_sentence

META = Meta(format="kineto", tool="PyTorch profiler")


def trace(
    level: str = "device_kernel",
    kind: str = "step",
    starts: object = (0, 50, 60, 100, 180),
    run_ns: int = 200,
    run_start_ns: int | None = 0,
) -> Trace:
    """One run of 200 ns: two overlapping kernels, a copy, a collective, a kernel that ends it."""
    return Trace(
        META,
        runs_frame(run=[0], kind=[kind], start_ns=[run_start_ns], dur_ns=[run_ns], profiled=[True]),
        operators_frame(
            operator=[0, 1, 2],
            name=["gemm", "copy", "all_reduce"],
            op_type=["gemm", "Memcpy HtoD", "AllReduce"],
            op_class=["matrix_product", "data_movement", "communication"],
            level=[level] * 3,
            is_communication=[False, False, True],
        ),
        calls_frame(
            operator=[0, 0, 1, 2, 0],
            run=[0] * 5,
            start_ns=starts,
            dur_ns=[60, 20, 20, 10, 20],
        ),
    )


def test_kernels_busy_idle_and_copies() -> None:
    # Busy: 0 to 60, on to 80 by kernel and copy, 100 to 110, 180 to 200: 80 + 10 + 20 of 200 ns.
    assert device_use(trace()) == DeviceUse(
        kernels=3.0,
        busy_ns=110.0,
        idle=0.45,
        launches=None,
        launch_ns=None,
        copies=1.0,
        copy_ns=20.0,
    )


def test_fills_that_rocm_runs_as_kernels_are_copies_and_fills() -> None:
    """The two gemm of 60 and 20 ns and the last of 20 ns are fills here, beside a copy of 20 ns."""
    found = trace()
    names = ["__amd_rocclr_fillBufferAligned", "copy", "all_reduce"]
    filled = replace(found, operators=found.operators.assign(name=pd.Categorical(names)))
    use = device_use(filled)
    assert use is not None
    assert (use.kernels, use.copies, use.copy_ns) == (0.0, 4.0, 120.0)


def test_what_is_not_known_is_none() -> None:
    assert device_use(trace(level="framework_op")) is None
    unmarked = device_use(trace(kind="file"))
    assert unmarked is not None and unmarked.idle is None and unmarked.busy_ns == 110.0
    late = device_use(trace(starts=(0, 50, 60, 100, None)))
    assert late is not None and (late.busy_ns, late.idle) == (None, None)


def test_kernels_that_outlive_their_run_count_where_it_ran() -> None:
    # Of a run of 100 ns: busy from 0 to 60 and on to 80; what starts at 100 is outside.
    assert device_use(trace(run_ns=100)) == DeviceUse(
        kernels=3.0,
        busy_ns=80.0,
        idle=0.2,
        launches=None,
        launch_ns=None,
        copies=1.0,
        copy_ns=20.0,
    )
    # The one of 60 to 80 is cut at the end of a run of 70 ns.
    cut = device_use(trace(run_ns=70))
    assert cut is not None and (cut.busy_ns, cut.idle) == (70.0, 0.0)


def test_idle_is_not_known_where_a_run_without_a_start_is_shorter_than_its_kernels() -> None:
    unknown = device_use(trace(run_start_ns=None, run_ns=100))
    assert unknown is not None and (unknown.busy_ns, unknown.idle) == (110.0, None)
    fits = device_use(trace(run_start_ns=None, run_ns=220))
    assert fits is not None and (fits.busy_ns, fits.idle) == (110.0, 0.5)


def test_launches_are_means_of_the_runs_that_count() -> None:
    made = trace()
    runs = made.runs.assign(
        launches=pd.array([3], dtype="Int64"), launch_ns=pd.array([120], dtype="Int64")
    )
    use = device_use(replace(made, runs=runs))
    assert use is not None and (use.launches, use.launch_ns) == (3.0, 120.0)


def test_launches_entered_runs_share_them_out() -> None:
    made = trace(kind="file")
    runs = made.runs.assign(launches=pd.array([9], dtype="Int64"))
    side = with_entered_runs(side_of_trace(replace(made, runs=runs)), 2)
    use = device_use(side.trace)
    # The file cannot be cut, so one average run stands for both: 9 / 2, rounded as counts are.
    assert use is not None and use.launches == 5.0 and use.launch_ns is None
    assert list(side.trace.runs["launches"]) == [5]


def test_more_kernels_on_a_device_favour_no_side() -> None:
    """The candidate runs its kernels four times more often: what a profiler adds on the host for
    kernels and copies of a device, such as those that a graph launches, is not in the file."""
    made = trace()
    other = replace(made.meta, sha256="1" * 64)
    more = replace(made, meta=other, calls=made.calls.assign(n=[5, 1, 5, 5, 5]))
    told = [
        diagnostic_sentence(note)
        for note in compare(side_of_trace(made), side_of_trace(more)).diagnostics
        if note.code == "profiled_headline"
    ]
    assert told[0].endswith("and may not slow down both sides equally.")


def test_a_comparison_tells_launches_or_why_not() -> None:
    made = trace()
    known = replace(
        made,
        runs=made.runs.assign(
            launches=pd.array([3], dtype="Int64"), launch_ns=pd.array([120], dtype="Int64")
        ),
    )
    found = {
        figure.code: figure for figure in compare(side_of_trace(known), side_of_trace(made)).figures
    }
    launches = found["launches"]
    assert (launches.baseline.value, launches.baseline.basis) == (3.0, "measured")
    assert (launches.candidate.value, launches.candidate.reason) == (None, "no_launches")
    assert found["launch_time"].baseline.value == 120.0
    untimed = replace(known, runs=known.runs.assign(launch_ns=pd.array([None], dtype="Int64")))
    [time] = [
        each
        for each in compare(side_of_trace(known), side_of_trace(untimed)).figures
        if each.code == "launch_time"
    ]
    assert time.candidate.reason == "no_launch_times", "it counts launches, so it has the calls"
    without = {f.code for f in compare(side_of_trace(made), side_of_trace(made)).figures}
    assert "launches" in without and "launch_time" not in without
