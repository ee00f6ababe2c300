"""Profile of a unit: the kernels of one unit in order, each with its mean over all units."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fusescope.analysis.metrics.spans import call_times
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units.units import Units


@dataclass(frozen=True, eq=False)
class Profile:
    """The kernels of one unit, of all its units together.

    `operators` are the trace's numbers of the kernels of the most common unit, of the busiest
    stream first, in order of start within a stream; `streams` the number of the stream of each.
    `totals_ns` is the time of each summed over all `count` units, `longest_ns` and `longest_unit`
    the longest single one and its unit, `calls` the call in the most common unit, a row of the
    trace's calls. What other units ran beyond those kernels is in `extra_ns`, by operator.
    """

    operators: np.ndarray
    streams: np.ndarray
    totals_ns: np.ndarray
    longest_ns: np.ndarray
    longest_unit: np.ndarray
    calls: np.ndarray
    extra_ns: dict[int, int]
    count: int
    place_of: np.ndarray

    def taken(self, chosen: np.ndarray) -> Profile:
        """Return only the kernels that a mask chooses."""
        places = np.append(np.where(chosen, np.cumsum(chosen) - 1, -1), -1)
        columns = ("operators", "streams", "totals_ns", "longest_ns", "longest_unit", "calls")
        taken = {name: getattr(self, name)[chosen] for name in columns}
        return replace(self, place_of=places[self.place_of], **taken)

    @property
    def kernels_ns(self) -> int:
        """Return the time of all kernels of all units, in ns."""
        return int(self.totals_ns.sum()) + sum(self.extra_ns.values())


def profile_of(trace: Trace, units: Units) -> Profile:
    """Return the kernels of one unit with their times over all units.

    The k-th execution of a kernel in a unit is the k-th in any other: within one file a kernel has
    one name, while what launched it is not known in every unit. A file with
    totals only has each of them as one kernel.
    """
    calls = trace.calls
    starts, _ = call_times(calls)
    operators = calls["operator"].to_numpy()
    streams = _ranked_streams(trace)
    inside = np.flatnonzero(units.unit_of >= 0)
    order = inside[np.lexsort((starts[inside], streams[inside], units.unit_of[inside]))]
    of, dur_ns = operators[order], calls["dur_ns"].to_numpy()[order]
    name = trace.operators["name"].cat.codes.to_numpy("int64")[of] + 1
    unit = units.unit_of[order]
    model = order[unit == _most_common(unit, name, units)]
    occurrence = _occurrence(unit, name)
    key = name * (int(occurrence.max(initial=0)) + 1) + occurrence
    chosen = np.flatnonzero(np.isin(order, model))
    place = _places(key, key[chosen])
    is_common = place >= 0
    totals = np.zeros(len(chosen), dtype="int64")
    np.add.at(totals, place[is_common], dur_ns[is_common])
    longest_ns, longest_unit = _longest(place, dur_ns, unit, len(chosen))
    extra = np.bincount(of[~is_common], weights=dur_ns[~is_common])
    place_of = np.full(len(operators), -1, dtype="int64")
    place_of[order] = place
    return Profile(
        operators=of[chosen],
        streams=streams[order][chosen],
        totals_ns=totals,
        longest_ns=longest_ns,
        longest_unit=longest_unit,
        calls=order[chosen],
        extra_ns={at: round(ns) for at, ns in enumerate(extra) if ns},
        count=units.count,
        place_of=place_of,
    )


def _places(values: np.ndarray, distinct: np.ndarray) -> np.ndarray:
    """Return where each of these values stands among distinct ones, -1 for one that does not."""
    if not len(distinct):
        return np.full(len(values), -1, dtype="int64")
    order = np.argsort(distinct, kind="stable")
    at = np.minimum(np.searchsorted(distinct[order], values), len(distinct) - 1)
    return np.where(distinct[order][at] == values, order[at], -1)


def _ranked_streams(trace: Trace) -> np.ndarray:
    """Return the rank of the stream of each call, 0 for the one with most calls: how streams
    interleave differs from run to run."""
    codes = trace.calls["stream"].cat.codes.to_numpy("int64") + 1
    counts = np.bincount(codes)
    ranks = np.empty(len(counts), dtype="int64")
    ranks[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return ranks[codes]


def _most_common(unit: np.ndarray, of: np.ndarray, units: Units) -> int:
    """Return the first unit whose sequence of operators most units share; where no two are equal,
    one whose length is the median."""
    edges = np.searchsorted(unit, np.arange(units.count + 1))
    sequences = [of[edges[at] : edges[at + 1]].tobytes() for at in range(units.count)]
    seen: dict[bytes, int] = {}
    for sequence in sequences:
        seen[sequence] = seen.get(sequence, 0) + 1
    if max(seen.values()) == 1:
        return int(np.argsort(np.diff(edges), kind="stable")[(units.count - 1) // 2])
    best = max(seen.values())
    return next(at for at, sequence in enumerate(sequences) if seen[sequence] == best)


def _occurrence(unit: np.ndarray, of: np.ndarray) -> np.ndarray:
    """Return for each execution how often its operator ran before it in the same unit."""
    order = np.lexsort((np.arange(len(of)), of, unit))
    new = np.ones(len(of), dtype=bool)
    new[1:] = (of[order][1:] != of[order][:-1]) | (unit[order][1:] != unit[order][:-1])
    firsts = np.flatnonzero(new)
    before = np.arange(len(of)) - np.repeat(firsts, np.diff(np.append(firsts, len(of))))
    occurrence = np.empty(len(of), dtype="int64")
    occurrence[order] = before
    return occurrence


def _longest(
    place: np.ndarray, dur_ns: np.ndarray, unit: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the longest execution at each place, and the unit in which it ran."""
    known = np.flatnonzero(place >= 0)
    order = known[np.lexsort((dur_ns[known], place[known]))]
    longest_ns, longest_unit = (np.zeros(count, dtype="int64") for _ in range(2))
    longest_ns[place[order]] = dur_ns[order]  # of equal places the last one stays
    longest_unit[place[order]] = unit[order]
    return longest_ns, longest_unit
