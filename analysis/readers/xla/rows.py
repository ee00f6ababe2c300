"""Rows of an XLA profile, and what the host tells of them: clocks and steps."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fusescope.analysis.readers.building.checks.clocks import clock_skew
from fusescope.analysis.readers.building.coded import Coded, Whole
from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.xla.host_steps import HostSteps, spans_of
from fusescope.analysis.readers.xla.xspace import Event, Plane, fact_of, stats_of, text_of
from fusescope.analysis.trace import Diagnostic


@dataclass
class Rows:
    """Calls as columns, and the steps that devices marked; `with_executions` they also tell of
    which execution of which program they are, and the program's name."""

    columns: Columns = field(default_factory=Columns)
    other: int = 0
    nested: int = 0
    with_executions: bool = False
    launches: list[object] = field(default_factory=list)  # what the host calls each launch by
    instructions: list[str] = field(default_factory=list)  # of the program, '' for none
    ends_ns: list[int | None] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)

    def execution(self, plane: Plane, event: Event) -> dict[str, object]:
        """Those columns."""
        stats = {**fact_of(plane, event.kind).stats, **stats_of(plane, event.stats)}
        told = stats.get("program_id"), stats.get("run_id")
        module = text_of(stats.get("hlo_module"))
        return {"execution": told if None not in told else None, "module": module}


def on_the_hosts_clock(
    rows: Rows, steps: dict[str, tuple[int, int]], host: HostSteps
) -> dict[str, tuple[int, int]]:
    """The steps of devices, moved with their kernels as far as makes none of these begin before its
    launch; adds what is said of it."""
    starts = Whole.of(rows.columns["start_ns"])
    if starts is None:
        return steps
    launched = [host.launches.get(launch) for launch in rows.launches]
    moves, notes = clock_skew(
        starts.numbers,
        np.array([time or 0 for time in launched], dtype="int64"),
        np.array([time is not None for time in launched], dtype=bool) & starts.known,
        Coded.of(rows.columns["device"]).codes,
    )
    rows.notes += notes
    if not moves.any():
        return steps
    rows.columns["start_ns"] = list(Whole(starts.numbers + moves, starts.known))
    both = zip(rows.ends_ns, moves.tolist(), strict=True)
    rows.ends_ns = [None if end is None else end + by_ns for end, by_ns in both]
    least, most = int(moves.min()), int(moves.max())  # equal for one device
    return {label: (first + least, last + most) for label, (first, last) in steps.items()}


def mark_by_host(marks: HostSteps, rows: Rows, steps: dict[str, tuple[int, int]]) -> None:
    """Runs of kernels are the steps of the host that launched them, where none are the device's."""
    labels = marks.labels(rows.launches)
    if any(labels):
        rows.columns["step"] = list(labels)
        steps.update(spans_of(marks.steps, labels, rows.columns["start_ns"], rows.ends_ns))
