"""Tables as CSV that a spreadsheet may open: text cells never start a formula."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

# What a terminal obeys; line ends and tabs stay, in quotes.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def table_csv(table: pd.DataFrame) -> bytes:
    """`table` without its index, UTF-8 with a mark at the start that spreadsheets look for.

    Text that would start a formula, also after spaces or in full-width form, gets a leading '.
    Numbers stay numbers; missing cells are empty; control characters are written as \\x1b.
    """
    return csv_bytes(table.columns, table.itertuples(index=False), is_start=True)


def csv_bytes(
    columns: Iterable[object] | None, rows: Iterable[Sequence[Any]], *, is_start: bool
) -> bytes:
    """The rows likewise, behind a line of the columns; without it and the mark, they go on a table
    that has begun."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    if columns is not None:
        writer.writerow([_cell(str(name)) for name in columns])
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return out.getvalue().encode("utf-8-sig" if is_start else "utf-8")


def _cell(value: Any) -> Any:
    if value is None or type(value) is int:
        return value
    if not isinstance(value, str):
        return "" if pd.isna(value) else value
    if not value.isprintable():
        value = _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", value)
    start = unicodedata.normalize("NFKC", value.lstrip(" \u00a0\u3000"))[:1]
    return f"'{value}" if start in _FORMULA and start else value
