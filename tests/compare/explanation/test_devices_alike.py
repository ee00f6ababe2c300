"""How many devices of a file run the kernels of the one that is compared."""

from __future__ import annotations

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers.building.processes import shown_of
from tests.readers.pytorch.test_kineto import ADD, GEMM, event, kernel, step, trace_of
from tests.readers.pytorch.test_several_devices import on
from tests.step_traces import Kernel, steps_of


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
    second = next(other for other in trace.others if other.meta.variant == "device:1")
    found = compare(side_of_trace(second), side_of_trace(trace)).explanation
    assert found is not None and found.sides is not None
    assert [(side.devices, side.devices_alike) for side in found.sides] == [(3, 2)] * 2


def test_a_device_that_only_copies_is_none_that_computes() -> None:
    """Beside a file of one device, two devices of which one copies are no other number of them; two
    that compute are."""
    product = [Kernel("gemm", 5, "matrix_product")]
    one = steps_of([product])
    copying = {"device:0": one, "device:1": steps_of([[Kernel("Memcpy DtoD", 3, "copy")]])}
    copies = shown_of(copying)
    computes = shown_of(copying | {"device:1": steps_of([[*product, Kernel("Memset", 1, "copy")]])})
    (note,) = [note for note in copies.diagnostics if note.code == "one_of_devices"]
    assert str(note.values["others"]) == "device:1 (1 copy or fill of memory, 3.00 µs)"
    for other, counts in ((copies, None), (computes, (1, 2))):
        notes = [
            (note.values["before"], note.values["after"])
            for note in compare(side_of_trace(one), side_of_trace(other)).diagnostics
            if note.code == "device_counts_differ"
        ]
        assert notes == ([] if counts is None else [counts])
