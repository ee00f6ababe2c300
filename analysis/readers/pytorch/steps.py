"""Steps of a Kineto trace: `ProfilerStep#N`, and which of them a kernel belongs to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusescope.analysis.readers.building.coded import Whole
from fusescope.analysis.readers.building.iterations import launched_before
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.readers.pytorch.event import Span
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.readers.pytorch.launches import Launched
from fusescope.analysis.readers.pytorch.spans import NONE, Spans


class Steps:
    """The profiler's steps in order of time, as (start_ns, end_ns); a run is a position in them.

    Each step stands in a file twice, as the host and as the device saw it: the host's copy counts,
    because its steps follow each other without a gap. Copies of one step by several processes are
    one run, from the first start to the last end, where they overlap.
    """

    def __init__(self, events: Sorted) -> None:
        self._of_host = bool(events.steps)
        numbers, self.spans = _merged(events.steps or events.device_steps)
        self._spans = _Places(self.spans)
        self._by_number = dict(zip(numbers, range(len(numbers)), strict=True))
        by_device: dict[bytes, list[tuple[int, Span]]] = {}
        for number, span in events.device_steps:
            by_device.setdefault(span.lane[0], []).append((number, span))
        self._device_copies = {device: _merged(steps) for device, steps in by_device.items()}

    def at(self, time_ns: int) -> int | None:
        """The run that a moment lies in; None outside every step."""
        return self.all_at(np.array([time_ns]))[0]

    def all_at(self, times_ns: Ints) -> Whole:
        """The same of many moments."""
        places = self._spans.at(times_ns)
        return Whole(places, places != NONE)

    def of(self, kernels: Spans, launched: Launched) -> Whole:
        """The run of each kernel: the step that launched it, though it may run in the next one.

        Where nothing tells the launch, the step whose copy on the device it ran in, else the one
        of the host that it ran in. Kernels that were launched `before_file` are of no step: the
        device runs them while the first steps are launched, whose own come on top.
        """
        places = self._spans.at(kernels.starts)
        for device, (numbers, spans) in self._device_copies.items():
            lanes = [process == device for process, _ in kernels.tables.lanes]
            own = np.flatnonzero(np.array(lanes, dtype=bool)[kernels.lanes])
            copies = _Places(spans).at(kernels.starts[own])
            runs = np.array([self._by_number.get(number, NONE) for number in numbers])
            places[own[copies != NONE]] = runs[copies[copies != NONE]]
        if self._of_host:
            told = launched.lanes != NONE
            places[told] = self._spans.at(launched.times[told])
            places[before_file(kernels, launched)] = NONE
        return Whole(places, places != NONE)


def before_file(kernels: Spans, launched: Launched) -> np.ndarray:
    """Return which kernels were launched before the file begins."""
    return launched_before(kernels.lanes, kernels.starts, launched.lanes != NONE)


class _Places:
    """Spans of time, from first to last ns, in order of their starts."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._starts = np.array([start for start, _ in spans], dtype="int64")
        self._ends = np.array([end for _, end in spans], dtype="int64")

    def at(self, times_ns: Ints) -> Ints:
        """The place of the last span to begin until each moment, NONE where it has ended."""
        if not len(self._starts):
            return np.full(len(times_ns), NONE, dtype="int64")
        places = np.searchsorted(self._starts, times_ns, side="right") - 1
        return np.where((places >= 0) & (times_ns <= self._ends[places]), places, NONE)


def _merged(steps: Sequence[tuple[int, Span]]) -> tuple[list[int], list[tuple[int, int]]]:
    """Numbers and spans by start, overlapping ones of one number made one."""
    numbers: list[int] = []
    spans: list[tuple[int, int]] = []
    last: dict[int, int] = {}
    for number, span in sorted(steps, key=lambda step: (step[1].start_ns, step[0])):
        index = last.get(number)
        if index is not None and span.start_ns < spans[index][1]:
            spans[index] = (spans[index][0], max(spans[index][1], span.end_ns))
            continue
        last[number] = len(spans)
        numbers.append(number)
        spans.append((span.start_ns, span.end_ns))
    return numbers, spans
