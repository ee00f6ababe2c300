"""What a device did in a run, computed by hand."""

from __future__ import annotations

from analysis.metrics.device import DeviceUse, device_use
from analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame

META = Meta(format="kineto", tool="PyTorch profiler")


def trace(
    level: str = "device_kernel",
    kind: str = "step",
    starts: object = (0, 50, 60, 100, 180),
    run_ns: int = 200,
) -> Trace:
    """One run of 200 ns: two overlapping kernels, a copy, a collective, a kernel that ends it."""
    return Trace(
        META,
        runs_frame(run=[0], kind=[kind], start_ns=[0], dur_ns=[run_ns], profiled=[True]),
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
        kernels=3.0, busy_ns=110.0, idle=0.45, copies=1.0, copy_ns=20.0
    )


def test_what_is_not_known_is_none() -> None:
    assert device_use(trace(level="framework_op")) is None
    unmarked = device_use(trace(kind="file"))
    assert unmarked is not None and unmarked.idle is None and unmarked.busy_ns == 110.0
    late = device_use(trace(starts=(0, 50, 60, 100, None)))
    assert late is not None and (late.busy_ns, late.idle) == (None, None)


def test_idle_is_a_share_even_where_kernels_outlive_their_run() -> None:
    outliving = device_use(trace(run_ns=100))  # busy for 110 ns of 100
    assert outliving is not None
    assert outliving.idle is None or 0 <= outliving.idle <= 1
