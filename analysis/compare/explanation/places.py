"""Places: where in the run that timelines show a change can be seen, on both sides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fusescope.analysis.compare.explanation.explanation import Calls, Change, ChangeCode
from fusescope.analysis.metrics.spans import call_times
from fusescope.analysis.metrics.step import shown_run
from fusescope.analysis.metrics.stretch import Stretch
from fusescope.analysis.trace import Trace

# Changes whose kernels follow one another in a place; of others each execution is a place.
_TOGETHER: tuple[ChangeCode, ...] = (
    "added", "removed", "fused", "split", "replaced", "repeats", "place",
)  # fmt: skip


@dataclass(frozen=True)
class Place:
    """One place of a change, a stretch of each side on the clock of its trace; None on a side that
    does not show it."""

    before: Stretch | None
    after: Stretch | None


@dataclass(frozen=True)
class Places:
    """How many places of a change the timelines show, the first of them, and the one whose kernels
    take the median time; `operators` are rows of the operators of both traces that the change is
    about, none of one that is about nearly all."""

    count: int
    first: Place
    median: Place
    operators: tuple[tuple[int, ...], tuple[int, ...]]


def places_of(change: Change, shown: ShownPair) -> Places | None:
    """Return where a change can be seen in the runs that timelines show; None where they do not
    have it, or the files have no start times."""
    runs = shown.runs
    operators = [
        tuple(np.unique(side.trace.calls["operator"].to_numpy()[calls]).tolist())
        if change.code != "clocks"
        else ()
        for side, calls in zip(runs, change.calls, strict=True)
    ]
    of_both = (operators[0], operators[1])
    if change.code == "idle":
        place = _idle_place(change, shown)
        return None if place is None else Places(1, place, place, of_both)
    groups = _groups(change, runs)
    lead = int(len(groups[1]) >= len(groups[0]))
    mine = groups[lead]
    if not len(mine):
        return None
    median = mine.median(runs[lead].trace.calls["dur_ns"].to_numpy())
    first, typical = (_place(groups, at, lead, shown) for at in (0, median))
    return Places(len(mine), first, typical, of_both)


def places_of_calls(
    run: ShownRun, calls: np.ndarray, *, together: bool
) -> tuple[int, Stretch, Stretch] | None:
    """Return how many places calls of one trace have in the run that its timeline shows, the first
    of them, and the one of the median time; None without any. Those that follow one another are one
    place `together`."""
    groups = run.groups(run.among(calls), together=together)
    if not len(groups):
        return None
    median = groups.median(run.trace.calls["dur_ns"].to_numpy())
    return len(groups), run.stretch(groups[0]), run.stretch(groups[median])


@dataclass(frozen=True, eq=False)
class CallGroups:
    """Calls in groups: `rows` of calls, of which group k begins at `edges[k]` and ends at the next
    edge; `order` has the groups in order of start."""

    rows: np.ndarray
    edges: np.ndarray
    order: np.ndarray

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, place: int) -> np.ndarray:
        """Return the rows of the group at a place in order of start."""
        group = int(self.order[place])
        return self.rows[self.edges[group] : self.edges[group + 1]]

    def median(self, dur_ns: np.ndarray) -> int:
        """Return the place of the group whose calls take the median time; `dur_ns` is of all
        calls."""
        times = np.add.reduceat(dur_ns[self.rows], self.edges[:-1])[self.order]
        return int(np.argsort(times, kind="stable")[(len(times) - 1) // 2])


@dataclass(frozen=True, eq=False)
class ShownRun:
    """The calls of a trace that timelines show: their rows by stream and start, and when every call
    of the trace begins and ends."""

    trace: Trace
    rows: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, trace: Trace) -> ShownRun:
        """Return the run of a trace that timelines show; the file where it marks none."""
        calls, run = trace.calls, shown_run(trace)
        is_shown = calls["start_ns"].notna().to_numpy()
        if run is not None:
            is_shown = is_shown & (calls["run"].to_numpy("int64", na_value=-1) == run)
        rows = np.flatnonzero(is_shown)
        starts, lasts = call_times(calls)
        streams = calls["stream"].cat.codes.to_numpy("int64")
        order = np.lexsort((starts[rows], streams[rows]))
        return cls(trace, rows[order], starts, starts + lasts)

    @cached_property
    def position(self) -> np.ndarray:
        """The place of each call of the trace among those that are shown, -1 for the others;
        between two streams one place is free."""
        streams = self.trace.calls["stream"].cat.codes.to_numpy("int64")[self.rows]
        position = np.full(len(self.trace.calls), -1, dtype="int64")
        position[self.rows] = np.arange(len(self.rows)) + np.cumsum(np.diff(streams, prepend=0) > 0)
        return position

    def among(self, calls: np.ndarray) -> np.ndarray:
        """Return these calls, -1 for those that are not shown."""
        return np.where(self.position[calls] >= 0, calls, -1)

    def same(self, calls: np.ndarray) -> np.ndarray:
        """Return each of these calls as a row of what is shown: itself, where that has none of them
        the k-th of its kernel for the k-th of the run of the first one; -1 for one that neither
        has."""
        mine = self.among(calls)
        if (mine >= 0).any() or not len(calls):
            return mine
        run = self.trace.calls["run"].to_numpy("int64", na_value=-1)
        others = np.flatnonzero(run == run[calls[0]])
        streams = self.trace.calls["stream"].cat.codes.to_numpy("int64")
        others = others[np.lexsort((self.starts[others], streams[others]))]
        places = dict(zip(self._keys(self.rows), self.rows.tolist(), strict=True))
        keys = dict(zip(others.tolist(), self._keys(others), strict=True))
        same = [places.get(keys[row], -1) if row in keys else -1 for row in calls.tolist()]
        return np.array(same, dtype="int64")

    def _keys(self, rows: np.ndarray) -> list[tuple[int, int]]:
        """Return the name of the kernel of each call and which one of that name it is."""
        operators = self.trace.calls["operator"].to_numpy()[rows]
        names = self.trace.operators["name"].cat.codes.to_numpy()[operators]
        seen: dict[int, int] = {}
        keys = []
        for name in names.tolist():
            seen[name] = seen.get(name, -1) + 1
            keys.append((name, seen[name]))
        return keys

    def groups(self, calls: np.ndarray, *, together: bool) -> CallGroups:
        """Return calls of what is shown, without those that are -1: those that follow one another
        `together`, else each alone."""
        calls = calls[calls >= 0]
        ranked, at = np.unique(self.position[calls], return_index=True)
        begins = np.ones(len(ranked), dtype=bool)
        if together:
            begins[1:] = np.diff(ranked) > 1
        firsts = np.flatnonzero(begins)
        rows = calls[at]
        starts = np.minimum.reduceat(self.starts[rows], firsts) if len(rows) else firsts
        return CallGroups(rows, np.append(firsts, len(rows)), np.argsort(starts, kind="stable"))

    def stretch(self, rows: np.ndarray) -> Stretch:
        """Return when these calls run, from the first to the last."""
        return Stretch(int(self.starts[rows].min()), int(self.ends[rows].max()))

    @property
    def span(self) -> Stretch:
        """Return the whole run that is shown, which has calls."""
        first, last = int(self.starts[self.rows].min()), int(self.ends[self.rows].max())
        runs = self.trace.profiled_runs
        shown = runs[(runs["run"] == shown_run(self.trace)) & runs["start_ns"].notna()]
        if not shown.empty:
            first = min(first, int(shown["start_ns"].iloc[0]))
            last = max(last, int(shown["start_ns"].iloc[0] + shown["dur_ns"].iloc[0]))
        return Stretch(first, last)

    def has(self, stretch: Stretch) -> bool:
        """Return whether a stretch lies in the run that is shown."""
        if not len(self.rows):
            return False
        return stretch.end_ns > self.span.start_ns and stretch.start_ns < self.span.end_ns


@dataclass(frozen=True, eq=False)
class ShownPair:
    """The runs of both sides that timelines show, and `pairs`, the calls of the same kernels on
    both."""

    runs: tuple[ShownRun, ShownRun]
    pairs: Calls

    @cached_property
    def same_calls(self) -> tuple[np.ndarray, np.ndarray]:
        """The pairs of which both sides show a call, as rows of the calls of both traces."""
        before, after = (
            side.same(calls) for side, calls in zip(self.runs, self.pairs, strict=True)
        )
        are_shown = (before >= 0) & (after >= 0)
        return before[are_shown], after[are_shown]

    @cached_property
    def _between(self) -> tuple[_Between, _Between]:
        return _Between.of(self, 0), _Between.of(self, 1)

    def on_other_side(self, stretch: Stretch, lead: int) -> Stretch | None:
        """Return what lies on the other side between the same calls as a stretch of the side
        `lead`; None where the sides show no call of one kernel."""
        return self._between[lead].on_other_side(stretch) if len(self.same_calls[0]) else None


def _idle_place(change: Change, shown: ShownPair) -> Place | None:
    """Return the longest idle interval of both sides; where only one has it, what the other side
    has there."""
    before, after = (
        stretch if stretch is not None and side.has(stretch) else None
        for stretch, side in zip(change.longest, shown.runs, strict=True)
    )
    if before is not None and after is None:
        after = shown.on_other_side(before, 0)
    elif after is not None and before is None:
        before = shown.on_other_side(after, 1)
    return Place(before, after) if before or after else None


def _groups(change: Change, runs: tuple[ShownRun, ShownRun]) -> tuple[CallGroups, CallGroups]:
    """Return the calls of each place of a change on both sides. An execution that stands out is
    itself, and no other one stands for it."""
    together = change.code in _TOGETHER
    before, after = (
        side.groups(
            side.among(calls) if change.code == "outlier" else side.same(calls), together=together
        )
        for side, calls in zip(runs, change.calls, strict=True)
    )
    return before, after


def _place(groups: tuple[CallGroups, CallGroups], at: int, lead: int, shown: ShownPair) -> Place:
    """Return a place of the side `lead`, which has more of them, with what the other side has
    there: of as many the one of the same number."""
    own = shown.runs[lead].stretch(groups[lead][at])
    there: Stretch | None
    if len(groups[0]) == len(groups[1]):
        there = shown.runs[1 - lead].stretch(groups[1 - lead][at])
    else:
        there = shown.on_other_side(own, lead)
    return Place(there, own) if lead else Place(own, there)


@dataclass(frozen=True, eq=False)
class _Between:
    """Calls that are the same on both sides, in order of start on one: when they begin and end
    there, and on the other side."""

    starts: np.ndarray
    ends: np.ndarray
    other_starts: np.ndarray
    other_ends: np.ndarray
    other_run: Stretch

    @classmethod
    def of(cls, shown: ShownPair, lead: int) -> _Between:
        """Return the calls that both sides show, in order of start on the side `lead`."""
        own, other = shown.same_calls[lead], shown.same_calls[1 - lead]
        side, there = shown.runs[lead], shown.runs[1 - lead]
        order = np.argsort(side.starts[own], kind="stable")
        own, other = own[order], other[order]
        return cls(
            side.starts[own], side.ends[own], there.starts[other], there.ends[other], there.span
        )

    def on_other_side(self, stretch: Stretch) -> Stretch:
        """Return what lies between the same calls on the other side: from the end of the one before
        to the start of the one behind; where nothing is between them, the one before."""
        first = int(np.searchsorted(self.starts, stretch.start_ns, side="left")) - 1
        last = int(np.searchsorted(self.starts, stretch.end_ns, side="left"))
        run = self.other_run
        begin = int(self.other_ends[first]) if first >= 0 else run.start_ns
        end = int(self.other_starts[last]) if last < len(self.starts) else run.end_ns
        if begin < end:
            return Stretch(begin, end)
        at = max(first, 0)
        return Stretch(int(self.other_starts[at]), int(self.other_ends[at]))
