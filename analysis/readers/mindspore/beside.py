"""What the files beside a MindSpore recording add to it, and whether they agree with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from fusescope.analysis.messages import Message, Said
from fusescope.analysis.operators.members import members_text
from fusescope.analysis.readers.building.coded import Coded, coded, distinct_rows
from fusescope.analysis.readers.input.beside import Beside
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.mindspore.akg import is_kernel, members_of, read_kernels, sniff_info
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, noted

_NUMBERED = re.compile(r"-op\d+$")
_RANK = re.compile(r"_(\d{1,4})(?:_detail|_type|_detail_time)?\.\w+$")
_OWN_NAME = re.compile(
    r"(?:cpu_(?:op_(?:execute_timestamp|type_info|detail_info)|framework|ms_memory_record)"
    r"|output_(?:timeline_data|op_compute_time)|aicore_intermediate|aicpu_intermediate"
    r"|framework_raw|flops|step_trace_raw|(?:ascend_)?timeline_display"
    r"|gpu_(?:op_(?:type|detail)|activity_data)_info|gpu_framework)_\d"
)


class MindSporeBeside(Beside):
    """Files beside a recording, without those of another device of it.

    The profiler ends its names with the number of the device. In names of somebody's own a number
    may mean anything: there it only chooses among several files of a kind.
    """

    def those(self, known: Callable[[bytes], bool]) -> list[Source]:
        found = super().those(known)
        rank = _rank(self.source.name)
        if not rank:
            return found
        same = [other for other in found if _rank(other.name) in ("", rank)]
        if same or not _is_own(self.source):
            return same or found
        return [other for other in found if not _is_own(other)]


def contradiction(
    told: Mapping[str, tuple[int | None, int | None]],
    seen: Mapping[str, tuple[int, int]],
    where: str,
    tolerance: float,
) -> list[Diagnostic]:
    """A note where two files of one recording disagree on (executions, ns) of a name."""
    odd = []
    for name, (count, total) in told.items():
        if name not in seen:
            continue
        counted, summed = seen[name]
        other_count = count is not None and count != counted
        # Each execution may be off by one ns of rounding.
        allowed = tolerance * max(total or 0, summed) + max(1, counted)
        other_time = total is not None and abs(total - summed) > allowed
        if other_count or other_time:
            odd.append(
                _ODD.of(
                    name=clean_text(name, 80),
                    there=_amount(count, total),
                    file=where,
                    here=_amount(counted, summed),
                )
            )
    return noted("warning", "contradiction", odd)


def _amount(count: int | None, total: int | None) -> Said:
    time = _NO_TIME.of() if total is None else _MS.of(ms=f"{total / 1e6:.6g}")
    return time if count is None else _TIMES.of(n=count, time=time)


_ODD = Message("{name:name}: {there} in {file:name}, {here} in this file")
_NO_TIME = Message("no time")
_MS = Message("{ms} ms")
_TIMES = Message("{n:count}×, {time}")


def fused_columns(
    op_types: Sequence[object], inputs: Sequence[object], beside: MindSporeBeside
) -> dict[str, Sequence[object]]:
    """Members of fused kernels, and their tensors where AKG's files beside tell them."""
    types, texts = Coded.of(op_types).present(), Coded.of(inputs)
    if not any(is_kernel(str(kind)) for kind in types.values):
        return {}
    kernels, notes = read_kernels(Beside(beside.source).those(sniff_info))  # of every device
    beside.notes += notes
    numbers, first = distinct_rows(
        [types.codes, texts.codes], [len(types.values), len(texts.values)], len(types)
    )
    found: dict[str, list[object]] = {
        name: [] for name in ("members", "members_source", "inputs", "outputs")
    }
    for kind, text in zip(types.take(first), texts.take(first), strict=True):
        members, kernel = members_of(str(kind), str(text), kernels)
        found["members"].append(members_text(members) if members else None)
        found["members_source"].append(members.kind if members else None)
        found["inputs"].append(kernel.inputs if kernel else text)
        found["outputs"].append(kernel.outputs if kernel else None)
        if kernel and kernel.path not in beside.files:
            beside.files.append(kernel.path)
    return {name: coded(numbers, values) for name, values in found.items()}


def type_of(full_name: str) -> str:
    """The op type in a name: 'Default/c-Conv2d/Conv2D-op0' -> 'Conv2D'."""
    return _NUMBERED.sub("", short_name(full_name))


def short_name(full_name: str) -> str:
    """The name without its scopes: 'Default/c-Conv2d/Conv2D-op0' -> 'Conv2D-op0'."""
    return full_name.rsplit("/", 1)[-1]


def _rank(name: str) -> str:
    match = _RANK.search(name)
    return match[1] if match else ""


def _is_own(source: Source) -> bool:
    """True where the profiler named the file."""
    return _OWN_NAME.match(source.name) is not None
