"""Calls of the host and ranges that a program marked, as profilers of GPUs write them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fusescope.analysis.host_activity import ANNOTATION, RUNTIME, HostActivity
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.building.call_stacks import Moments
from fusescope.analysis.readers.building.host.spans import HostSpans, host_activity
from fusescope.analysis.readers.building.range_names import without_call
from fusescope.analysis.trace import Diagnostic

Key = tuple[Hashable, Hashable]  # process and correlation


@dataclass(frozen=True)
class HostCall:
    """A call of the host that launched something: when, on which thread, its name."""

    start: int
    thread: Hashable
    name: str | None
    end: int | None = None


@dataclass(frozen=True)
class HostRange:
    """An NVTX range of the host; `thread` is None where its ends may be on two threads."""

    start: int
    end: int
    text: str
    process: Hashable
    thread: Hashable | None


@dataclass(frozen=True)
class Host:
    """All that the host did in the processes of a trace, and the texts of processes and threads."""

    calls: Mapping[Key, HostCall]
    ranges: Sequence[HostRange]
    process_name: Callable[[object], str] = str
    thread_name: Callable[[Hashable], str] = str

    def activity(
        self, columns: Mapping[str, Sequence[object]], limits: Limits
    ) -> tuple[HostActivity | None, list[Diagnostic]]:
        """The activity of the host, and notes. `columns` are those of what ran on the device, with
        its process and correlation; ranges that begin and end on two threads are on one of
        their process."""
        lanes: dict[tuple[object, Hashable], int] = {}
        names: dict[str, int] = {}
        spans: list[tuple[int, int, int, int, int]] = []
        lane_of: dict[Key, int] = {}
        for key, call in self.calls.items():
            lane = lane_of[key] = lanes.setdefault((key[0], call.thread), len(lanes))
            name = names.setdefault(call.name or "", len(names))
            length = max(0, (call.end or 0) - call.start)
            spans.append((lane, call.start, length, name, RUNTIME))
        texts: dict[str, str] = {}
        for one in self.ranges:
            lane = lanes.setdefault((one.process, one.thread), len(lanes))
            text = texts.get(one.text)
            if text is None:
                text = texts[one.text] = without_call(one.text)
            name = names.setdefault(text, len(names))
            spans.append((lane, one.start, one.end - one.start, name, ANNOTATION))
        told = np.array(spans, dtype="int64").reshape(-1, 5)
        return host_activity(
            HostSpans(
                told[:, 0].astype("int32"), told[:, 1], told[:, 2], told[:, 3].astype("int32"),
                told[:, 4],
            ),
            self._launches(columns, lane_of),
            list(names),
            [
                (self.process_name(process), "" if thread is None else self.thread_name(thread))
                for process, thread in lanes
            ],
            limits,
        )  # fmt: skip

    def _launches(
        self, columns: Mapping[str, Sequence[object]], lane_of: Mapping[Key, int]
    ) -> Moments:
        found = []
        for process, correlation, row in zip(
            columns["process"], columns["correlation"], columns["source_row"], strict=True
        ):
            call = self.calls.get((process, correlation))
            if call is not None:
                found.append((lane_of[process, correlation], call.start, row))
        told = np.array(found, dtype="int64").reshape(-1, 3)
        return Moments(told[:, 0], told[:, 1], told[:, 2])
