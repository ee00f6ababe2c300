"""One trace by its units of work: which calls count, when units begin, and what runs in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fusescope.analysis.advice.explanation.explanation import Parts
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.metrics.spans import busy_until, call_times, union_ns
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units import Units, steady_units, units_of, with_unit_runs


@dataclass(frozen=True, eq=False)
class Traced:
    """A trace, its units, and how many other ones were left out: those of other work, and slow ones
    at the beginning."""

    trace: Trace
    units: Units
    others: int
    set_aside: int

    @classmethod
    def of(cls, trace: Trace) -> Traced:
        """Return a trace by the units of work that its runs are."""
        cut = with_unit_runs(trace)
        notes = (note.count for note in cut.diagnostics if note.code == "runs_of_other_work")
        units, slow = steady_units(cut, units_of(cut))
        return cls(cut, units, sum(notes), slow)

    @cached_property
    def side(self) -> ExplainedSide:
        """The kernels of a unit."""
        return ExplainedSide.of(self.trace, self.units)

    @cached_property
    def on_device(self) -> np.ndarray:
        """Which operators run on a device; all of them where none does."""
        found: np.ndarray = (self.trace.operators["level"] == "device_kernel").to_numpy(dtype=bool)
        return found if found.any() else np.ones(len(found), dtype=bool)

    @cached_property
    def launched(self) -> tuple[np.ndarray, np.ndarray]:
        """The thread that launched each call, -1 where the file does not say it, and when."""
        count = len(self.trace.calls)
        if self.trace.host is None:
            return np.full(count, -1), np.zeros(count, dtype="int64")
        rows = self.trace.calls["source_row"].to_numpy("int64", na_value=-1)
        return self.trace.host.launches_of(rows)

    @property
    def has_starts(self) -> bool:
        """Return whether the file says when its units and calls begin."""
        has_calls = bool(self.trace.calls["start_ns"].notna().all())
        return has_calls and bool((self.units.starts_ns >= 0).all())

    @property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return when each unit begins and ends, on the clock of the calls."""
        return self.units.starts_ns, self.units.starts_ns + self.units.walls_ns

    @cached_property
    def parts_of_units(self) -> np.ndarray:
        """The ns of each unit, a row each: computing, with communication, with copies, all."""
        operators = self.trace.operators
        talks = operators["is_communication"].to_numpy(dtype=bool)
        copies = copies_of(self.trace) & ~talks
        of = self.trace.calls["operator"].to_numpy()
        mine = self.on_device[of]
        chosen = (mine & ~talks[of] & ~copies[of], mine & ~copies[of], mine)
        columns = [np.minimum(self.busy(mask), self.units.walls_ns) for mask in chosen]
        return np.stack((*columns, self.units.walls_ns), axis=1)

    def busy(self, chosen: np.ndarray) -> np.ndarray:
        """Return the time of each unit in which one of these calls runs, of whatever unit; of a
        file without starts the sum of its own."""
        calls, units = self.trace.calls, self.units
        starts, lasts = call_times(calls)
        if self.has_starts:
            until = busy_until(starts[chosen], lasts[chosen])
            begins, ends = self.edges
            inside: np.ndarray = until(ends) - until(begins)
            return inside
        of = [chosen & (units.unit_of == at) for at in range(units.count)]
        if bool(calls["start_ns"].notna().all()):
            return np.array([union_ns(starts[mask], lasts[mask]) for mask in of], dtype="int64")
        return np.array([calls["dur_ns"].to_numpy()[mask].sum() for mask in of], dtype="int64")

    @property
    def parts(self) -> Parts:
        """Return the mean of the units in parts, which add up to their mean time."""
        means = (round(float(mean)) for mean in self.parts_of_units.mean(axis=0))
        computing, talking, busy, wall = means
        return Parts(computing, talking - computing, busy - talking, wall - busy)

    @property
    def wall_ns(self) -> int:
        """Return how long a unit takes on average."""
        return round(self.units.mean_ns)
