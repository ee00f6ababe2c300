"""Answers as JSON, CSV and text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pandas as pd

from analysis.report.exports.table_csv import table_csv
from analysis.sql.database import Answer
from analysis.text import clean_text

SCHEMA_VERSION = 1
_NUMBERS = ("INT", "DOUBLE", "FLOAT", "DECIMAL", "REAL", "NUMBER")
_LONGEST_WHOLE = 2**63  # JSON has longer ones as text, which no reader rounds
_CHARS = 200


def answer_json(answer: Answer) -> bytes:
    """UTF-8, indented: `columns` with name and type, `rows` as lists in their order."""
    value = {
        "schema_version": SCHEMA_VERSION,
        "columns": [
            {"name": name, "type": kind}
            for name, kind in zip(answer.columns, answer.types, strict=True)
        ],
        "rows": [[plain(cell) for cell in row] for row in answer.rows],
    }
    return msgspec.json.format(msgspec.json.encode(value), indent=1)


def answer_csv(answer: Answer) -> bytes:
    """The rows with a line of heads, as a spreadsheet may open them."""
    cells = [[_csv_cell(plain(cell)) for cell in row] for row in answer.rows]
    columns = {i: [row[i] for row in cells] for i in range(len(answer.columns))}
    table = pd.DataFrame(columns, dtype="object")
    table.columns = pd.Index(answer.columns)
    return table_csv(table)


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


def plain(cell: Any) -> Any:
    """The cell as JSON has it; what is not a number is null."""
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
        return {str(name): plain(value) for name, value in cell.items()}
    if isinstance(cell, list | tuple):
        return [plain(value) for value in cell]
    return str(cell)


def _csv_cell(value: Any) -> Any:
    return str(value) if isinstance(value, list | dict) else value
