"""Stretches: the places in time that findings are about, in the run that timelines show."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from fusescope.analysis.metrics.breakdown import steady_calls
from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.metrics.spans import call_times
from fusescope.analysis.metrics.step import shown_run, timed_run
from fusescope.analysis.trace import Trace

_FIELDS = ["operator", "run", "stream", "start_ns", "dur_ns", "span_ns"]  # counters may be many
_WINDOWS = 10  # what lies between the first and the last call is looked through by its tenths


class Stretch(msgspec.Struct, frozen=True):
    """From `start_ns` to `end_ns` on the trace's clock."""

    start_ns: int
    end_ns: int


def longest_gap(trace: Trace, operator: int) -> Stretch | None:
    """Of the times in which nothing ran before a call of an operator, by its row in the trace, the
    longest, in the run that timelines show; None without any."""
    timed = timed_run(trace)
    if isinstance(timed, str) or not len(timed.starts_ns):
        return None
    order = np.argsort(timed.starts_ns, kind="stable")
    starts = timed.starts_ns[order]
    first = int(starts[0]) if timed.start_ns is None else timed.start_ns
    reached = np.maximum.accumulate(np.r_[first, timed.ends_ns[order]])[:-1]
    mine = timed.operators[order] == operator
    return _longest(reached[mine], starts[mine])


def after_last(trace: Trace) -> Stretch | None:
    """From the end of the last call of the run that timelines show to that of the run; None where
    the file does not say when the run began."""
    timed = timed_run(trace)
    if isinstance(timed, str) or timed.start_ns is None or not len(timed.ends_ns):
        return None
    end = timed.start_ns + timed.span_ns
    return _longest(np.array([timed.ends_ns.max()]), np.array([end]))


def longest_idle(trace: Trace) -> Stretch | None:
    """The longest time of the run that timelines show, from its first to its last call, in which
    nothing ran; None without any."""
    timed = timed_run(trace)
    if isinstance(timed, str) or not len(timed.starts_ns):
        return None
    starts, ends = merged(timed.starts_ns, timed.ends_ns)
    return _longest(ends[:-1], starts[1:])


def most_idle(trace: Trace) -> Stretch | None:
    """The tenth, from the first to the last call of the run that timelines show, in which the least
    ran; the first of equal ones."""
    timed = timed_run(trace)
    if isinstance(timed, str) or not len(timed.starts_ns):
        return None
    starts, ends = merged(timed.starts_ns, timed.ends_ns)
    first, whole = int(starts[0]), int(ends[-1] - starts[0])
    if whole < _WINDOWS:
        return None
    edges = first + np.arange(_WINDOWS + 1) * whole // _WINDOWS
    busy = np.diff(_busy_before(starts, ends, edges))
    at = int(np.argmin(busy))
    return Stretch(int(edges[at]), int(edges[at + 1]))


def longest_exposed(trace: Trace, what: Literal["communication", "copies"]) -> Stretch | None:
    """The longest time in which communication, or copies, ran beside nothing that hides them, as
    `StepParts` has it: in the run that timelines show, or in a file that marks none."""
    of, starts, ends = _shown(trace)
    communicates = trace.operators["is_communication"].to_numpy(dtype=bool)
    copies = copies_of(trace) & ~communicates
    shown, hides = (
        (copies, ~copies) if what == "copies" else (communicates, ~communicates & ~copies)
    )
    mine, other = shown[of], hides[of]
    own, others = merged(starts[mine], ends[mine]), merged(starts[other], ends[other])
    return _longest(*_without(*own, *others))


def longest_alone(trace: Trace, computes: np.ndarray, first: str, second: str) -> Stretch | None:
    """The longest time in which stream `second` has nothing to do between the first and the last
    call of stream `first`, of operators that `computes` chooses, in the run that timelines
    show."""
    run = shown_run(trace)
    calls = steady_calls(trace)[_FIELDS]
    calls = calls[calls["start_ns"].notna() & computes[calls["operator"].to_numpy()]]
    if run is not None:
        calls = calls[calls["run"] == run]
    stream = calls["stream"].astype("object")
    one, other = calls[(stream == first).to_numpy()], calls[(stream == second).to_numpy()]
    if one.empty:
        return None
    starts, lasts = call_times(one)
    begin, end = np.array([starts.min()]), np.array([(starts + lasts).max()])
    others, others_last = call_times(other)
    return _longest(*_without(begin, end, *merged(others, others + others_last)))


def merged(starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The union of intervals as starts and ends in order."""
    if not len(starts):
        return starts, ends
    order = np.argsort(starts, kind="stable")
    starts, reached = starts[order], np.maximum.accumulate(ends[order])
    opens = np.r_[True, starts[1:] > reached[:-1]]
    return starts[opens], reached[np.r_[opens[1:], True]]


def _shown(trace: Trace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Operators, starts and ends of the calls of the run that timelines show, else of all calls."""
    timed = timed_run(trace)
    if not isinstance(timed, str):
        return timed.operators, timed.starts_ns, timed.ends_ns
    calls = trace.calls[_FIELDS]
    calls = calls[calls["start_ns"].notna()]
    starts, lasts = call_times(calls)
    return calls["operator"].to_numpy(), starts, starts + lasts


def _without(
    starts: np.ndarray, ends: np.ndarray, other_starts: np.ndarray, other_ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What remains of intervals outside of others, both in order and apart."""
    edges = np.sort(np.concatenate((starts, ends, other_starts, other_ends)))
    edges = edges[np.diff(edges, prepend=edges[:1] - 1) > 0]  # as np.unique, in a third of its time
    if len(edges) < 2:
        return edges[:0], edges[:0]
    left, right = edges[:-1], edges[1:]
    alone = _covers(starts, ends, left) & ~_covers(other_starts, other_ends, left)
    return merged(left[alone], right[alone])


def _covers(starts: np.ndarray, ends: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Which times lie in one of the intervals, which are in order and apart."""
    if not len(starts):
        return np.zeros(len(times), dtype=bool)
    at = np.searchsorted(starts, times, side="right") - 1
    covered: np.ndarray = (at >= 0) & (times < ends[np.maximum(at, 0)])
    return covered


def _busy_before(starts: np.ndarray, ends: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The length of the intervals, which are in order and apart, before each of the times."""
    at = np.searchsorted(starts, times, side="right") - 1
    whole = np.concatenate(([0], np.cumsum(ends - starts)))
    last = np.maximum(at, 0)
    return np.where(at < 0, 0, whole[last] + np.minimum(times, ends[last]) - starts[last])


def _longest(starts: np.ndarray, ends: np.ndarray) -> Stretch | None:
    if not len(starts):
        return None
    at = int(np.argmax(ends - starts))
    return Stretch(int(starts[at]), int(ends[at])) if ends[at] > starts[at] else None
