"""Launches: which operator of the host had a task of an Ascend device run, and its inputs.

A flow leads from the host to the task. It begins at the call of the operator library
(`aclnnAddmm`), inside the framework's operator (`aten::addmm`), which is the one to name.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from analysis.readers.building.trace_tables import dtype_bytes, dtype_name, shape_text
from analysis.readers.input.json_value import decode
from analysis.text import clean_text

Point = tuple[object, object, int]  # process, thread, start in ns
_FRAMEWORK_OP = re.compile(r"[A-Za-z_]\w*::")  # aten::, npu::, c10d::
_NO_OPERATOR = re.compile(r"autograd::engine|Optimizer\.|ProfilerStep")
_MAX_TENSORS = 4096


@dataclass(frozen=True)
class HostCall:
    """One call of an operator on the host; times in ns, `dims` and `dtypes` as in the file."""

    name: str
    pid: object
    tid: object
    start_ns: int
    dur_ns: int
    dims: bytes = b""
    dtypes: bytes = b""

    @property
    def end_ns(self) -> int:
        return self.start_ns + self.dur_ns


def is_framework_op(name: str) -> bool:
    """True for the name of an operator of the framework, as in `aten::addmm`."""
    return _FRAMEWORK_OP.match(name) is not None and _NO_OPERATOR.match(name) is None


def launchers(calls: Iterable[HostCall], points: Iterable[Point]) -> dict[Point, HostCall]:
    """The operator behind each point at which a flow begins.

    The innermost operator of the framework around the point, else the longest call that begins
    there; points that no call holds are left out.
    """
    by_thread: dict[tuple[object, object], list[HostCall]] = {}
    for call in calls:
        by_thread.setdefault((call.pid, call.tid), []).append(call)
    wanted: dict[tuple[object, object], list[int]] = {}
    for pid, tid, start in points:
        if (pid, tid) in by_thread:
            wanted.setdefault((pid, tid), []).append(start)
    found: dict[Point, HostCall] = {}
    for (pid, tid), starts in wanted.items():
        ordered = sorted(by_thread[pid, tid], key=lambda call: (call.start_ns, -call.dur_ns))
        for start, call in _around(ordered, sorted(starts)):
            found[pid, tid, start] = call
    return found


def _around(calls: Sequence[HostCall], starts: Sequence[int]) -> Iterable[tuple[int, HostCall]]:
    """Each point of one thread with its operator; both sorted."""
    begins = [call.start_ns for call in calls]
    # Open calls, each with the innermost operator of the framework among it and those around it.
    stack: list[tuple[HostCall, HostCall | None]] = []
    index = 0
    for start in starts:
        while index < len(calls) and begins[index] <= start:
            call = calls[index]
            index += 1
            while stack and stack[-1][0].end_ns < call.start_ns:
                stack.pop()
            around = stack[-1][1] if stack else None
            if around is not None and around.end_ns < call.start_ns:
                around = None
            stack.append((call, call if is_framework_op(call.name) else around))
        while stack and stack[-1][0].end_ns < start:
            stack.pop()
        operator = stack[-1][1] if stack else None
        if operator is not None and operator.end_ns >= start:
            yield start, operator
            continue
        first = bisect_left(begins, start)
        if first < len(calls) and begins[first] == start:
            yield start, calls[first]


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
