"""Times of a device that cannot be true: records that were lost, and ends after the next begin.

CUPTI writes start and end 0 for a kernel whose times it could not collect (CUpti_ActivityKernel).
ROCm writes ends of seconds for kernels of microseconds after the device has stalled, on streams
whose next kernel began long before.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from fusescope.analysis.messages.places import row_of
from fusescope.analysis.readers.building.coded import Bools, Cells, Coded, Whole, distinct_rows
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, Value

_OVER_NS = 100_000  # past the next begin; kernels of real recordings overlap by up to 13 us
_TIMES = 10  # what was possible
_OTHERS_TIMES = 20  # the median of the others of its name
_FEW = 0.05  # of all kernels: more of them are several devices told as one


def lost_records(columns: Mapping[str, Cells], durations: Ints) -> Bools:
    """Which kernels begin at 0 and take 0 ns though others begin later: their times were lost."""
    none = np.zeros(len(durations), dtype=bool)
    starts = Whole.of(columns["start_ns"]) if "start_ns" in columns else None
    if starts is None:
        return none
    lost = starts.known & (starts.numbers == 0) & (durations == 0)
    if not lost.any():
        return none
    kernels = _kernels(columns, len(durations))
    is_other = kernels & starts.known & (starts.numbers > 0)
    return lost & kernels if is_other.any() else none


def possible_durations(columns: dict[str, Cells], rows: Ints) -> list[Diagnostic]:
    """Cuts, in `columns`, the time of few kernels where the next one on their stream begins, if
    they would be far longer than others of their name too; what is said of it. `rows` are the
    positions of the columns' cells in the file."""
    durations = np.asarray(columns["dur_ns"])
    kernels, starts = _alone_on_streams(columns, len(durations))
    if starts is None or kernels.sum() < 2:
        return []
    at = np.flatnonzero(kernels)
    lanes = _numbers(columns, ("device", "stream"), at)
    order = np.lexsort((starts[at], lanes))
    here, after = at[order][:-1], at[order][1:]
    room = starts[after] - starts[here]
    is_over = (lanes[order][:-1] == lanes[order][1:]) & (room > 0)
    is_over &= (durations[here] - room >= _OVER_NS) & (durations[here] >= _TIMES * room)
    long, room = here[is_over], room[is_over]
    if not len(long) or len(long) > max(1, _FEW * len(at)):
        return []
    of_row = np.full(len(durations), -1, dtype="int64")
    of_row[at] = _numbers(columns, ("name",), at)
    others = np.setdiff1d(at, long, assume_unique=True)
    usual = pd.Series(durations[others]).groupby(of_row[others]).median()
    usual_ns = usual.reindex(of_row[long]).to_numpy("float64")  # NaN: no other of its name
    is_cut = durations[long] >= _OTHERS_TIMES * np.maximum(usual_ns, 1.0)
    notes = [_note(columns, rows, long[~is_cut], {})] if not is_cut.all() else []
    if is_cut.any():
        cut = durations.copy()
        cut[long[is_cut]] = room[is_cut]
        columns["dur_ns"] = cut
        told: dict[str, Value] = {"cut_ns": int(durations.sum() - cut.sum())}
        notes.append(_note(columns, rows, long[is_cut], told))
    return notes


def _alone_on_streams(columns: Mapping[str, Cells], count: int) -> tuple[Bools, Ints | None]:
    """Which rows are kernels of a known stream that run one after the other, and all starts; None
    where they are not known of all, or where rows are several executions."""
    starts = Whole.of(columns["start_ns"]) if "start_ns" in columns else None
    spans = columns.get("span_ns")
    if starts is None or not starts.known.all() or "stream" not in columns or "n" in columns:
        return np.zeros(count, dtype=bool), None
    if spans is not None and any(span is not None for span in spans):
        return np.zeros(count, dtype=bool), None
    kernels = _kernels(columns, count) & (Coded.of(columns["stream"]).codes >= 0)
    for name, value in (("is_communication", True), ("op_class", "communication")):
        if name in columns:
            told = Coded.of(columns[name])
            is_one = np.array([*(each == value for each in told.values), False], dtype=bool)
            kernels &= ~is_one[told.codes]
    return kernels, starts.numbers


def _kernels(columns: Mapping[str, Cells], count: int) -> Bools:
    """Which rows ran on a device."""
    if "level" not in columns:
        return np.zeros(count, dtype=bool)
    levels = Coded.of(columns["level"])
    is_kernel = np.array([*(level == "device_kernel" for level in levels.values), False])
    of_row: Bools = is_kernel[levels.codes]
    return of_row


def _numbers(columns: Mapping[str, Cells], names: tuple[str, ...], rows: Ints) -> Ints:
    """A number for each different combination of what these columns say, of these rows."""
    told = [Coded.of(columns[name]) for name in names if name in columns]
    numbers, _ = distinct_rows(
        [column.codes[rows] for column in told], [len(column.values) for column in told], len(rows)
    )
    return numbers


def _note(
    columns: Mapping[str, Cells], rows: Ints, places: Ints, values: dict[str, Value]
) -> Diagnostic:
    first = int(places[0])
    row = columns["source_row"][first] if "source_row" in columns else rows[first] + 1
    example = row_of(int(str(row)), clean_text(str(columns["name"][first]), 80))
    return Diagnostic("warning", "durations_impossible", len(places), example, values)
