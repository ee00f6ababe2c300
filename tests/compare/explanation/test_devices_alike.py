"""How many devices of a file run the kernels of the one that is compared."""

from __future__ import annotations

from analysis.compare import compare
from analysis.compare.side import side_of_trace
from tests.readers.pytorch.test_kineto import ADD, GEMM, event, kernel, step, trace_of
from tests.readers.pytorch.test_several_devices import on


def test_devices_that_run_other_kernels_do_not_count() -> None:
    """Of three devices two run the product, and one only adds."""
    trace = trace_of([
        step(1, 0, 100),
        event("cuda_runtime", "cudaDeviceSynchronize", 60, 30),
        on(0, kernel(GEMM, 20, 5, 1)), on(1, kernel(GEMM, 22, 4, 2)), on(2, kernel(ADD, 45, 2, 3)),
    ])  # fmt: skip
    found = compare(side_of_trace(trace), side_of_trace(trace)).explanation
    assert found is not None and found.sides is not None
    assert [(side.devices, side.devices_alike) for side in found.sides] == [(3, 2)] * 2
