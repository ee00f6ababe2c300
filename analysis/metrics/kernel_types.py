"""Types of the kernels of a trace, read once from each name."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.metrics.memo import once
from fusescope.analysis.operators.kernel_names import kernel_type
from fusescope.analysis.trace import Trace


@once
def kernel_types(trace: Trace) -> Sequence[str]:
    """Return the type of each name that the operators of a trace have, in the order of their
    categories; '' for a name that says none."""
    names = trace.operators["name"].array.categories.to_numpy(dtype=object)
    return tuple(map(kernel_type, names))
