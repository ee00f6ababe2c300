"""The heavy work of a model: its matrix products, convolutions and attention by their sizes."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.metrics.memo import once
from fusescope.analysis.operators.classes import is_heavy
from fusescope.analysis.operators.flops import Shape, parse_shapes
from fusescope.analysis.trace import Trace

_FEWEST_SIZES = 4  # numbers of the shapes of one operator, of which fewer say little

Work = tuple[tuple[str, tuple[Shape, ...]], ...]


def heavy_work(trace: Trace, operators: np.ndarray) -> Work:
    """Return the heavy operators of these executions in order, by their class and the shapes of
    their first two inputs, whatever their names and the types of their tensors. Operators of a
    host in a row over the same sizes count once, since a framework may write an operator and what
    it calls; kernels of a device all count. Empty where the sizes of one are not known."""
    keys, levels = _keys(trace), trace.texts("level")
    works: list[tuple[str, tuple[Shape, ...]]] = []
    for operator in operators.tolist():
        key = keys[operator]
        if key is None:
            continue
        if works and works[-1] == key and levels[operator] != "device_kernel":
            continue
        if sum(map(len, key[1])) < _FEWEST_SIZES:
            return ()
        works.append(key)
    return tuple(works)


@once
def _keys(trace: Trace) -> list[tuple[str, tuple[Shape, ...]] | None]:
    """Return the class and the shapes of each operator of a trace; None of those that are light."""
    return [
        (op_class, tuple(parse_shapes(inputs)[:2])) if is_heavy(op_class) else None
        for op_class, inputs in zip(trace.texts("op_class"), trace.texts("inputs"), strict=True)
    ]
