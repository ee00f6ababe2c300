"""From what a profiler recorded of the host's threads to the HostActivity of a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fusescope.analysis.host_activity import MAX_SPANS, HostActivity, told_apart
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.building.call_stacks import Moments
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, noted

Lane = tuple[str, str]  # process and thread
_WIDEST = 2**62
_NAME_CHARS = 80


@dataclass(frozen=True)
class HostSpans:
    """Spans as columns in any order: numbers of threads, names and kinds, times in ns."""

    lanes: Ints
    starts: Ints
    lengths: Ints
    names: Ints
    kinds: Ints

    @classmethod
    def joined(cls, parts: Sequence[HostSpans]) -> HostSpans:
        """All of these, one after the other."""
        return cls(
            *(
                np.concatenate([getattr(part, column) for part in parts])
                for column in ("lanes", "starts", "lengths", "names", "kinds")
            )
        )

    def take(self, places: Ints) -> HostSpans:
        """The spans at these places."""
        columns = (self.lanes, self.starts, self.lengths, self.names, self.kinds)
        return HostSpans(*(column[places] for column in columns))


def host_activity(
    spans: HostSpans,
    launches: Moments,
    names: Sequence[str],
    lanes: Sequence[Lane],
    limits: Limits,
    submitted: Moments | None = None,
) -> tuple[HostActivity | None, list[Diagnostic]]:
    """What is known of the host, None without any span; of more than MAX_SPANS spans the longest
    are kept, and the others counted. `submitted` are moments of some of the rows of `launches`,
    when and where they were handed to the device, maybe by another thread."""
    notes = noted("warning", "host_spans_left", max(0, len(spans.lanes) - MAX_SPANS))
    if not len(spans.lanes):
        return None, []
    if notes:
        longest = np.argpartition(spans.lengths, len(spans.lanes) - MAX_SPANS)[-MAX_SPANS:]
        spans = spans.take(np.sort(longest))
    handing = launches.lanes if submitted is None else submitted.lanes
    lane_of, lane_names = _lane_names(spans.lanes, np.concatenate([launches.lanes, handing]), lanes)
    own_lanes = lane_of[spans.lanes]
    order = _in_order(own_lanes, spans.starts, spans.lengths)
    starts = spans.starts[order]
    name_of, texts = _names(spans.names[order], names, limits)
    by_row = np.argsort(launches.rows, kind="stable")
    rows = launches.rows[by_row]
    by_row = by_row[np.concatenate([[True], rows[1:] > rows[:-1]])] if len(rows) else by_row
    lanes_ns = lane_of[launches.lanes[by_row]], launches.times_ns[by_row]
    queue = _queue(launches.rows[by_row], *lanes_ns, lane_of, submitted)
    return HostActivity(
        names=texts,
        lane_names=lane_names,
        lanes=own_lanes[order],
        starts_ns=starts,
        ends_ns=starts + spans.lengths[order],
        name_of=name_of,
        kind_of=spans.kinds[order].astype("int8"),
        launch_rows=launches.rows[by_row],
        launch_lanes=lanes_ns[0],
        launch_ns=lanes_ns[1],
        submit_lanes=queue[0],
        submit_ns=queue[1],
    ), notes


def _queue(
    rows: Ints, lanes: Ints, times: Ints, lane_of: Ints, submitted: Moments | None
) -> tuple[Ints, Ints] | tuple[None, None]:
    """The threads and times at which launches of these rows were handed to the device, those of the
    launch where that is not known; None where all are."""
    if submitted is None or not len(submitted.rows) or not len(rows):
        return None, None
    at = np.minimum(np.searchsorted(rows, submitted.rows), len(rows) - 1)
    if (rows[at] != submitted.rows).any():
        raise ValueError("host activity: submitted what was not launched")
    threads, moments = lanes.copy(), times.copy()
    threads[at], moments[at] = lane_of[submitted.lanes], submitted.times_ns
    is_same = (threads == lanes).all() and (moments == times).all()
    return (None, None) if is_same else (threads, moments)


def _in_order(lanes: Ints, starts: Ints, lengths: Ints) -> Ints:
    """Positions by thread and start, of those that begin together the longer first."""
    first, width = int(starts.min()), int(starts.max()) - int(starts.min()) + 1
    if width * (int(lanes.max()) + 1) >= _WIDEST:
        return np.lexsort((-lengths, starts, lanes))
    keys = lanes.astype("int64") * width + (starts - first)
    order = np.argsort(keys, kind="stable")  # quick for columns that are in order part by part
    keys = keys[order]
    is_tie = np.zeros(len(keys) + 1, dtype=bool)
    np.equal(keys[1:], keys[:-1], out=is_tie[1:-1])
    tied = np.flatnonzero(is_tie[1:] | is_tie[:-1])
    order[tied] = order[tied][np.lexsort((-lengths[order[tied]], keys[tied]))]
    return order


def _lane_names(
    used: Ints, launching: Ints, lanes: Sequence[Lane]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The new number of each thread, by their order, and the names of those that did something;
    what is on no thread has the name of its process."""
    counts = np.bincount(used, minlength=len(lanes)) + np.bincount(launching, minlength=len(lanes))
    kept = np.flatnonzero(counts).tolist()
    processes = {lanes[at][0] for at in kept}
    names = []
    for at in kept:
        process, thread = (clean_text(text, _NAME_CHARS) for text in lanes[at])
        parts = [f"process {process}"] if len(processes) > 1 or not thread else []
        names.append(" ".join([*parts, f"thread {thread}"] if thread else parts))
    place = np.full(len(lanes), -1, dtype="int32")
    place[kept] = np.arange(len(kept))
    return place, told_apart(names)


def _names(of: Ints, names: Sequence[str], limits: Limits) -> tuple[np.ndarray, tuple[str, ...]]:
    """The number of each span's name, and the names, cleaned, each once."""
    used = np.flatnonzero(np.bincount(of, minlength=len(names))).tolist()
    known: dict[str, int] = {}
    place = np.full(len(names), -1, dtype="int32")
    for at in used:
        text = clean_text(names[at], limits.text_chars) or "unnamed"
        place[at] = known.setdefault(text, len(known))
    return place[of], tuple(known)
