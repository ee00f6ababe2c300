"""A last row of totals or means, as people add it to a table in a spreadsheet."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fusescope.analysis.readers.input.csv_numbers import POINT, plain

_TOTALS = ("total", "totals", "sum", "grand total", "subtotal", "summe", "gesamt", "合计", "总计")
_MEANS = ("average", "avg", "mean", "mittelwert", "平均", "平均值")
_ROUNDING = 1e-3
_MIN_ROWS = 3
ALONE_EMPTY = 2  # cells that only the last row leaves empty


def ends_in_summary(columns: list[list[str]], left_empty: Sequence[bool]) -> bool:
    """True where the last row is the sum or the mean of the rows before it.

    It is named so, or leaves at least two cells empty that no other row does, and one of its
    numbers is the sum, or the mean, of the column above. `left_empty`, a value a column, is
    False where the last row holds "N/A": a profiler writes that, a person leaves the cell out.
    """
    if not columns or len(columns[0]) <= _MIN_ROWS:
        return False
    last = [column[-1] for column in columns]
    words = {cell.strip(" :").lower() for cell in last}
    is_mean, is_total = bool(words & set(_MEANS)), bool(words & set(_TOTALS))
    if not (is_mean or is_total):
        missing = sum(
            empty and all(column[:-1]) for column, empty in zip(columns, left_empty, strict=False)
        )
        is_total = missing >= ALONE_EMPTY
    if not (is_mean or is_total):
        return False
    return any(_is_summary(column, mean=is_mean) for column in columns if column[-1])


def names_summary(cell: str) -> bool:
    """True for a word that stands in a row of sums or means."""
    return cell.strip(" :").lower() in (*_TOTALS, *_MEANS)


def _is_summary(column: list[str], *, mean: bool) -> bool:
    try:
        *numbers, last = [float(plain(cell, POINT)) for cell in column if cell]
    except ValueError:
        return False
    if len(set(numbers)) < 2 or not all(map(math.isfinite, numbers)):
        return False
    expected = math.fsum(numbers) / (len(numbers) if mean else 1)
    return expected > 0 and abs(last - expected) <= _ROUNDING * expected
