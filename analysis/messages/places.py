"""Places in a file, as the examples of diagnostics have them: 'row 5: Conv_0'. Names are clean."""

from __future__ import annotations

from fusescope.analysis.messages.message import Message, Said

_ROW = Message("row {n:count}")
_ROW_OF = Message("row {n:count}: {name:name}")
_EVENT = Message("event {n:count}: {name:name}")
_LINE = Message("line {n:count}")
_TABLE = Message("table {n:count}")


def in_row(number: int) -> Said:
    """'row 5'."""
    return _ROW.of(n=number)


def row_of(number: int, name: str) -> Said:
    """'row 5: Conv_0': a row and what it holds."""
    return _ROW_OF.of(n=number, name=name)


def event_of(number: int, name: str) -> Said:
    """'event 5: Conv_0'."""
    return _EVENT.of(n=number, name=name)


def in_line(number: int) -> Said:
    """'line 5'."""
    return _LINE.of(n=number)


def in_table(number: int) -> Said:
    """'table 5'."""
    return _TABLE.of(n=number)
