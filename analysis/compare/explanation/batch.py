"""Another batch: tensors of the same kernels that are all larger by one factor in one dimension."""

from __future__ import annotations

from analysis.align.similarity import SAME_NAME
from analysis.compare.explanation.remaining import Remaining
from analysis.compare.joining.agreement import factor

_MOST = 0.8  # of the time of kernels with known shapes, which have the factor
_KNOWN = 0.5  # of the time of kernels that both sides run, whose shapes are known


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
