"""Events of devices on the clock of the host."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fusescope.analysis.readers.building.checks.clocks import clock_skew
from fusescope.analysis.readers.pytorch.event import Span
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.readers.pytorch.launches import Launched
from fusescope.analysis.readers.pytorch.spans import NONE
from fusescope.analysis.trace import Diagnostic


def on_the_hosts_clock(events: Sorted, launched: Launched) -> tuple[Sorted, list[Diagnostic]]:
    """The events with kernels and steps of a device moved as far as makes no kernel begin before
    its launch, and notes; unchanged, without notes, where none does."""
    kernels = events.kernels
    processes = [process for process, _ in events.tables.lanes]
    numbers = {process: at for at, process in enumerate(dict.fromkeys(processes))}
    of_lane = np.array([numbers[process] for process in processes], dtype="int64")
    moves, notes = clock_skew(
        kernels.starts, launched.times, launched.lanes != NONE, of_lane[kernels.lanes]
    )
    if not moves.any():
        return events, notes
    of_process = dict(zip(of_lane[kernels.lanes].tolist(), moves.tolist(), strict=True))
    by = {process: of_process.get(number, 0) for process, number in numbers.items()}
    return (
        replace(
            events,
            kernels=replace(kernels, starts=kernels.starts + moves),
            device_steps=[(n, _moved(span, by[span.lane[0]])) for n, span in events.device_steps],
        ),
        notes,
    )


def _moved(span: Span, by_ns: int) -> Span:
    return replace(span, start_ns=span.start_ns + by_ns)
