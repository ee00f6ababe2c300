"""Whether the last cell of a table without its last line end is only a part of a cell."""

from __future__ import annotations

import csv
import re

from fusescope.analysis.readers.input.encoding import utf8

_TAIL_BYTES = 64 * 1024
_DELIMITERS = ",;\t"
_BRACKETS = ("()", "[]", "{}", "<>")
_DECIMALS = re.compile(r"[-+]?\d+\.(\d+)")


def ends_in_part_of_a_cell(content: bytes) -> bool:
    """True where the last cell is what others of its column begin with, leaves a bracket open as no
    other does, or has fewer decimals than all others have."""
    text = utf8(content[-_TAIL_BYTES:]).decode("utf-8", errors="replace")
    lines = [line for line in text.splitlines()[1:] if line.strip()]
    if len(lines) < 2:
        return False
    mark = max(_DELIMITERS, key=lines[-1].count)
    if mark not in lines[-1]:
        return False
    try:
        cells = [row[-1].strip() for row in csv.reader(lines, delimiter=mark) if row]
    except csv.Error:
        return False
    *others, last = cells
    if not last or not others:
        return False
    if any(other != last and other.startswith(last) for other in others if not _is_number(other)):
        return True
    if _is_open(last) and not any(map(_is_open, others)):
        return True
    decimals = {len(found[1]) if (found := _DECIMALS.fullmatch(one)) else -1 for one in others}
    found = _DECIMALS.fullmatch(last)
    return (
        len(decimals) == 1
        and len(others) > 1
        and _is_number(last)
        and (len(found[1]) if found else 0) < decimals.pop()
    )


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[-+]?\d+\.?\d*", cell) is not None


def _is_open(cell: str) -> bool:
    return any(cell.count(pair[0]) > cell.count(pair[1]) for pair in _BRACKETS)
