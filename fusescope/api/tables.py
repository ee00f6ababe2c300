"""Rows as DataFrames whose columns are there even where no row is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

DIAGNOSTIC = ("severity", "code", "count", "message")
CHANGE = (
    "code", "sentence", "change_ns", "baseline_ns", "candidate_ns", "repeats", "evidence",
)  # fmt: skip
SAVING = ("code", "sentence", "ns", "repeats", "evidence")
FINDING = (
    "code", "message", "why", "try", "gain_ns", "gain_low_ns", "gain_high_ns", "at_most_ns",
    "share", "basis", "confidence",
)  # fmt: skip
FIGURE = (
    "figure", "unit", "baseline", "candidate", "change", "change_kind", "baseline_basis",
    "candidate_basis",
)  # fmt: skip
ITEM = (
    "name", "kind", "date", "model", "machine", "headline", "tags", "note", "bytes", "hash", "id",
)  # fmt: skip


_NUMBERS = ("ns", "count", "share", "repeats", "bytes")  # ends of names of columns of numbers


def table_of(rows: Iterable[Mapping[str, Any]], columns: Iterable[str]) -> pd.DataFrame:
    """Return these columns of rows, in this order; numbers are of pandas' nullable types, whole
    ones exact."""
    names = list(columns)
    table = pd.DataFrame([{name: row[name] for name in names} for row in rows], columns=names)
    table = table.convert_dtypes()
    unknown = [
        name
        for name in names
        if name.rpartition("_")[2] in _NUMBERS and table[name].dtype == "object"
    ]
    return table.astype(dict.fromkeys(unknown, "Float64"))
