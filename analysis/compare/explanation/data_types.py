"""The data types that heavy operators compute in, where the two sides use others."""

from __future__ import annotations

import numpy as np

from analysis.compare.explanation.sides import ExplainedSide
from analysis.metrics.utilisation import number_types
from analysis.operators.classes import is_heavy

_NEARLY_ALL = 0.8  # of the time of heavy operators with known types, which one type has
_KNOWN = 0.5  # of the time of heavy operators, whose types are known
_MUCH = 0.25  # of a unit, which heavy operators take: of less, another type explains little
FLOAT32 = "float32_tf32"  # some with all digits, some as TF32


def other_types(sides: tuple[ExplainedSide, ExplainedSide]) -> tuple[str, str] | None:
    """Return what nearly all heavy operators (matrix products, convolutions, attention) of each
    side multiply, by their time, as `number_types` has it, or FLOAT32 where some of them multiply
    float32 as TF32, where the two are different; None where they are equal, mixed, mostly unknown,
    or heavy operators take little of a unit."""
    before, after = (_type(side) for side in sides)
    return None if before is None or after is None or before == after else (before, after)


def _type(side: ExplainedSide) -> str | None:
    operators = side.profile.operators
    are_heavy = np.array([is_heavy(kernel.op_class) for kernel in side.kernels], dtype=bool)
    types = number_types(side.trace.operators).tolist()
    times: dict[str | None, float] = {}
    for operator, ns in zip(operators.tolist(), side.ns.tolist(), strict=True):
        if are_heavy[operator]:
            times[types[operator]] = times.get(types[operator], 0.0) + ns
    whole = sum(times.values())
    known = whole - times.pop(None, 0.0)
    if known < max(1.0, _KNOWN * whole) or whole < _MUCH * side.units.mean_ns:
        return None
    most = max(times, key=lambda name: times[name])
    if times[most] >= _NEARLY_ALL * known:
        return most
    both = sum(times.get(name, 0.0) for name in ("float32", "tf32"))
    return FLOAT32 if both >= _NEARLY_ALL * known else None
