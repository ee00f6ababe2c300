"""Rows that count twice: copies of an execution, a copied table, a row of totals.

One stream runs one operator at a time, so two rows of one name, start, length and stream are one
execution that stands twice, as in files that were joined or exported again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from fusescope.analysis.messages.places import row_of
from fusescope.analysis.readers.building.coded import Cells, Whole, exact_sum, taken
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, DiagnosticCode

Columns = dict[str, Cells]

_WHERE = ("name", "device", "stream", "launched_by", "level", "inputs", "outputs")
_IDENTITY = (*_WHERE, "op_type", "provider")
_NO_FACTS = ("source_row", "run")
TOTALS = ("total", "totals", "sum", "grand total", "subtotal", "summe", "gesamt", "合计", "总计")
_ROUNDING = 1e-3
_MIN_ROWS = 4  # different ones of a table that stands twice: fewer may be chance
_MOSTLY = 0.9


def without_repeats(
    columns: Mapping[str, Cells], kept: Ints, notes: list[Diagnostic]
) -> tuple[Columns, Ints]:
    """The columns without rows that stand twice and without a row of totals, each counted.

    `kept` are the rows' positions in the file; so are those that come back. `dur_ns` is an array.
    """
    out = dict(columns)
    if (total := _total_row(out)) is not None:
        _note(notes, "total_row", [total], out, kept)
        out, kept = _without([total], out, kept)
    twice = _copies(out)
    if twice:
        _note(notes, "rows_twice", twice, out, kept)
        out, kept = _without(twice, out, kept)
    _note_joined_totals(notes, out, kept)
    return out, kept


def _total_row(columns: Mapping[str, Cells]) -> int | None:
    """A last row that is called a total and is the sum of all others."""
    names, durations = columns["name"], np.asarray(columns["dur_ns"])
    last = len(names) - 1
    if last < 2 or str(names[last]).strip(" :").lower() not in TOTALS:
        return None
    whole = exact_sum(durations[:last])
    own = int(durations[last])
    return last if whole and abs(own - whole) <= _ROUNDING * whole else None


def _copies(columns: Mapping[str, Cells]) -> list[int]:
    """Positions of rows that repeat an earlier one."""
    count = len(columns["name"])
    starts = columns.get("start_ns")
    if starts is None or _lacks(starts):
        return _equal_totals(columns) or _second_half(columns)
    own = np.asarray(columns["dur_ns"])
    alike, lengths = _alike(starts, columns.get("span_ns"), own)
    if not len(alike):
        return []
    given = [columns[name] for name in _WHERE if name in columns]
    seen: dict[tuple[object, ...], int] = {}
    nested: list[int] = []
    apart: list[int] = []
    for index, length in zip(alike.tolist(), lengths, strict=True):
        key = (starts[index], length, *(column[index] for column in given))
        first = seen.setdefault(key, index)
        if first == index or not length:
            continue
        # Where calls nest, the outer one of two equal spans is left without time of its own.
        if own[index] == 0:
            nested.append(index)
        elif own[first] == 0:
            nested.append(first)
            seen[key] = index
        else:
            apart.append(index)
    if 2 * (len(apart) + len(nested)) >= _MOSTLY * count and count >= _MIN_ROWS:
        return sorted({*apart, *nested})
    return apart


def _lacks(cells: Cells) -> bool:
    """True for a column in which one is None."""
    if isinstance(cells, Whole):
        return not cells.known.all()
    return not isinstance(cells, np.ndarray) and any(cell is None for cell in cells)


def _alike(starts: Cells, spans: Cells | None, own: Ints) -> tuple[Ints, list[object]]:
    """Positions of rows with the start and the length of another one, and these lengths."""
    begins, lengths = Whole.of(starts), own
    if spans is not None and (told := Whole.of(spans)) is not None:
        lengths, spans = np.where(told.known, told.numbers, own), None
    if begins is None or spans is not None:
        cells = own.tolist() if spans is None else _first_known(spans, own)
        times = pd.DataFrame({"start": list(starts), "length": cells})
        alike = np.flatnonzero(times.duplicated(keep=False).to_numpy())
        return alike, [cells[at] for at in alike.tolist()]
    alike = _repeated(begins.numbers)
    if len(alike):
        times = pd.DataFrame({"start": begins.numbers[alike], "length": lengths[alike]})
        alike = alike[times.duplicated(keep=False).to_numpy()]
    return alike, lengths[alike].tolist()


def _first_known(spans: Cells, own: Ints) -> list[object]:
    return [dur if span is None else span for dur, span in zip(own.tolist(), spans, strict=True)]


def _repeated(numbers: Ints) -> Ints:
    """Positions of numbers that come more than once."""
    if (numbers[1:] > numbers[:-1]).all():
        return np.empty(0, dtype="int64")
    return np.flatnonzero(pd.Series(numbers).duplicated(keep=False).to_numpy())


def _equal_totals(columns: Mapping[str, Cells]) -> list[int]:
    """Rows of a table of totals that say what an earlier one says: each line is of its own."""
    again = _again(columns, [name for name in columns if name not in _NO_FACTS])
    # Two ranks may agree on a few small operators; then none of their lines is a copy.
    return again if len(again) == len(_again(columns, _IDENTITY)) else []


def _note_joined_totals(notes: list[Diagnostic], columns: Mapping[str, Cells], kept: Ints) -> None:
    """Lines of totals that differ in their numbers alone: those of several tables or ranks."""
    if again := _again(columns, _IDENTITY):
        _note(notes, "totals_joined", again, columns, kept)


def _again(columns: Mapping[str, Cells], names: Sequence[str]) -> list[int]:
    """Rows of a table of totals that have these columns in common with an earlier row."""
    counts, starts = columns.get("n"), columns.get("start_ns")
    if counts is None or (starts is not None and any(start is not None for start in starts)):
        return []
    if not any(isinstance(count, int | np.integer) and count > 1 for count in counts):
        return []
    rows = list(zip(*(columns[name] for name in names if name in columns), strict=True))
    first = {row: index for index, row in reversed(list(enumerate(rows)))}
    return [index for index, row in enumerate(rows) if first[row] != index]


def _second_half(columns: Mapping[str, Cells]) -> list[int]:
    """The second half of rows without starts, where it is the first half once more."""
    count = len(columns["name"])
    half = count // 2
    if count % 2 or count < 2 * _MIN_ROWS:
        return []
    told = [values for name, values in columns.items() if name != "source_row"]
    is_same = all(list(values[:half]) == list(values[half:]) for values in told)
    rows = list(zip(*(values[:half] for values in told), strict=True)) if is_same else []
    return list(range(half, count)) if len(set(rows)) >= _MIN_ROWS else []


def _without(gone: Sequence[int], columns: Columns, kept: Ints) -> tuple[Columns, Ints]:
    rows = np.delete(np.arange(len(kept)), gone)
    return {name: taken(values, rows) for name, values in columns.items()}, kept[rows]


def _note(
    notes: list[Diagnostic],
    code: DiagnosticCode,
    indices: Sequence[int],
    columns: Mapping[str, Cells],
    kept: Ints,
) -> None:
    first = indices[0]
    row = columns["source_row"][first] if "source_row" in columns else int(kept[first]) + 1
    example = row_of(int(str(row)), clean_text(str(columns["name"][first]), 80))
    notes.append(Diagnostic("warning", code, len(indices), example))
