"""Units that the order of the kernels shows: one repeat of the sequence that repeats most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from fusescope.analysis.align.repeats import Repeat, best_period
from fusescope.analysis.host.idle import idle_by_host
from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.metrics.heavy_work import Work, heavy_work
from fusescope.analysis.metrics.kernel_types import kernel_types
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.metrics.spans import busy_until, call_times
from fusescope.analysis.operators.kernel_names import memory_type
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units.units import OUTSIDE, UnitEnd, Units

_COVERED = 0.5  # of the kernels of the busiest stream, which repeats must hold
_DIFFERS = 0.02  # of the kernels of a repeat, which may be others than those of most repeats
_PAUSE = 0.5  # of a repeat, in which nothing runs behind its last kernel
_UNKNOWN = 0.5  # of those pauses, in which the file does not show what the host does
_CLEAR = 1.5  # times the second longest pause of a repeat, with which its longest one stands out
_SEEN = 0.005  # of a repeat, which that takes at least
_FEWEST = 3  # repeats, so that at least two lie between starts
_FEW_PRODUCTS = 3  # which are the same by chance
_MOST = 4  # repeats of one side that are one of the other, as where two kinds of layers alternate


def units_of_repeats(trace: Trace) -> Units | None:
    """Return the repeats of the busiest stream as units, each from its start to that of the next;
    the last one, whose end the file does not show, is left out. They begin behind the longest
    pause of a device, as after the host waited for it; where no pause stands out, with the first
    kernel that repeats. Where the device mostly pauses
    between them and nothing says why, each ends with its last kernel instead, and the last one is
    there too. None where too little repeats.

    Calls of other streams belong to the repeat in which they start.
    """
    repeated = _repeated(trace)
    units = None if repeated is None else repeated.units(repeated.phase, 1)
    if repeated is None or units is None or not repeated.are_calls_apart(units):
        return units
    return repeated.calls_apart(repeated.phase, 1)


def common_repeats(before: Trace, after: Trace) -> tuple[Units, Units] | None:
    """Return the repeats of both traces, beginning with the same kernel; None where one of them
    repeats too little, or their lengths have nothing to do with each other.

    Where a repeat of one side is as long as two to four of the other, those together are one unit.
    Each begins where it does alone if both begin with the same kernel, else both as the first.
    Repeats of any lengths are the same unit where they hold the same heavy work, as before and
    after fusion; each then begins where it does alone.
    """
    first, second = _repeated(before), _repeated(after)
    if first is None or second is None:
        return None
    counts = _together(first.repeat.period, second.repeat.period)
    if counts != (1, 1):
        same = _of_same_work(first, second)
        if same is not None or counts is None:
            return same
    begin = first.repeat.start + first.phase
    one = first.families[begin:][: first.repeat.period * counts[0]]
    shift = _shift(one, second, second.repeat.period * counts[1])
    one_side, other = first.units(first.phase, counts[0]), second.units(shift, counts[1])
    if one_side is None or other is None:
        return None
    are_apart = (first.are_calls_apart(one_side), second.are_calls_apart(other))
    if any(are_apart):
        ends: list[UnitEnd] = ["last_kernel" if apart else "last_as_other" for apart in are_apart]
        one_side = replace(first.calls_apart(first.phase, counts[0]), end=ends[0])
        other = replace(second.calls_apart(shift, counts[1]), end=ends[1])
    is_own = (counts[0] == 1, counts[1] == 1 and shift == second.phase)
    return replace(one_side, is_shared=not is_own[0]), replace(other, is_shared=not is_own[1])


def _of_same_work(first: _Repeated, second: _Repeated) -> tuple[Units, Units] | None:
    """Return the repeats of two traces that run the same matrix products and convolutions over the
    same sizes in the same order, each from where it begins alone; None of others. Of few such
    operators both have as many repeats, as one side may show twice the work under one size."""
    work, copies = first.heavy_work, first.repeat.copies
    if not work or work != second.heavy_work:
        return None
    if len(work) < _FEW_PRODUCTS and copies != second.repeat.copies:
        return None
    alone = units_of_repeats(first.trace), units_of_repeats(second.trace)
    one, other = alone
    if one is None or other is None or one.end != other.end:
        return None
    return one, other


@dataclass(frozen=True, eq=False)
class _Repeated:
    """The busiest stream of a trace: its calls in order of start, their families, their repeat."""

    trace: Trace
    calls: np.ndarray
    families: list[str]
    repeat: Repeat

    @cached_property
    def phase(self) -> int:
        """The number of kernels from the first one that repeats to the first of a unit: the one
        before which the device pauses longest in most repeats; 0 where no pause stands out."""
        on_device = (self.trace.operators["level"] == "device_kernel").to_numpy(dtype=bool)
        count, period = self.repeat.copies, self.repeat.period
        if not on_device[self.trace.calls["operator"].to_numpy()[self.calls]].all():
            return 0
        starts, lasts = call_times(self.trace.calls)
        begins = starts[self.calls]
        pauses = np.diff(begins) - np.diff(busy_until(starts, lasts)(begins))
        pauses = np.append(0, pauses)[self.repeat.start :][: count * period]
        usual = np.median(pauses.reshape(count, period)[1:], axis=0)
        longest, second = np.argsort(-usual, kind="stable")[:2]
        least = max(_CLEAR * usual[second], _SEEN * np.diff(begins).sum() * period / len(begins))
        return int(longest) if usual[longest] > least else 0

    @cached_property
    def heavy_work(self) -> Work:
        """Return the matrix products, convolutions and attention of one repeat; empty where their
        sizes are not known."""
        first = self.calls[self.repeat.start :][: self.repeat.period]
        return heavy_work(self.trace, self.trace.calls["operator"].to_numpy()[first])

    def units(self, shift: int, together: int, *, has_last: bool = False) -> Units | None:
        """Return the repeats from `shift` kernels behind the first one on, so many together, with
        the last one, whose end is not known, if it is whole, or without."""
        starts, _ = call_times(self.trace.calls)
        period = self.repeat.period * together
        stop = self.repeat.start + self.repeat.period * self.repeat.copies
        places = np.arange(self.repeat.start + shift, stop, period)
        edges = starts[self.calls[places]]
        is_whole = places[-1:].sum() + period <= self.repeat.start + self.repeat.covered
        if has_last and is_whole:
            edges = np.append(edges, np.iinfo("int64").max)
        if len(edges) < _FEWEST or (np.diff(edges) <= 0).any():
            return None
        at = np.searchsorted(edges, starts, side="right") - 1
        units = Units(
            "repeat",
            "",
            "ordered",
            np.where((at >= 0) & (at < len(edges) - 1), at, OUTSIDE),
            edges[:-1],
            np.diff(edges),
            ("",) * (len(edges) - 1),
        )
        whole = self._whole(self.repeat.start + shift, period, units.count)
        return units if len(whole) == units.count else units.taken(whole)

    def are_calls_apart(self, units: Units) -> bool:
        """True where the device pauses between repeats for more than half of the time, and the file
        does not show what the host does for most of that: nothing is known of what calls the next
        one."""
        lengths = self._lengths(units)
        if float(np.median((units.walls_ns - lengths) / units.walls_ns)) <= _PAUSE:
            return False
        ends = units.starts_ns + units.walls_ns
        idle = idle_by_host(self.trace, units.starts_ns + lengths, ends)
        if idle is None:
            return True
        unknown = sum(one.idle_ns for one in idle.causes if one.kind == "unknown")
        return unknown > _UNKNOWN * idle.idle_ns

    def calls_apart(self, shift: int, together: int) -> Units:
        """Return units that end with their last kernel of the busiest stream, with the last unit;
        what starts later belongs to none."""
        units = self.units(shift, together, has_last=True)
        assert units is not None  # it has at least the units that it has without the last
        lengths = self._lengths(units)
        starts, _ = call_times(self.trace.calls)
        ends = np.append(units.starts_ns + lengths, 0)
        unit_of = np.where(starts < ends[units.unit_of], units.unit_of, OUTSIDE)
        return replace(units, unit_of=unit_of, walls_ns=lengths, end="last_kernel")

    def _lengths(self, units: Units) -> np.ndarray:
        """Return the time from the start of each unit to the end of its last kernel."""
        starts, lasts = call_times(self.trace.calls)
        unit_of = units.unit_of[self.calls]
        ends = np.zeros(units.count, dtype="int64")
        inside = unit_of >= 0
        np.maximum.at(ends, unit_of[inside], (starts + lasts)[self.calls[inside]])
        lengths: np.ndarray = ends - units.starts_ns
        return lengths

    def _whole(self, first: int, period: int, count: int) -> np.ndarray:
        """Return which repeats have the kernels of the others: at the edges of what repeats one may
        hold some of something else. All of them where few agree."""
        numbers = {family: at for at, family in enumerate(dict.fromkeys(self.families))}
        of = np.array([numbers[family] for family in self.families], dtype="int64")
        rows = of[first : first + period * count].reshape(count, period)
        usual = np.array([np.bincount(column).argmax() for column in rows.T])
        whole = np.flatnonzero((rows != usual).mean(axis=1) <= _DIFFERS)
        return whole if len(whole) > 1 else np.arange(count)


def _repeated(trace: Trace) -> _Repeated | None:
    """Return the repeats of the kernels of the busiest stream, without copies and communication;
    None where they cover too little, or without starts."""
    found = _busiest(trace)
    return None if found is None else _Repeated(trace, *found)


@once
def _busiest(trace: Trace) -> tuple[np.ndarray, list[str], Repeat] | None:
    """Return the calls of the busiest stream in order of start, their families and their repeat."""
    calls = trace.calls
    if not len(calls) or calls["start_ns"].isna().any():
        return None
    starts, _ = call_times(calls)
    computes = ~(trace.operators["is_communication"].to_numpy() | _moves_data(trace))
    is_kernel = computes[calls["operator"].to_numpy()]
    stream = calls["stream"].cat.codes.to_numpy()
    if not is_kernel.any():
        return None
    busiest = np.bincount(stream[is_kernel] + 1).argmax() - 1
    mine = np.flatnonzero((stream == busiest) & is_kernel)
    mine = mine[np.argsort(starts[mine], kind="stable")]
    operators = calls["operator"].to_numpy()[mine]
    families, repeat = _best(trace, operators)
    if repeat is None or repeat.copies < _FEWEST or repeat.covered < _COVERED * len(mine):
        return None
    return mine, [families[at] for at in operators.tolist()], repeat


def _best(trace: Trace, operators: np.ndarray) -> tuple[list[str], Repeat | None]:
    """Return the family of each distinct operator and the repeat of these executions: by op type or
    by the name of the kernel, whichever repeats more. Some profilers name the operator of some
    kernels only, some give every operator a name of its own."""
    of_name = kernel_types(trace)
    codes = trace.operators["name"].cat.codes.tolist()
    names = [
        (of_name[code] if code >= 0 else "") or name
        for code, name in zip(codes, trace.texts("name"), strict=True)
    ]
    types = [family or name for family, name in zip(trace.texts("op_type"), names, strict=True)]
    choices = []
    for families in (types,) if types == names else (types, names):
        of, _ = pd.factorize(np.array(families, dtype=object))
        choices.append((families, best_period(of[operators])))
    return max(choices, key=lambda each: each[1].covered if each[1] else 0)


def _moves_data(trace: Trace) -> np.ndarray:
    """Return which operators copy or fill memory: how many there are differs from unit to unit."""
    moves: np.ndarray = copies_of(trace)
    for tells in (
        trace.each("name", lambda name: bool(memory_type(name))),
        trace.each("op_type", lambda op_type: bool(memory_type(op_type))),
    ):
        moves = moves | np.array(tells, dtype=bool)
    return moves


def _together(first: int, second: int) -> tuple[int, int] | None:
    """Return how many repeats of each side are one unit; None where no small number fits. Lengths
    may differ by a fifth, as where kernels were added."""
    for count in range(1, _MOST + 1):
        if abs(first - count * second) <= 0.2 * first:
            return 1, count
        if abs(second - count * first) <= 0.2 * second:
            return count, 1
    return None


def _shift(one: list[str], other: _Repeated, period: int) -> int:
    """Return how many kernels later a repeat of the other side begins as this one does: where most
    families stand at the same place."""
    start, count = other.repeat.start, len(other.families)
    numbers = {family: at for at, family in enumerate(dict.fromkeys((*one, *other.families)))}
    wanted = np.array([numbers[family] for family in one], dtype="int64")
    given = np.array([numbers[family] for family in other.families], dtype="int64")
    length = min(len(wanted), period)
    matches = [
        int((given[start + shift : start + shift + length] == wanted[:length]).sum())
        for shift in range(period)
        if start + shift + length <= count
    ]
    return int(np.argmax(matches)) if matches else 0
