"""What is said of kernels of which the file has shapes for some executions alone."""

from __future__ import annotations

from fusescope.analysis.compare.explanation import explain
from fusescope.analysis.wording.explanation import explained_parts
from tests.step_traces import Kernel, steps_of

KNOWN = Kernel("gemm", 40, "matrix_product", inputs="float16[3]")
UNKNOWN = Kernel("gemm", 40, "matrix_product")
SLOWER = Kernel("gemm", 90, "matrix_product")
OTHER = Kernel("norm", 5, "normalisation")


def test_a_change_where_shapes_are_not_known_is_not_said_to_be_of_some_shapes() -> None:
    """4 of 8 products take 50 µs more each, those whose shapes the file does not have."""
    before = steps_of([(KNOWN, OTHER, UNKNOWN, OTHER) * 4])
    found = explain(before, steps_of([(KNOWN, OTHER, SLOWER, OTHER) * 4]))
    assert found is not None
    assert [(change.code, change.change_ns) for change in found.changes] == [("time", 200_000)]
    assert found.changes[0].where == ()
    assert explained_parts(found)
