"""Steps of a Kineto trace: `ProfilerStep#N`, and which of them a kernel belongs to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from analysis.readers.building.iterations import span_at
from analysis.readers.pytorch.events import Sorted, Span


class Steps:
    """The profiler's steps in order of time, as (start_ns, end_ns); a run is a position in them.

    Each step stands in a file twice, as the host and as the device saw it: the host's copy counts,
    because its steps follow each other without a gap. Copies of one step by several processes are
    one run, from the first start to the last end, where they overlap.
    """

    def __init__(self, events: Sorted) -> None:
        self._of_host = bool(events.steps)
        numbers, self.spans = _merged(events.steps or events.device_steps)
        self._starts, self._ends = [s for s, _ in self.spans], [end for _, end in self.spans]
        self._by_number = dict(zip(numbers, range(len(numbers)), strict=True))
        by_device: dict[bytes, list[tuple[int, Span]]] = {}
        for number, span in events.device_steps:
            by_device.setdefault(span.lane[0], []).append((number, span))
        self._device_copies = {device: _merged(steps) for device, steps in by_device.items()}

    def at(self, time_ns: int) -> int | None:
        """The run that a moment lies in; None outside every step."""
        return span_at(self._starts, self._ends, time_ns)

    def of(self, kernel: Span, launched_ns: int | None) -> int | None:
        """The run of a kernel: the step that launched it, though it may run in the next one.

        Where nothing tells the launch, the step whose copy on the device it ran in, else the one
        of the host that it ran in.
        """
        if launched_ns is not None and self._of_host:
            return self.at(launched_ns)
        numbers, spans = self._device_copies.get(kernel.lane[0], ([], []))
        index = bisect_right(spans, kernel.start_ns, key=lambda span: span[0]) - 1
        if index >= 0 and kernel.start_ns <= spans[index][1]:
            return self._by_number.get(numbers[index])
        return self.at(kernel.start_ns)


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
