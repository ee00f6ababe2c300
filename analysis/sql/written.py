"""Answers as JSON, CSV and text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.report.exports.table_csv import csv_bytes
from fusescope.analysis.sql.database import Stream
from fusescope.analysis.text import clean_text

SCHEMA_VERSION = 1
_NUMBERS = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "REAL", "NUMBER")
_LONGEST_WHOLE = 2**63  # JSON has longer ones as text, which no reader rounds
_CHARS = 200
_DEEPEST = 100  # lists within lists


def json_parts(stream: Stream) -> Iterator[bytes]:
    """UTF-8, indented, in parts: `columns` with name and type, `rows` as lists in their order.
    Raises FuseScopeError where a cell nests too deeply."""
    value = {
        "schema_version": SCHEMA_VERSION,
        "columns": [
            {"name": name, "type": kind}
            for name, kind in zip(stream.columns, stream.types, strict=True)
        ],
        "rows": [],
    }
    head, _, end = msgspec.json.format(msgspec.json.encode(value), indent=1).rpartition(b"[]")
    yield head + b"["
    between = b"\n  "
    for batch in stream.batches:
        rows = [
            msgspec.json.format(msgspec.json.encode([plain(cell) for cell in row]), indent=1)
            for row in batch
        ]
        # No text has a line end of its own in JSON.
        yield between + b",\n  ".join(row.replace(b"\n", b"\n  ") for row in rows)
        between = b",\n  "
    yield (b"]" if between == b"\n  " else b"\n ]") + end


def csv_parts(stream: Stream) -> Iterator[bytes]:
    """The rows with a line of heads, as a spreadsheet may open them, in parts. Raises
    FuseScopeError where a cell nests too deeply."""
    yield csv_bytes(stream.columns, [], is_start=True)
    for batch in stream.batches:
        rows = [[_csv_cell(plain(cell)) for cell in row] for row in batch]
        yield csv_bytes(None, rows, is_start=False)


def cell_text(cell: object) -> str:
    """The cell as a terminal shows it, in one line; '' for null."""
    value = plain(cell)
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    text = value if isinstance(value, str) else str(value)
    return clean_text(text, _CHARS, is_name=False)


def is_number(kind: str) -> bool:
    """Whether a column of this type has numbers."""
    return any(word in kind.upper() for word in _NUMBERS) and "[" not in kind


def plain(cell: Any, depth: int = 0) -> Any:
    """The cell as JSON has it; what is not a number is null. Raises FuseScopeError where it nests
    too deeply."""
    if depth > _DEEPEST:
        raise FuseScopeError("sql_deep")
    if cell is None or isinstance(cell, bool):
        return cell
    if isinstance(cell, int):
        return cell if -_LONGEST_WHOLE <= cell < _LONGEST_WHOLE else str(cell)
    if isinstance(cell, float | Decimal):
        number = float(cell)
        return number if math.isfinite(number) else None
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    if isinstance(cell, bytes | bytearray):
        return bytes(cell).hex()
    if isinstance(cell, Mapping):
        return {str(name): plain(value, depth + 1) for name, value in cell.items()}
    if isinstance(cell, list | tuple):
        return [plain(value, depth + 1) for value in cell]
    return str(cell)


def _csv_cell(value: Any) -> Any:
    return str(value) if isinstance(value, list | dict) else value
