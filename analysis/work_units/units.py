"""Units: which calls of a trace belong to which unit of work, and how long each unit takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from fusescope.analysis.metrics.spans import call_times
from fusescope.analysis.trace import Trace
from fusescope.analysis.work_units.work import Work, work_of

# *earlier* is what a device ran before its only step: work that was launched before the file began.
UnitKind = Literal["step", "annotation", "repeat", "file", "earlier"]
UnitEvidence = Literal["named", "ordered", "guessed"]
# What a repeat lasts to: the next one, its last kernel, or that because those of another trace do.
UnitEnd = Literal["next", "last_kernel", "last_as_other"]
OUTSIDE = -1
NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, eq=False)
class Units:
    """The units of work of one trace, in order of time.

    `unit_of` has the unit of each call of the trace, OUTSIDE for none. `starts_ns` are on the clock
    of the calls, -1 where the file does not have them; `walls_ns` is how long each unit takes, of
    units that follow one another from start to start. `names` are those of their annotations, ''
    for none, `name` stands for all of them. `host_ns` is the mean unit of the host where the
    walls are those of the device, whose period is another, None elsewhere. A single unit that
    `is_behind` begins where the device is done with what was launched before the file began.
    Repeats that `is_shared` are cut as those of another trace, and otherwise alone; `end` is what
    they last to.
    """

    kind: UnitKind
    name: str
    evidence: UnitEvidence
    unit_of: np.ndarray
    starts_ns: np.ndarray
    walls_ns: np.ndarray
    names: tuple[str, ...]
    host_ns: int | None = None
    is_behind: bool = False
    is_shared: bool = False
    end: UnitEnd = "next"

    @cached_property
    def work(self) -> tuple[Work, ...]:
        """The work of each unit."""
        works = {name: work_of(name) for name in set(self.names)}
        return tuple(works[name] for name in self.names)

    @property
    def count(self) -> int:
        """Return how many units there are."""
        return len(self.walls_ns)

    @property
    def mean_ns(self) -> float:
        """Return how long one unit takes on average."""
        return float(self.walls_ns.mean())

    @property
    def end_with_kernels(self) -> bool:
        """Return whether these are repeats with time between them that is in none."""
        if self.kind != "repeat":
            return False
        between = self.starts_ns[1:] - (self.starts_ns + self.walls_ns)[:-1]
        return bool(np.median(between) > 0) if len(between) else False

    def kinds_of_work(self) -> tuple[Work, ...]:
        """Return the distinct kinds of work, the one that takes most time first."""
        totals: dict[Work, int] = {}
        for work, wall_ns in zip(self.work, self.walls_ns.tolist(), strict=True):
            totals[work] = totals.get(work, 0) + wall_ns
        return tuple(sorted(totals, key=lambda work: -totals[work]))

    def of_work(self, work: Work) -> Units:
        """Return only the units of this kind of work."""
        chosen = np.array([each == work for each in self.work], dtype=bool)
        return self.taken(np.flatnonzero(chosen))

    def taken(self, chosen: np.ndarray) -> Units:
        """Return only the units with these numbers, numbered anew in this order."""
        numbers = np.full(self.count + 1, OUTSIDE, dtype="int64")
        numbers[chosen] = np.arange(len(chosen))
        names = tuple(self.names[at] for at in chosen.tolist())
        return Units(
            self.kind,
            title_of(names) if any(names) else self.name,
            self.evidence,
            numbers[self.unit_of],
            self.starts_ns[chosen],
            self.walls_ns[chosen],
            names,
            self.host_ns,
            self.is_behind,
            self.is_shared,
            self.end,
        )


def title_of(names: Sequence[str]) -> str:
    """Return what stands for annotations that differ in their numbers."""
    return names[0] if len(set(names)) == 1 else NUMBER.sub("#", names[0])


def whole_file(trace: Trace) -> Units:
    """Return the file as one unit, from its first call to the end of its last."""
    starts, lasts = call_times(trace.calls)
    has_start = trace.calls["start_ns"].notna().to_numpy()
    if has_start.any():
        begin = int(starts[has_start].min())
        wall_ns = int((starts + lasts)[has_start].max()) - begin
    else:
        begin, wall_ns = -1, int(trace.calls["dur_ns"].sum())
    return Units(
        "file",
        "",
        "guessed",
        np.zeros(len(trace.calls), dtype="int64"),
        np.array([begin], dtype="int64"),
        np.array([wall_ns], dtype="int64"),
        ("",),
    )
