"""The lane of the host: what the host did while the device had nothing running, as bars in time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np

from fusescope.analysis import units
from fusescope.analysis.host.causes import Cause, CauseKind
from fusescope.analysis.host.idle import HostIdle, idle_by_host
from fusescope.analysis.metrics.spans import lacks_kernels
from fusescope.analysis.timeline.levels import MAX_LEVEL, Row, View, kinds, shares
from fusescope.analysis.trace import Trace

# The kinds of causes as the script numbers them.
HOST_KINDS: tuple[CauseKind, ...] = get_args(CauseKind)
MOST_BARS = 6000  # bars and bins of one side that are sent at once
MOST_NAMED = 500  # causes with a name of their own, those of most time
MOST_PATH_CHARS = 60_000  # of the stacks that are sent at once, those of the longest bars
_PATH_FRAMES = 12  # innermost frames of a stack
_FRAME_CHARS = 100
_NAME_CHARS = 200


@dataclass(frozen=True)
class HostShown:
    """What a window of time shows of the host: `bars` as they are, with the columns `cause`,
    `start_ns`, `dur_ns` and `path`, which counts `paths` from 1 and is 0 for none; and `bins` of
    2**level ns of those that are shorter, with columns as in `detail.shown`."""

    level: int
    bars: dict[str, np.ndarray]
    bins: dict[str, np.ndarray]
    paths: list[str]


@dataclass(frozen=True, eq=False)
class HostLane:
    """Idle time as bars that do not overlap, in order: `row` has their times after the start of
    what is drawn, `cause_of` their places in `causes`, which has those of most time first, `nodes`
    the innermost frame of most of each in `idle`. `totals_ns` and `counts` are of each cause: its
    time, and in how many intervals.

    `waits_ns` says of each call of the side how long before its start it was launched, -1 where
    that is not known; None where it is known of none. Without `on_device` operators run on the host
    itself.
    """

    idle: HostIdle
    causes: tuple[Cause, ...]
    totals_ns: tuple[int, ...]
    counts: tuple[int, ...]
    row: Row
    cause_of: np.ndarray
    nodes: np.ndarray
    waits_ns: np.ndarray | None
    on_device: bool

    @property
    def totals(self) -> dict[str, Any]:
        """All idle time, and of each cause its kind, name, time and number of intervals."""
        return {
            "idle_ns": sum(self.totals_ns),
            "on_device": self.on_device,
            "causes": {
                "kind": [cause.kind for cause in self.causes],
                "name": [units.middle_cut(cause.name, _NAME_CHARS) for cause in self.causes],
                "ns": list(self.totals_ns),
                "count": list(self.counts),
            },
        }

    @cached_property
    def digest(self) -> bytes:
        """What tells these bars from all others."""
        found = hashlib.sha256(repr(self.totals).encode("utf-8"))
        columns = [self.row.starts, self.row.durs, self.cause_of, self.nodes]
        for column in columns if self.waits_ns is None else [*columns, self.waits_ns]:
            found.update(np.ascontiguousarray(column, dtype="<i8").tobytes())
        return found.digest()

    def shown(self, start: int, end: int, most: int = MOST_BARS) -> HostShown:
        """What runs between two times: every bar where they are at most so many, else the longest
        ones, and bins of the others, in the finest detail of at most so many together."""
        level = 0
        first, last = self.row.window(start, end)
        if last - first > most:
            while level < MAX_LEVEL and self.row.items(start, end, level) > most:
                level += 1
        view = self.row.view(start, end, level, most)
        paths, path_of = self._paths(view.calls)
        return HostShown(
            level,
            {
                "cause": self.cause_of[view.calls],
                "start_ns": self.row.starts[view.calls],
                "dur_ns": self.row.durs[view.calls],
                "path": path_of,
            },
            self._bins(view, level),
            paths,
        )

    def _bins(self, view: View, level: int) -> dict[str, np.ndarray]:
        bins = view.bins
        return {
            "at": bins.at,
            "busy": shares(bins, level),
            "kind": kinds(bins.at, bins.times, self.row.kinds[bins.longest]),
            "count": bins.count,
            "op": self.cause_of[bins.longest],
            "longest_ns": self.row.durs[bins.longest],
        }

    def _paths(self, bars: np.ndarray) -> tuple[list[str], np.ndarray]:
        """The stacks of these bars as texts, and the place of each bar's from 1 on, 0 for none."""
        nodes, of = np.unique(self.nodes[bars], return_inverse=True)
        longest = np.zeros(len(nodes), dtype="int64")
        np.maximum.at(longest, of, self.row.durs[bars])
        places = np.zeros(len(nodes), dtype="int64")
        numbers: dict[str, int] = {}
        chars = 0
        for at in np.argsort(-longest, kind="stable").tolist():
            text = _path_text([frame.name for frame in self.idle.stack(int(nodes[at]))])
            chars += len(text) if text not in numbers else 0
            if chars > MOST_PATH_CHARS:
                break
            if text:
                places[at] = numbers.setdefault(text, len(numbers) + 1)
        return list(numbers), places[of]


def idle_drawn(trace: Trace, origin_ns: int, dur_ns: int) -> HostIdle | None:
    """Return the idle time of `dur_ns` from `origin_ns` of the trace's clock on; None where the
    file does not say what the host did, and where kernels are missing."""
    if trace.host is None or trace.ends_early or lacks_kernels(trace):
        return None
    return idle_by_host(trace, np.array([origin_ns]), np.array([origin_ns + dur_ns]))


def host_lane(
    trace: Trace, idle: HostIdle, origin_ns: int, source_rows: np.ndarray, starts_ns: np.ndarray
) -> HostLane | None:
    """Return the lane of the host for what is `idle_drawn` from `origin_ns` on.

    `source_rows` and `starts_ns` are those of the calls that are drawn, the latter after the
    origin. None where the device was never idle.
    """
    found = idle.only(~idle.beside_unrecorded_work(trace))
    if not len(found.nodes):
        return None
    causes, of_cause = _few_causes(found)
    _, of_piece = found.piece_causes
    bars = _bars(found, of_cause[of_piece])
    totals = np.bincount(bars.causes, weights=bars.lengths, minlength=len(causes))
    numbers = np.array([HOST_KINDS.index(cause.kind) for cause in causes], dtype="int64")
    return HostLane(
        idle=found,
        causes=causes,
        totals_ns=tuple(totals.astype("int64").tolist()),
        counts=_counts(bars, len(causes)),
        row=Row(bars.starts - origin_ns, bars.lengths, numbers[bars.causes], len(HOST_KINDS)),
        cause_of=bars.causes,
        nodes=bars.nodes,
        waits_ns=_waits(trace, origin_ns, source_rows, starts_ns),
        on_device=bool((trace.operators["level"] == "device_kernel").any()),
    )


def unrecorded_stretches(trace: Trace, idle: HostIdle, origin_ns: int) -> list[list[int]]:
    """Return what `host_lane` leaves out, `[start, end]` each after the origin: nothing runs that
    the file has, but the device may run what was launched before the file began."""
    found = idle.only(idle.beside_unrecorded_work(trace))
    times = np.column_stack([found.starts_ns, found.ends_ns]) - origin_ns
    stretches: list[list[int]] = times.tolist()
    return stretches


def _few_causes(found: HostIdle) -> tuple[tuple[Cause, ...], np.ndarray]:
    """Causes, those of most time first, and the place among them of each of `found.piece_causes`,
    -1 for one without time. Of causes behind the first MOST_NAMED the kind alone is kept."""
    known, of_piece = found.piece_causes
    times = np.bincount(of_piece, found.ends_ns - found.starts_ns, len(known))
    of_known = np.full(len(known), -1, dtype="int64")
    places: dict[Cause, int] = {}
    for rank, at in enumerate(np.argsort(-times, kind="stable").tolist()):
        if times[at] > 0:
            cause = known[at] if rank < MOST_NAMED else Cause(known[at].kind, "")
            of_known[at] = places.setdefault(cause, len(places))
    return tuple(places), of_known


@dataclass(frozen=True)
class _Bars:
    """Pieces of one interval and one cause that touch each other, as one; columns."""

    causes: np.ndarray
    intervals: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray
    nodes: np.ndarray  # of the longest piece


def _bars(found: HostIdle, causes: np.ndarray) -> _Bars:
    starts, ends, intervals = found.starts_ns, found.ends_ns, found.intervals
    opens = np.append(True, (causes[1:] != causes[:-1]) | (intervals[1:] != intervals[:-1]))
    opens[1:] |= starts[1:] != ends[:-1]
    closes = np.append(opens[1:], True)
    number = np.cumsum(opens) - 1
    by_length = np.lexsort((starts, starts - ends, number))  # the longest of each bar first
    longest = by_length[np.append(True, np.diff(number[by_length]) > 0)]
    return _Bars(
        causes[opens],
        intervals[opens],
        starts[opens],
        ends[closes] - starts[opens],
        found.nodes[longest],
    )


def _counts(bars: _Bars, causes: int) -> tuple[int, ...]:
    """In how many intervals each cause occurs."""
    pairs = np.unique(bars.intervals * causes + bars.causes)
    return tuple(np.bincount(pairs % causes, minlength=causes).tolist())


def _waits(
    trace: Trace, origin_ns: int, source_rows: np.ndarray, starts_ns: np.ndarray
) -> np.ndarray | None:
    """How long before its start each call was launched; see `HostLane.waits_ns`."""
    assert trace.host is not None
    lanes, launched = trace.host.launches_of(source_rows)
    waits = starts_ns + origin_ns - launched
    is_known = (lanes >= 0) & (source_rows >= 0) & (waits >= 0)
    return np.where(is_known, waits, -1) if is_known.any() else None


def _path_text(names: Sequence[str]) -> str:
    """A stack in one line, outermost first; of a deep one the innermost frames."""
    shown = [units.middle_cut(name, _FRAME_CHARS) for name in names[-_PATH_FRAMES:]]
    return " › ".join(["…", *shown] if len(names) > _PATH_FRAMES else shown)
