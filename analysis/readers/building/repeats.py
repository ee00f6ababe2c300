"""Rows that count twice: copies of an execution, a copied table, a row of totals.

One stream runs one operator at a time, so two rows of one name, start, length and stream are one
execution that stands twice, as in files that were joined or exported again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from analysis.messages.places import row_of
from analysis.text import clean_text
from analysis.trace import Diagnostic, DiagnosticCode

Columns = dict[str, list[object]]

_WHERE = ("name", "device", "stream", "launched_by", "level", "inputs", "outputs")
_IDENTITY = (*_WHERE, "op_type", "provider")
_NO_FACTS = ("source_row", "run")
TOTALS = ("total", "totals", "sum", "grand total", "subtotal", "summe", "gesamt", "合计", "总计")
_ROUNDING = 1e-3
_MIN_ROWS = 4  # different ones of a table that stands twice: fewer may be chance
_MOSTLY = 0.9


def without_repeats(
    columns: Mapping[str, list[object]], kept: list[int], notes: list[Diagnostic]
) -> tuple[Columns, list[int]]:
    """The columns without rows that stand twice and without a row of totals, each counted.

    `kept` are the rows' positions in the file; so are those that come back.
    """
    out = dict(columns)
    if (total := _total_row(out)) is not None:
        _note(notes, "total_row", [total], out, kept)
        out, kept = _without({total}, out, kept)
    twice = _copies(out)
    if twice:
        _note(notes, "rows_twice", twice, out, kept)
        out, kept = _without(set(twice), out, kept)
    _note_joined_totals(notes, out, kept)
    return out, kept


def _total_row(columns: Mapping[str, Sequence[object]]) -> int | None:
    """A last row that is called a total and is the sum of all others."""
    names, durations = columns["name"], columns["dur_ns"]
    last = len(names) - 1
    if last < 2 or str(names[last]).strip(" :").lower() not in TOTALS:
        return None
    whole = sum(int(str(dur)) for dur in durations[:last])
    own = int(str(durations[last]))
    return last if whole and abs(own - whole) <= _ROUNDING * whole else None


def _copies(columns: Mapping[str, Sequence[object]]) -> list[int]:
    """Positions of rows that repeat an earlier one."""
    count = len(columns["name"])
    starts = columns.get("start_ns")
    if starts is None or any(start is None for start in starts):
        return _equal_totals(columns) or _second_half(columns)
    spans = columns.get("span_ns") or [None] * count
    pairs = zip(columns["dur_ns"], spans, strict=True)
    lengths = [dur if span is None else span for dur, span in pairs]
    times = pd.DataFrame({"start": starts, "length": lengths})
    alike = np.flatnonzero(times.duplicated(keep=False).to_numpy())
    if not len(alike):
        return []
    given = [columns[name] for name in _WHERE if name in columns]
    seen: dict[tuple[object, ...], int] = {}
    nested: list[int] = []
    apart: list[int] = []
    for index in alike.tolist():
        key = (starts[index], lengths[index], *(column[index] for column in given))
        first = seen.setdefault(key, index)
        if first == index or not lengths[index]:
            continue
        # Where calls nest, the outer one of two equal spans is left without time of its own.
        if columns["dur_ns"][index] == 0:
            nested.append(index)
        elif columns["dur_ns"][first] == 0:
            nested.append(first)
            seen[key] = index
        else:
            apart.append(index)
    if 2 * (len(apart) + len(nested)) >= _MOSTLY * count and count >= _MIN_ROWS:
        return sorted({*apart, *nested})
    return apart


def _equal_totals(columns: Mapping[str, Sequence[object]]) -> list[int]:
    """Rows of a table of totals that say what an earlier one says: each line is of its own."""
    again = _again(columns, [name for name in columns if name not in _NO_FACTS])
    # Two ranks may agree on a few small operators; then none of their lines is a copy.
    return again if len(again) == len(_again(columns, _IDENTITY)) else []


def _note_joined_totals(
    notes: list[Diagnostic], columns: Mapping[str, Sequence[object]], kept: Sequence[int]
) -> None:
    """Lines of totals that differ in their numbers alone: those of several tables or ranks."""
    if again := _again(columns, _IDENTITY):
        _note(notes, "totals_joined", again, columns, kept)


def _again(columns: Mapping[str, Sequence[object]], names: Sequence[str]) -> list[int]:
    """Rows of a table of totals that have these columns in common with an earlier row."""
    counts, starts = columns.get("n"), columns.get("start_ns")
    if counts is None or (starts is not None and any(start is not None for start in starts)):
        return []
    if not any(isinstance(count, int | np.integer) and count > 1 for count in counts):
        return []
    rows = list(zip(*(columns[name] for name in names if name in columns), strict=True))
    first = {row: index for index, row in reversed(list(enumerate(rows)))}
    return [index for index, row in enumerate(rows) if first[row] != index]


def _second_half(columns: Mapping[str, Sequence[object]]) -> list[int]:
    """The second half of rows without starts, where it is the first half once more."""
    count = len(columns["name"])
    half = count // 2
    if count % 2 or count < 2 * _MIN_ROWS:
        return []
    told = [values for name, values in columns.items() if name != "source_row"]
    is_same = all(list(values[:half]) == list(values[half:]) for values in told)
    rows = list(zip(*(values[:half] for values in told), strict=True)) if is_same else []
    return list(range(half, count)) if len(set(rows)) >= _MIN_ROWS else []


def _without(gone: set[int], columns: Columns, kept: list[int]) -> tuple[Columns, list[int]]:
    rows = [index for index in range(len(kept)) if index not in gone]
    return (
        {name: [values[index] for index in rows] for name, values in columns.items()},
        [kept[index] for index in rows],
    )


def _note(
    notes: list[Diagnostic],
    code: DiagnosticCode,
    indices: Sequence[int],
    columns: Mapping[str, Sequence[object]],
    kept: Sequence[int],
) -> None:
    first = indices[0]
    row = columns["source_row"][first] if "source_row" in columns else kept[first] + 1
    example = row_of(int(str(row)), clean_text(str(columns["name"][first]), 80))
    notes.append(Diagnostic("warning", code, len(indices), example))
