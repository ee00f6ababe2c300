"""Hardware counters of PyTorch's experimental CUPTI profiler: `cuda_profiler_range` events.

With `profiler_measure_per_kernel` there is one for each kernel, in the order of their launches,
with the kernel's name. CUPTI runs kernels again and again to count, so most such files hold no
kernels with times: then the ranges are those of the calls that launched, one by one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from fusescope.analysis.readers.building.host.launch_calls import is_launch
from fusescope.analysis.readers.building.nesting import Nesting
from fusescope.analysis.readers.building.timetable import Ints, distinct
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.readers.pytorch.event import CounterRange, number
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.readers.pytorch.launches import Launched
from fusescope.analysis.readers.pytorch.spans import KINDS, NONE, Floats, Spans
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import CALL_COLUMNS, OPERATOR_COLUMNS, Diagnostic, noted

_MAX_COUNTERS = 300  # of one recording
_MAX_VALUE = 1e300
_SUM = re.compile(r"\S{1,200}\.sum|kineto__\w{1,100}")  # counters that add up: CUPTI's, Kineto's
_RESERVED = frozenset((*OPERATOR_COLUMNS, *CALL_COLUMNS))
_NAMED = 3


def counters_of_kernels(
    events: Sorted, launched: Launched
) -> tuple[dict[str, Floats], list[Diagnostic]]:
    """Counters as columns, NaN for none, a cell for each kernel, and notes. Ranges of a device are
    its kernels where they have the same names in the order of their launches."""
    kernels, tables = events.kernels, events.tables
    is_kernel = kernels.kinds == KINDS.index("kernel")
    times = np.where(launched.lanes != NONE, launched.times, kernels.starts)
    places: list[int] = []
    ranges: list[CounterRange] = []
    left: list[CounterRange] = []
    for device, own in _by_device(events.ranges).items():
        lanes = np.array([process == device for process, _ in tables.lanes], dtype=bool)
        ran = np.flatnonzero(is_kernel & lanes[kernels.lanes])
        ran = ran[np.lexsort((kernels.starts[ran], times[ran]))]
        if [tables.names[at] for at in kernels.names[ran].tolist()] == [one.name for one in own]:
            places += ran.tolist()
            ranges += own
        else:
            left += own
    columns, notes = _columns(ranges, np.array(places, dtype="int64"), len(kernels))
    return columns, [*notes, *_not_joined(left)]


def counters_of_host(events: Sorted, ops: Spans) -> tuple[dict[str, Floats], list[Diagnostic]]:
    """The same with a cell for each of these operators of the host: what the kernels that it
    launched counted, where the file has as many launches as ranges and no kernels.

    Sums are added up; other figures are only those of a single kernel.
    """
    calls = events.launches
    names = [at for at in distinct(calls.names).tolist() if is_launch(calls.tables.names[at])]
    calls = calls.take(np.flatnonzero(np.isin(calls.names, names)))
    ranges = sorted(events.ranges, key=lambda one: (one.start_ns, one.row))
    if not ranges or len(calls) != len(ranges) or len(_by_device(ranges)) > 1 or not len(ops):
        return {}, _not_joined(ranges)
    calls = calls.take(np.argsort(calls.starts, kind="stable"))
    holders = Nesting(ops.lanes, ops.starts, ops.lengths).holders(calls.lanes, calls.starts)
    known = np.flatnonzero(holders >= 0)
    columns, notes = _columns([ranges[at] for at in known.tolist()], holders[known], len(ops))
    left = [ranges[at] for at in np.flatnonzero(holders < 0).tolist()]
    notes += noted("info", "counters_of_launches", len(known))
    return columns, [*notes, *_not_joined(left)]


def _columns(
    ranges: Sequence[CounterRange], places: Ints, count: int
) -> tuple[dict[str, Floats], list[Diagnostic]]:
    """The counters of ranges at their places; at a place of several, sums alone."""
    columns: dict[str, Floats] = {}
    beyond: list[str] = []
    held = np.bincount(places, minlength=count)
    for one, place in zip(ranges, places.tolist(), strict=True):
        for name, raw in decode(one.counters, dict[str, msgspec.Raw], {}).items():
            value = number(raw)
            if value is None or name in _RESERVED or not abs(value) < _MAX_VALUE:
                continue
            if name not in columns and len(columns) >= _MAX_COUNTERS:
                beyond.append(name)
                continue
            if held[place] > 1 and _SUM.fullmatch(name) is None:
                continue
            column = columns.setdefault(name, np.full(count, math.nan))
            column[place] = value if math.isnan(column[place]) else column[place] + value
    return columns, noted("warning", "counters_beyond", beyond, chars=80)


def _not_joined(ranges: Sequence[CounterRange]) -> list[Diagnostic]:
    """A note on ranges that belong to nothing else in the file, with what they counted."""
    if not ranges:
        return []
    names = list(decode(ranges[0].counters, dict[str, object], {}))
    listed = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    values = {"names": clean_text(listed, 160)}
    example = clean_text(ranges[0].name, 80)
    return [Diagnostic("warning", "counters_of_ranges", len(ranges), example, values)]


def _by_device(ranges: Sequence[CounterRange]) -> Mapping[bytes, list[CounterRange]]:
    found: dict[bytes, list[CounterRange]] = {}
    for one in sorted(ranges, key=lambda one: (one.start_ns, one.row)):
        found.setdefault(one.device, []).append(one)
    return found
