"""Places: where in the run that timelines show a change can be seen, on both sides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from analysis.compare.explanation.explanation import Calls, Change, ChangeCode, Explanation
from analysis.metrics.spans import call_times
from analysis.metrics.step import median_run
from analysis.metrics.stretch import Stretch
from analysis.trace import Trace

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


def places_of(
    change: Change, explanation: Explanation, traces: tuple[Trace, Trace]
) -> Places | None:
    """Return where a change can be seen; None where the run that timelines show does not have it,
    or the files have no start times."""
    shown = (_Shown.of(traces[0]), _Shown.of(traces[1]))
    find = _idle_places if change.code == "idle" else _places
    found = find(change, explanation.pairs, shown)
    if not found:
        return None
    operators = [
        tuple(np.unique(trace.calls["operator"].to_numpy()[calls]).tolist())
        if change.code != "clocks"
        else ()
        for trace, calls in zip(traces, change.calls, strict=True)
    ]
    ranked = sorted(found, key=lambda each: each[0])
    return Places(
        len(found), found[0][1], ranked[(len(ranked) - 1) // 2][1], (operators[0], operators[1])
    )


@dataclass(frozen=True, eq=False)
class _Shown:
    """The calls of a trace that timelines show: their rows by stream and start, and when every call
    of the trace begins and ends."""

    trace: Trace
    rows: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, trace: Trace) -> _Shown:
        calls, run = trace.calls, median_run(trace)
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

    def same(self, calls: np.ndarray) -> np.ndarray:
        """Return each of these calls as a row of what is shown: itself, where that has none of them
        the k-th of its kernel for the k-th of its run; -1 for one that it does not have."""
        is_shown = self.position[calls] >= 0
        if is_shown.any() or not len(calls):
            return np.where(is_shown, calls, -1)
        run = self.trace.calls["run"].to_numpy("int64", na_value=-1)
        others = np.flatnonzero(run == run[calls[0]])
        streams = self.trace.calls["stream"].cat.codes.to_numpy("int64")
        others = others[np.lexsort((self.starts[others], streams[others]))]
        places = dict(zip(self._keys(self.rows), self.rows.tolist(), strict=True))
        keys = dict(zip(others.tolist(), self._keys(others), strict=True))
        return np.array([places.get(keys[row], -1) for row in calls.tolist()], dtype="int64")

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

    def groups(self, calls: np.ndarray, *, together: bool) -> list[np.ndarray]:
        """Return calls of what is shown in order of start: those that follow one another
        `together`, else each alone."""
        calls = calls[calls >= 0]
        if not len(calls):
            return []
        ranked = np.unique(self.position[calls])
        row_of = {int(self.position[row]): int(row) for row in calls.tolist()}
        cuts = np.flatnonzero(np.diff(ranked) > 1) + 1 if together else np.arange(1, len(ranked))
        found = [np.array([row_of[at] for at in each.tolist()]) for each in np.split(ranked, cuts)]
        return sorted(found, key=lambda rows: int(self.starts[rows].min()))

    def stretch(self, rows: np.ndarray) -> Stretch:
        """Return when these calls run, from the first to the last."""
        return Stretch(int(self.starts[rows].min()), int(self.ends[rows].max()))

    def has(self, stretch: Stretch) -> bool:
        """Return whether a stretch lies in the run that is shown."""
        if not len(self.rows):
            return False
        first, last = int(self.starts[self.rows].min()), int(self.ends[self.rows].max())
        runs = self.trace.profiled_runs
        shown = runs[(runs["run"] == median_run(self.trace)) & runs["start_ns"].notna()]
        if not shown.empty:
            first = min(first, int(shown["start_ns"].iloc[0]))
            last = max(last, int(shown["start_ns"].iloc[0] + shown["dur_ns"].iloc[0]))
        return stretch.end_ns > first and stretch.start_ns < last


_Found = list[tuple[float, Place]]  # the time of the kernels of a place, in ns, and the place


def _idle_places(change: Change, pairs: Calls, shown: tuple[_Shown, _Shown]) -> _Found:
    """Return the longest idle interval of both sides; where only one has it, what the other side
    has there."""
    before, after = (
        stretch if stretch is not None and side.has(stretch) else None
        for stretch, side in zip(change.longest, shown, strict=True)
    )
    if before is not None and after is None:
        after = _there(before, pairs, shown, 0)
    elif after is not None and before is None:
        before = _there(after, pairs, shown, 1)
    return [(0.0, Place(before, after))] if before or after else []


def _there(
    stretch: Stretch, pairs: Calls, shown: tuple[_Shown, _Shown], lead: int
) -> Stretch | None:
    between = _Between.of(shown, pairs, lead)
    return None if between is None else between.on_other_side(stretch)


def _places(change: Change, pairs: Calls, shown: tuple[_Shown, _Shown]) -> _Found:
    """Return the places of a change: those of the side that has more of them, each with what the
    other side has there."""
    together = change.code in _TOGETHER
    if change.code == "outlier":  # itself, and no other execution for it
        rows_of = [
            np.where(side.position[of] >= 0, of, -1)
            for side, of in zip(shown, change.calls, strict=True)
        ]
    else:
        rows_of = [side.same(of) for side, of in zip(shown, change.calls, strict=True)]
    groups = [
        side.groups(calls, together=together) for side, calls in zip(shown, rows_of, strict=True)
    ]
    lead = int(len(groups[1]) >= len(groups[0]))
    of, other = shown[lead], 1 - lead
    is_paired = len(groups[0]) == len(groups[1])
    between = None if is_paired else _Between.of(shown, pairs, lead)
    found: _Found = []
    for at, rows in enumerate(groups[lead]):
        own = of.stretch(rows)
        there: Stretch | None = None
        if is_paired:
            there = shown[other].stretch(groups[other][at])
        elif between is not None:
            there = between.on_other_side(own)
        ns = float(of.trace.calls["dur_ns"].to_numpy()[rows].sum())
        found.append((ns, Place(there, own) if lead else Place(own, there)))
    return found


@dataclass(frozen=True, eq=False)
class _Between:
    """Calls that are the same on both sides, in order of start on one: when they begin and end
    there, and on the other side."""

    starts: np.ndarray
    ends: np.ndarray
    other_starts: np.ndarray
    other_ends: np.ndarray

    @classmethod
    def of(cls, shown: tuple[_Shown, _Shown], pairs: Calls, lead: int) -> _Between | None:
        """Return the pairs that both sides show; None without any."""
        rows = [side.same(calls) for side, calls in zip(shown, pairs, strict=True)]
        known = (rows[0] >= 0) & (rows[1] >= 0)
        if not known.any():
            return None
        own, other = rows[lead][known], rows[1 - lead][known]
        order = np.argsort(shown[lead].starts[own], kind="stable")
        own, other = own[order], other[order]
        side, there = shown[lead], shown[1 - lead]
        return cls(side.starts[own], side.ends[own], there.starts[other], there.ends[other])

    def on_other_side(self, stretch: Stretch) -> Stretch | None:
        """Return what lies between the same calls on the other side: from the end of the one before
        to the start of the one behind; where nothing is between them, these two themselves."""
        first = int(np.searchsorted(self.starts, stretch.start_ns, side="left")) - 1
        last = int(np.searchsorted(self.starts, stretch.end_ns, side="left"))
        begin = int(self.other_ends[first]) if first >= 0 else None
        end = int(self.other_starts[last]) if last < len(self.starts) else None
        if begin is not None and end is not None and begin < end:
            return Stretch(begin, end)
        if begin is not None:
            return Stretch(int(self.other_starts[first]), begin)
        return None if end is None else Stretch(end, int(self.other_ends[last]))
