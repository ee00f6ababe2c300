"""Rows with more cells than heads: names that hold the delimiter and are not in quotes.

Some versions of profilers write `void gemm<float, 4>(int),3,600` below `Name,Calls,TotalNs`. Where
only one column can hold the surplus, since the cells of all others must be numbers there, it does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusescope.analysis.readers.input.csv_columns import BLANKS, MISSING


def joined_names(
    columns: Sequence[Sequence[str]], surplus: Mapping[int, list[str]], delimiter: str
) -> dict[int, list[str]]:
    """The cells of rows that have too many, by position, with the parts of a name joined; rows for
    which that is not sure are left out. `columns` are the cells of all rows, of which those of
    `surplus` do not count."""
    if not surplus:
        return {}
    width = len(columns)
    is_text = _texts(columns, surplus)
    ranges = {at: _places(_trimmed(row, width), is_text, width) for at, row in surplus.items()}
    found = {place for places in ranges.values() for place in places}
    if len(found) != 1:
        return {}
    [at] = found
    made = {}
    for row, places in ranges.items():
        cells = _trimmed(surplus[row], width)
        end = at + 1 + len(cells) - width
        if at in places:
            made[row] = [*cells[:at], delimiter.join(cells[at:end]), *cells[end:]]
    return made


def _texts(columns: Sequence[Sequence[str]], surplus: Mapping[int, object]) -> list[bool] | None:
    """Which columns hold texts in the other rows; None without other rows."""
    if len(columns[0]) == len(surplus):
        return None
    others = [at for at in range(len(columns[0])) if at not in surplus]
    return [not all(map(_is_number, {column[at] for at in others})) for column in columns]


def _places(cells: Sequence[str], is_text: Sequence[bool] | None, width: int) -> list[int]:
    """The columns that can hold what the row has too much."""
    more = len(cells) - width
    if more <= 0:
        return []

    def fits(cell: str, column: int) -> bool:
        return (is_text is not None and is_text[column]) or _is_number(cell)

    first = 0
    while first < width and fits(cells[first], first):
        first += 1
    last = width - 1
    while last >= 0 and fits(cells[last + more], last):
        last -= 1
    places = range(max(0, last), min(first, width - 1) + 1)
    return [
        at
        for at in places
        if (is_text is None or is_text[at])
        # A number at its end is one with a comma as its decimal sign: '1,5' is no part of a name.
        and not (_is_number(cells[at]) or _is_number(cells[at + more]))
    ]


def _trimmed(row: list[str], width: int) -> list[str]:
    """Without empty cells at the end that no column has: a comma too many."""
    end = len(row)
    while end > width and not row[end - 1].strip(BLANKS):
        end -= 1
    return row[:end]


def _is_number(cell: str) -> bool:
    text = cell.strip(BLANKS).removesuffix("%")
    if text.lower() in MISSING:
        return True
    try:
        float(text[:60])
    except ValueError:
        return False
    return True
