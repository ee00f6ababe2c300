"""Launches: which operator of the host had a task of an Ascend device run, and its inputs.

A flow leads from the host to the task. It begins at the call of the operator library
(`aclnnAddmm`), inside the framework's operator (`aten::addmm`), which is the one to name.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fusescope.analysis.readers.ascend.events import FLOWS, Flows, Group
from fusescope.analysis.readers.building.coded import Bools, Whole
from fusescope.analysis.readers.building.timetable import Ints, Timetable, starts_of
from fusescope.analysis.readers.building.trace_tables import dtype_bytes, dtype_name, shape_text
from fusescope.analysis.readers.input.json_value import decode
from fusescope.analysis.text import clean_text

_FRAMEWORK_OP = re.compile(r"[A-Za-z_]\w*::")  # aten::, npu::, c10d::
_NO_OPERATOR = re.compile(r"autograd::engine|Optimizer\.|ProfilerStep")
_MAX_TENSORS = 4096


@dataclass(frozen=True)
class HostCalls:
    """Calls of the host: numbers of threads, times in ns, and which are of the framework."""

    lanes: Ints
    starts: Ints
    lengths: Ints
    is_framework: Bools


def is_framework_op(name: str) -> bool:
    """True for the name of an operator of the framework, as in `aten::addmm`."""
    return _FRAMEWORK_OP.match(name) is not None and _NO_OPERATOR.match(name) is None


class Arrows:
    """Flows from operators of the host to tasks of devices: where each begins and ends.

    Those of the framework say more than those of the driver, and take their place where
    `categories` has both. `lane_of` are numbers of the threads of groups.
    """

    def __init__(
        self,
        flows: Flows,
        groups: Sequence[Group],
        lane_of: Ints,
        categories: Sequence[str] = FLOWS,
    ) -> None:
        begins, ends = [], []
        for cat in categories:
            first, last = (np.flatnonzero(_of_groups(flows, groups, ph, cat)) for ph in ("s", "f"))
            ids, at = np.unique(flows.ids[first], return_index=True)
            last = last[np.sort(np.unique(flows.ids[last], return_index=True)[1])]
            places = np.minimum(np.searchsorted(ids, flows.ids[last]), max(0, len(ids) - 1))
            is_pair = ids[places] == flows.ids[last] if len(ids) else np.zeros(len(last), bool)
            begins.append(first[at[places[is_pair]]])
            ends.append(last[is_pair])
        self._begins, to = np.concatenate(begins), np.concatenate(ends)
        self._lanes, self._times = lane_of[flows.groups], flows.times
        self._ends = Timetable(self._lanes[to], self._times[to])

    def begins(self, lanes: Ints, times: Ints) -> tuple[Ints, Whole]:
        """The thread and the time where the last flow to each of these points begins."""
        at = self._ends.last(lanes, times)
        known = at >= 0
        known[known] = self._ends.times[at[known]] == times[known]
        begins = np.zeros(len(at), dtype="int64")
        begins[known] = self._begins[self._ends.order[at[known]]]
        if not len(self._times):
            return begins, Whole(begins, known)
        return self._lanes[begins], Whole(np.where(known, self._times[begins], 0), known)


def _of_groups(flows: Flows, groups: Sequence[Group], ph: str, cat: str) -> Bools:
    """Which flows are of groups of that phase and category."""
    wanted = np.array([group.ph == ph and group.cat == cat for group in groups], dtype=bool)
    return wanted[flows.groups] if len(flows.groups) else np.zeros(0, dtype=bool)


def launchers(calls: HostCalls, lanes: Ints, times: Ints) -> Ints:
    """The place of the operator behind each point, a thread and a time in ns.

    The innermost operator of the framework around the point, else the longest call that begins
    there; -1 where no call holds it.
    """
    found = np.full(len(times), -1, dtype="int64")
    table = Timetable(calls.lanes, calls.starts, calls.lengths)
    order = np.lexsort((times, lanes))
    sorted_lanes = lanes[order]
    for first in np.flatnonzero(starts_of(sorted_lanes)).tolist():
        lane = sorted_lanes[first]
        points = order[first : np.searchsorted(sorted_lanes, lane, side="right")]
        of_lane = slice(*np.searchsorted(table.groups, [lane, lane + 1]).tolist())
        places = table.order[of_lane]
        begins = table.times[of_lane]
        around = _around(
            begins.tolist(),
            (begins + calls.lengths[places]).tolist(),
            calls.is_framework[places].tolist(),
            times[points].tolist(),
        )
        at = np.array(around, dtype="int64")
        found[points] = np.where(at >= 0, np.append(places, -1)[at], -1)
    return found


def _around(
    begins: Sequence[int], ends: Sequence[int], is_framework: Sequence[bool], times: Sequence[int]
) -> list[int]:
    """The operator of each time among the calls of one thread, -1 for none; both in order."""
    found = []
    # Open calls, each with the innermost operator of the framework among it and those around it.
    stack: list[tuple[int, int]] = []
    index = 0
    for time in times:
        while index < len(begins) and begins[index] <= time:
            begin = begins[index]
            while stack and ends[stack[-1][0]] < begin:
                stack.pop()
            around = stack[-1][1] if stack else -1
            if is_framework[index]:
                around = index
            elif around >= 0 and ends[around] < begin:
                around = -1
            stack.append((index, around))
            index += 1
        while stack and ends[stack[-1][0]] < time:
            stack.pop()
        operator = stack[-1][1] if stack else -1
        if operator < 0 or ends[operator] < time:
            first = bisect_left(begins, time)
            operator = first if first < len(begins) and begins[first] == time else -1
        found.append(operator)
    return found


def input_text(dims: bytes, dtypes: bytes) -> str:
    """Canonical text of the JSON texts '1,3;\\r\\n;' and 'float;\\r\\nScalar;'; '' for no tensor.

    An argument is a tensor when its type has a size: scalars, lists and absent ones have none.
    """
    tensors = [
        (dtype, shape)
        for dtype, shape in zip(map(dtype_name, _slots(dtypes)), _slots(dims), strict=False)
        if dtype_bytes(dtype) is not None and re.fullmatch(r"[0-9,]*", shape)
    ]
    if len(tensors) > _MAX_TENSORS:
        return ""
    return shape_text([dtype for dtype, _ in tensors], [shape for _, shape in tensors])


def _slots(raw: bytes) -> list[str]:
    """The arguments: text with ';' between them, or a list."""
    value = decode(raw, object, []) if raw else ""
    if isinstance(value, str):
        return [part.strip(" \t\r\n[]").replace(" ", "") for part in value.split(";")]
    if isinstance(value, list):
        return [
            ",".join(map(str, part)) if isinstance(part, list) else clean_text(str(part), 40)
            for part in value
        ]
    return []
