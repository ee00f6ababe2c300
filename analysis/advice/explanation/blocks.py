"""What the time of a unit goes to: layers that repeat, classes of operators, collectives."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from fusescope.analysis.advice.explanation.explanation import ClassOfUnit, Collective, Layers
from fusescope.analysis.advice.explanation.spans import names_around
from fusescope.analysis.advice.explanation.traced import Traced
from fusescope.analysis.align.repeats import Repeat, fold
from fusescope.analysis.compare.explanation.explanation import KernelTime
from fusescope.analysis.compare.explanation.sides import ExplainedSide, collective
from fusescope.analysis.compare.joining.same_place import same_place
from fusescope.analysis.ranks.bus import bus_bandwidth
from fusescope.analysis.trace import Trace

_FEWEST = 4  # copies, from which kernels are layers
_LEAST = 0.1  # of the kernels' time, which layers of one kind take
_ALL = 0.3  # of it, which layers of all kinds take together
_INSIDE = 0.5  # of a copy, which the layers inside it take
_MOST = 2  # kinds of layers that are told
_ALIKE = 1.05  # times the shortest collective, up to which the longest is like it
_FAR = 1.5  # times the mean collective, from which the longest is not like the others
_UNLIKE = 2.0  # times the median copy, from which the longest is not like the others
_OF_MODULE = 0.8  # of the kernels of a layer, which run in the module that it is named after
_NAMED = 3  # kernels of no known class
_SHAPE = re.compile(r"([a-z]+\d*(?:_e\d\w+)?)\[([\d, ]*)\]\Z")
_BYTES = {
    "float64": 8, "int64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2, "int16": 2,
    "int8": 1, "uint8": 1, "bool": 1,
}  # fmt: skip
# The framework's own names of collectives, around the launch of their kernels.
_COLLECTIVE = re.compile(r"(?:nccl|gloo|hccl):\w+\Z|c10d::\w+\Z")
_PLAIN = re.compile(r"^(?:nccl:|gloo:|hccl:|c10d::)_?|_\Z")


def layers_of(side: ExplainedSide) -> tuple[Layers, ...]:
    """Return the largest repeats of a unit; none where they take less than a third of its
    kernels' time."""
    whole_ns = max(1.0, float(side.ns.sum()))
    found = _largest(side, side.ns, folded(side), whole_ns)
    return found if sum(each.all_ns for each in found) >= _ALL * whole_ns else ()


def _largest(
    side: ExplainedSide, ns: np.ndarray, repeats: Sequence[Repeat], whole_ns: float
) -> tuple[Layers, ...]:
    """Return those that take a tenth of this time or more, most first, by the time of each kernel
    of the unit. Fewer than four copies are layers only by those inside them."""
    times = {each: float(ns[each.start : each.stop].sum()) for each in repeats}
    long = sorted(
        (each for each in repeats if times[each] >= _LEAST * whole_ns),
        key=lambda each: -times[each],
    )
    found = [_layers(side, ns, each) for each in long]
    return tuple([each for each in found if each.copies >= _FEWEST or each.inside][:_MOST])


def folded(side: ExplainedSide) -> tuple[Repeat, ...]:
    """Return the repeats of the kernels of a unit, in order."""
    if not len(side.profile.operators):
        return ()
    names = [kernel.family for kernel in side.kernels]
    numbers = {name: at for at, name in enumerate(dict.fromkeys(names))}
    of = np.array([numbers[name] for name in names], dtype="int64")
    return fold(of[side.profile.operators])


def _layers(side: ExplainedSide, ns: np.ndarray, repeat: Repeat) -> Layers:
    operators = side.profile.operators[repeat.start : repeat.stop]
    largest, of_copies = _largest_kind(side, ns, repeat)
    lengths = repeat.lengths or (repeat.period,)
    return Layers(
        repeat.copies,
        repeat.period,
        round(float(ns[repeat.start : repeat.stop].sum()) / repeat.copies),
        largest,
        _module(side, repeat),
        _range_of_copies(ns, repeat),
        _inside(side, ns, repeat),
        frozenset(("copies",)) if side.are_copies[operators].any() else frozenset(),
        (min(lengths), max(lengths)),
        of_copies,
    )


def _largest_kind(
    side: ExplainedSide, ns: np.ndarray, repeat: Repeat
) -> tuple[KernelTime, tuple[int, int]]:
    """Return the kernels of one family that take most time in the mean copy, and the fewest and the
    most of them in one. Files of a compiler name the same kernel of each layer apart: such kernels
    are named by their family."""
    totals: dict[str, list[float]] = {}
    places: dict[str, list[int]] = {}
    names: dict[str, set[str]] = {}
    of_family: dict[str, int] = {}
    for position in range(repeat.start, repeat.stop):
        operator = int(side.profile.operators[position])
        family = side.kernels[operator].family
        entry = totals.setdefault(family, [0, 0.0])
        entry[0] += 1 / repeat.copies
        entry[1] += float(ns[position]) / repeat.copies
        places.setdefault(family, []).append(position)
        names.setdefault(family, set()).add(side.names[operator])
        of_family.setdefault(family, operator)
    family = max(totals, key=lambda each: totals[each][1])
    count, total_ns = totals[family]
    operator = of_family[family]
    largest = KernelTime(
        side.names[operator] if len(names[family]) == 1 else family,
        count,
        round(total_ns),
        side.kernels[operator].op_class,
        bool(side.are_copies[operator]),
    )
    copy_of = np.searchsorted(repeat.starts, places[family], side="right") - 1
    of_copies = np.bincount(copy_of, minlength=repeat.copies)
    return largest, (int(of_copies.min()), int(of_copies.max()))


def _range_of_copies(ns: np.ndarray, repeat: Repeat) -> tuple[int, int] | None:
    """Return the shortest and the longest copy of a repeat, where that takes far longer than the
    median one; None of others."""
    times = np.add.reduceat(ns[: repeat.stop], repeat.starts)
    if float(times.max()) < _UNLIKE * float(np.median(times)):
        return None
    return round(float(times.min())), round(float(times.max()))


def _inside(side: ExplainedSide, ns: np.ndarray, repeat: Repeat) -> tuple[Layers, ...]:
    """Return the layers of one copy by the mean of all copies, where they are most of it."""
    if not repeat.inside:
        return ()
    copy_ns = float(ns[repeat.start : repeat.stop].sum()) / repeat.copies
    found = _largest(side, _mean_of_copies(ns, repeat), repeat.inside, copy_ns)
    return found if sum(each.all_ns for each in found) >= _INSIDE * copy_ns else ()


def _mean_of_copies(ns: np.ndarray, repeat: Repeat) -> np.ndarray:
    """Return the times of a unit, in which the copy that holds what is inside has the mean of all
    copies as long as it: it stands for all of them."""
    lengths = repeat.lengths or (repeat.period,) * repeat.copies
    starts = repeat.starts[np.array(lengths) == repeat.period]
    places = np.arange(repeat.period)
    means = ns.copy()
    means[starts[0] + places] = ns[starts[:, None] + places].mean(axis=0)
    return means


def _module(side: ExplainedSide, repeat: Repeat) -> str:
    """Return the innermost type of module that holds most kernels of a repeat and not all those of
    the unit; '' for none."""
    counts: dict[tuple[str, ...], int] = {}
    for position in range(repeat.start, repeat.stop):
        path = side.modules[position]
        for depth in range(1, len(path) + 1):
            counts[path[:depth]] = counts.get(path[:depth], 0) + 1
    least = _OF_MODULE * (repeat.stop - repeat.start)
    deep = [path for path, count in counts.items() if count >= least]
    path = max(deep, key=len, default=())
    whole = sum(1 for each in side.modules if each[: len(path)] == path)
    is_root = len(path) == 1 and whole == sum(map(bool, side.modules))
    return "" if not path or is_root else path[-1]


def classes_of(side: ExplainedSide) -> tuple[ClassOfUnit, ...]:
    """Return the classes of operators of a unit, without communication, most time first."""
    totals: dict[str, list[float]] = {}
    profile = side.profile
    entries = [(at, 1.0, ns) for at, ns in zip(profile.operators.tolist(), side.ns, strict=True)]
    entries += [(at, 0.0, ns / max(1, profile.count)) for at, ns in profile.extra_ns.items()]
    for operator, count, ns in entries:
        entry = totals.setdefault(side.kernels[operator].op_class or "unknown", [0.0, 0.0])
        entry[0] += count
        entry[1] += float(ns)
    ranked = sorted(totals.items(), key=lambda item: -item[1][1])
    return tuple(ClassOfUnit(name, count, round(ns)) for name, (count, ns) in ranked)


def unknown_of(side: ExplainedSide) -> tuple[KernelTime, ...]:
    """Return the kernels of a unit that are of no known class, the few of most time."""
    totals: dict[int, list[float]] = {}
    for operator, ns in zip(side.profile.operators.tolist(), side.ns.tolist(), strict=True):
        if side.kernels[operator].op_class in ("", "unknown"):
            entry = totals.setdefault(operator, [0, 0.0])
            entry[0] += 1
            entry[1] += ns
    return side.named_times(totals)[:_NAMED]


def collectives_of(traced: Traced) -> tuple[Collective, ...]:
    """Return the collectives of a unit by name and size of their messages, most time first."""
    trace, units = traced.trace, traced.side.units
    operators = trace.calls["operator"].to_numpy()
    dur_ns = trace.calls["dur_ns"].to_numpy()
    talks = trace.operators["is_communication"].to_numpy(dtype=bool)
    is_chosen = talks[operators] & (units.unit_of >= 0)
    chosen = np.flatnonzero(is_chosen)
    like = same_place(trace, is_chosen & (traced.launched[0] < 0), units.unit_of)[chosen]
    lanes, times = (column[np.where(like < 0, chosen, like)] for column in traced.launched)
    named = names_around(trace.host, _COLLECTIVE, lanes, times)
    names, sizes = trace.texts("name"), message_bytes(trace)
    elements = [_elements(text) for text in trace.texts("inputs")]
    totals: dict[tuple[str, int | None, int | None], list[int]] = {}
    calls_of: dict[tuple[str, int | None, int | None], list[int]] = {}
    for call, around in zip(chosen.tolist(), named, strict=True):
        operator = int(operators[call])
        name = _PLAIN.sub("", around) if around else collective(names[operator])
        key = (name, sizes[operator], elements[operator])
        totals.setdefault(key, []).append(int(dur_ns[call]))
        calls_of.setdefault(key, []).append(call)
    found = []
    for (name, size, counts), ns in totals.items():
        each_ns = round(sum(ns) / len(ns))
        ranks = _ranks_and_bus(trace, calls_of[name, size, counts], each_ns)
        moved = _moved(trace, calls_of[name, size, counts])
        longest_ns = max(ns) if max(ns) > _FAR * each_ns else None
        of = Collective(name, len(ns) / units.count, each_ns, size, counts, *ranks, *moved)
        found.append(replace(of, longest_ns=longest_ns, are_alike=max(ns) <= _ALIKE * min(ns)))
    return tuple(sorted(found, key=lambda one: -one.count * one.each_ns))


def _ranks_and_bus(trace: Trace, calls: list[int], each_ns: int) -> tuple[int | None, float | None]:
    """Return how many ranks take part in these calls, and the bytes per second of the link that
    carries most; None where the file does not say it, or they differ."""
    if trace.collectives is None:
        return None, None
    table = trace.collectives.table
    rows = trace.calls["source_row"].to_numpy("int64", na_value=-1)[calls]
    mine = table[table["source_row"].isin(rows)]
    told = mine[["kind", "size", "bytes"]].drop_duplicates()
    if len(mine) < len(calls) or len(told) != 1 or told["size"].isna().any():
        return None, None
    kind, size, data = told.iloc[0]
    known = None if pd.isna(data) else int(data)
    return int(size), bus_bandwidth(str(kind), int(size), known, each_ns)


def _moved(trace: Trace, calls: list[int]) -> tuple[int | None, float | None]:
    """Return how long data moves in one of these calls on average, and the bytes per second over
    the links of the rank meanwhile, as the profiler counts them; None where it counts nothing of
    one of them, or no data moved."""
    if trace.collectives is None:
        return None, None
    table = trace.collectives.table
    rows = trace.calls["source_row"].to_numpy("int64", na_value=-1)[calls]
    mine = table[table["source_row"].isin(rows)]
    if len(mine) < len(calls) or mine[["transfer_ns", "link_bytes"]].isna().any(axis=None):
        return None, None
    moving_ns, moved = int(mine["transfer_ns"].sum()), int(mine["link_bytes"].sum())
    if not moving_ns or not moved:
        return None, None
    return round(moving_ns / len(mine)), moved / moving_ns * 1e9


def message_bytes(trace: Trace) -> list[int | None]:
    """Return the bytes of the message of each operator of a trace, of those that have one input
    whose type and shape are known; None for others."""
    return [_bytes(inputs) for inputs in trace.texts("inputs")]


def _bytes(inputs: str) -> int | None:
    match, elements = _SHAPE.match(inputs), _elements(inputs)
    size = _BYTES.get(match[1]) if match else None
    return None if size is None or elements is None else size * elements


def _elements(inputs: str) -> int | None:
    """Return the elements of the one input that these are; None for others."""
    match = _SHAPE.match(inputs)
    return (
        None
        if match is None
        else math.prod(int(each) for each in match[2].split(",") if each.strip())
    )
