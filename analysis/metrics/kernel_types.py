"""Types and short names of the kernels of a trace, read once from each name."""

from __future__ import annotations

from collections.abc import Sequence

from fusescope.analysis.metrics.memo import once
from fusescope.analysis.operators.kernel_names import kernel_type
from fusescope.analysis.operators.short_names import short_kernel_names
from fusescope.analysis.trace import Trace

SHORT_CHARS = 40  # of the name of a kernel in a sentence


@once
def kernel_types(trace: Trace) -> Sequence[str]:
    """Return the type of each name that the operators of a trace have, in the order of their
    categories; '' for a name that says none."""
    names = trace.operators["name"].array.categories.to_numpy(dtype=object)
    return tuple(map(kernel_type, names))


@once
def short_operator_names(trace: Trace) -> Sequence[str]:
    """Return the short name of each operator of a trace that sentences and rows call it by."""
    names, types = trace.texts("name"), trace.texts("op_type")
    return tuple(short_kernel_names(names, types, SHORT_CHARS))
