"""Other inputs of the same work: another batch, or another data type.

Tensors of another batch are all larger by one factor in one dimension; with another precision heavy
operators multiply another type.
"""

from __future__ import annotations

import numpy as np

from fusescope.analysis.align.similarity import SAME_NAME
from fusescope.analysis.compare.explanation.remaining import Remaining
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.compare.joining.agreement import factor
from fusescope.analysis.metrics.utilisation import number_types
from fusescope.analysis.operators.classes import is_heavy

_MOST = 0.8  # of the time of kernels with known shapes, which have the factor
_KNOWN = 0.5  # of the time of kernels that both sides run, whose shapes are known
_NEARLY_ALL = 0.8  # of the time of heavy operators with known types, which one type has
_TYPES_KNOWN = 0.5  # of the time of heavy operators, whose types are known
_MUCH = 0.25  # of a unit, which heavy operators take: of less, another type explains little
FLOAT32 = "float32_tf32"  # some with all digits, some as TF32


def batch_factor(left: Remaining) -> float | None:
    """Return how many times as large the tensors of the candidate are in one of their dimensions,
    by the time of the baseline's kernels; None where they are as large, or by no one factor."""
    times: dict[float | None, float] = {}
    whole = known = 0.0
    operators = [side.profile.operators for side in left.sides]
    factors: dict[tuple[int, int], float | None] = {}
    for column in (left.evidence == SAME_NAME).nonzero()[0].tolist():
        before, after = int(left.before[column]), int(left.after[column])
        if before < 0 or after < 0:
            continue
        ns = float(left.sides[0].ns[before])
        whole += ns
        key = int(operators[0][before]), int(operators[1][after])
        one, other = left.sides[0].inputs[key[0]], left.sides[1].inputs[key[1]]
        if not one or not other:
            continue
        known += ns
        if key not in factors:
            factors[key] = factor(one, other)
        times[factors[key]] = times.get(factors[key], 0.0) + ns
    if not times or known < _KNOWN * whole:
        return None
    most = max(times, key=lambda each: times[each])
    return None if most in (None, 1.0) or times[most] < _MOST * known else most


def other_types(
    sides: tuple[ExplainedSide, ExplainedSide], *, always: bool = False
) -> tuple[str, str] | None:
    """Return what nearly all heavy operators (matrix products, convolutions, attention) of each
    side multiply, by their time, as `number_types` has it, or FLOAT32 where some of them multiply
    float32 as TF32, where the two are different; None where they are equal, mixed, mostly unknown,
    or heavy operators take little of a unit, unless `always`, as where all kernels are others."""
    before, after = (_type(side, 0.0 if always else _MUCH) for side in sides)
    return None if before is None or after is None or before == after else (before, after)


def _type(side: ExplainedSide, least: float) -> str | None:
    operators = side.profile.operators
    are_heavy = np.array([is_heavy(kernel.op_class) for kernel in side.kernels], dtype=bool)
    types = number_types(side.trace.operators).tolist()
    times: dict[str | None, float] = {}
    for operator, ns in zip(operators.tolist(), side.ns.tolist(), strict=True):
        if are_heavy[operator]:
            times[types[operator]] = times.get(types[operator], 0.0) + ns
    whole = sum(times.values())
    known = whole - times.pop(None, 0.0)
    if known < max(1.0, _TYPES_KNOWN * whole) or whole < least * side.units.mean_ns:
        return None
    most = max(times, key=lambda name: times[name])
    if times[most] >= _NEARLY_ALL * known:
        return most
    both = sum(times.get(name, 0.0) for name in ("float32", "tf32"))
    return FLOAT32 if both >= _NEARLY_ALL * known else None
