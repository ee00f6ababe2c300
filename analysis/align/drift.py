"""How much faster or slower kernels run that did not change, and executions far beyond the others.

When everything that is the same on both sides runs at 0.976 times its time, the machine was faster,
by its clocks or its temperature, and the change did not do it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fusescope.analysis.align.alignment import Alignment
from fusescope.analysis.align.sequence import Ints, Kernel, Sequence

_KERNELS = 20  # distinct, that are enough to show the clocks
_SHARE = 0.3  # of the time, which is enough with fewer kernels
SHIFT = 0.005  # below which no clocks are told
_FARTHEST = 1.6  # no clocks differ by more
_AGREE = 0.65  # the share of the time of kernels that shift alike
_ALIKE = (1 / 3, 2)  # times the median shift
_FAR = 3  # times the usual ratio of a kernel, beyond which an execution shows no clocks
_FEWEST = 8  # executions that show what is usual
_BEYOND = 3  # times the longest of the others
_AT_MOST = 0.01  # the share of the executions of a kernel
_LEAST = 0.0005  # the share of the time of the side, below which nobody asks


@dataclass(frozen=True)
class Drift:
    """How the time of kernels changed that are the same on both sides.

    `before_ns` and `after_ns` are their times, without communication, which waits for others, and
    without executions far from the usual. `kernels` counts the distinct ones, `share` (0 to 1) is
    theirs of the time before. `median`, `low` and `high` are the median and the quartiles over
    kernels, by their time before, of time after divided by time before; `agreeing` (0 to 1) is the
    share of that time of kernels that shift to the same side as the median, by a third to twice as
    much.
    """

    before_ns: int
    after_ns: int
    kernels: int
    share: float
    low: float
    median: float
    high: float
    agreeing: float

    @property
    def ratio(self) -> float:
        """The time after divided by the time before, of all of them together."""
        return self.after_ns / self.before_ns

    @property
    def is_clocks(self) -> bool:
        """True where most of them shift alike, by 0.5 % or more: 65 % of their time, of 20 kernels
        or of 30 % of the time of the side. Kernels bound by memory do not follow the clocks."""
        is_enough = self.kernels >= _KERNELS or self.share >= _SHARE
        shifts = (self.ratio - 1, self.median - 1)
        is_shifted = min(map(abs, shifts)) >= SHIFT and shifts[0] * shifts[1] > 0
        is_possible = 1 / _FARTHEST <= self.median <= _FARTHEST
        return is_enough and is_shifted and is_possible and self.agreeing >= _AGREE


def drift(alignment: Alignment) -> Drift | None:
    """Return the drift of the kernels that are the same; None where there are none with a time.

    A kernel counts under each operator of the host on its own, by the median over its executions.
    """
    rows = alignment.columns[alignment.is_same]
    before = alignment.before.durations[rows[:, 0]] if len(rows) else rows[:, 0]
    after = alignment.after.durations[rows[:, 1]] if len(rows) else rows[:, 1]
    groups = _groups(alignment.before)[alignment.before.ids[rows[:, 0]]] if len(rows) else before
    is_kept = (before > 0) & ~_communicates(alignment.before)[groups]
    before, after, groups = before[is_kept], after[is_kept], groups[is_kept]
    if not len(before):
        return None
    groups = np.unique(groups, return_inverse=True)[1]
    ratios = after / before
    usual = _medians(groups, ratios)
    is_usual = (ratios <= _FAR * usual[groups]) & (_FAR * ratios >= usual[groups])
    times = np.bincount(groups, before)
    low, median, high = weighted_quantiles(usual, times, (0.25, 0.5, 0.75))
    agrees = follows(usual, median)
    return Drift(
        before_ns=int(before[is_usual].sum()),
        after_ns=int(after[is_usual].sum()),
        kernels=len(usual),
        share=float(before[is_usual].sum() / max(1, alignment.before.total_ns)),
        low=low,
        median=median,
        high=high,
        agreeing=float(times[agrees].sum() / times.sum()),
    )


def follows(ratios: NDArray[np.float64], median: float) -> NDArray[np.bool_]:
    """Return which ratios shift to the same side as the median, by a third to twice as much."""
    shift = (ratios - 1) / (median - 1) if median != 1 else np.zeros(len(ratios))
    chosen: NDArray[np.bool_] = (shift >= _ALIKE[0]) & (shift <= _ALIKE[1])
    return chosen


@dataclass(frozen=True)
class Outlier:
    """An execution far beyond the others of its kernel; `usual_ns` is the median of `count`."""

    kernel: Kernel
    position: int
    ns: int
    usual_ns: int
    count: int

    @property
    def excess_ns(self) -> int:
        """The time that it took more than usual."""
        return self.ns - self.usual_ns


def outliers(side: Sequence) -> tuple[Outlier, ...]:
    """Return executions of more than 3 times the longest other of their kernel, longest first.

    At most one of 8 executions to 100 is one, and one more for each 100 beyond; what took less than
    0.05 % of the time of the side more than usual is left out.
    """
    if not len(side):
        return ()
    groups = _groups(side)[side.ids]
    order = np.lexsort((side.durations, groups))
    bounds = np.flatnonzero(np.diff(groups[order], prepend=-1, append=-1))
    counts = np.diff(bounds)
    found = []
    for row in np.flatnonzero(counts >= _FEWEST).tolist():
        positions = order[bounds[row] : bounds[row + 1]]
        usual = int(side.durations[positions[len(positions) // 2]])
        for position in _far_beyond(positions, side.durations):
            kernel, ns = side.kernel(position), int(side.durations[position])
            found.append(Outlier(kernel, position, ns, usual, len(positions)))
    kept = [outlier for outlier in found if outlier.excess_ns >= _LEAST * side.total_ns]
    return tuple(sorted(kept, key=lambda outlier: -outlier.excess_ns))


def _far_beyond(positions: Ints, durations: Ints) -> list[int]:
    """Return which of the positions, in order of duration, are far beyond those before them."""
    most = max(1, int(_AT_MOST * len(positions)))
    longest = durations[positions[-most - 1 :]]
    jumps = np.flatnonzero(longest[1:] > _BEYOND * longest[:-1])
    if not len(jumps):
        return []
    beyond: list[int] = positions[len(positions) - most + int(jumps[0]) :].tolist()
    return beyond


def _groups(side: Sequence) -> Ints:
    """Return a number for each kernel: one for each lasting name and operator of the host."""
    known: dict[tuple[str, str], int] = {}
    keys = [(kernel.lasting_name, kernel.launcher) for kernel in side.kernels]
    return np.array([known.setdefault(key, len(known)) for key in keys], np.int64)


def _communicates(side: Sequence) -> NDArray[np.bool_]:
    """Return for each group whether its kernel communicates."""
    found = np.zeros(len(side.kernels), bool)
    found[_groups(side)] = [kernel.op_class == "communication" for kernel in side.kernels]
    return found


def _medians(groups: Ints, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median of each group; the groups are numbered without a gap."""
    ordered = values[np.lexsort((values, groups))]
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    lower, upper = ordered[starts + (sizes - 1) // 2], ordered[starts + sizes // 2]
    medians: NDArray[np.float64] = (lower + upper) / 2
    return medians


def weighted_quantiles(
    values: NDArray[np.float64], weights: NDArray[Any], shares: tuple[float, ...]
) -> list[float]:
    """Return the values below which these shares of the weight lie."""
    order = np.argsort(values)
    reached = np.cumsum(weights[order]) / weights.sum()
    places = np.minimum(np.searchsorted(reached, shares), len(values) - 1)
    found: list[float] = values[order[places]].tolist()
    return found
