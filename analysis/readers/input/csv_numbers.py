"""Numbers in cells of a CSV: decimal signs, groups of digits, units of time.

'12,345' is one number to a German spreadsheet and a thousand times that to an American one, so
what a mark means is told by the other cells of its column, then by the rest of the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers.input.times import Unit
from fusescope.analysis.trace import Diagnostic

Role = Literal["decimal", "thousands"]

_UNITS: dict[str, Unit] = {}
for _unit, _names in (
    ("s", "s sec secs second seconds"),
    ("ms", "ms msec msecs millisecond milliseconds"),
    ("us", "us usec usecs microsecond microseconds µs μs"),
    ("ns", "ns nsec nsecs nanosecond nanoseconds"),
    ("ps", "ps psec psecs picosecond picoseconds"),
):
    _UNITS |= dict.fromkeys(_names.split(), _unit)  # type: ignore[arg-type]

# Blanks and apostrophes between groups of three digits.
_GAP = re.compile("(?<=\\d)[ \u00a0\u2009\u202f'\u2019](?=\\d{3}(?!\\d))")
_ONE_MARK = re.compile(r"[-+]?(\d*)[.,](\d*)(?:[eE][-+]?\d+)?", re.ASCII)
_GROUPS = re.compile(r"[-+]?\d{1,3}(?:(?P<mark>[.,])\d{3})(?:(?P=mark)\d{3})*", re.ASCII)
_BOTH = re.compile(
    r"[-+]?\d{1,3}(?:(?P<mark>[.,])\d{3})(?:(?P=mark)\d{3})*(?!(?P=mark))[.,]\d*", re.ASCII
)


_OF_TIME = re.compile(r"(?i:time|dur)|[a-z](?:Ns|Us|Ms)$")
_TWO_POINTS = re.compile(r"\d\.\d{3}\.\d{3}")


@dataclass(frozen=True)
class Marks:
    """What comma and point mean where a cell alone does not tell; None: nobody knows."""

    comma: Role | None
    point: Role | None


POINT = Marks("thousands", "decimal")
COMMA = Marks("decimal", "thousands")
MIXED = Marks(None, None)
# Nothing told: a table of ';' has them because the comma is its decimal sign.
OF_SEMICOLONS = Marks("decimal", "decimal")


def time_unit(text: str) -> Unit | None:
    """'us', 'µs', 'usec' -> 'us'; None for what is not a unit of time that we know."""
    return _UNITS.get(text.strip().lower().rstrip("."))


def unit_of(unit: str, head: str, where: str, default: Unit) -> Unit:
    """The unit of times under a head; `default` where it names none.

    Raises FuseScopeError about the file `where` for one that is not known.
    """
    known = time_unit(unit) if unit else default
    if known is None:
        raise FuseScopeError("time_unit_unknown", where=where, column=head)
    return known


def column_marks(
    columns: Sequence[tuple[str, str, list[str]]], delimiter: str, notes: list[Diagnostic]
) -> list[Marks]:
    """What commas and points mean in each column (name, unit, cells); notes where it is a guess.

    A column tells for itself; where it does not, the other columns of times and units do.
    """
    counted = [counts_time(name, unit) for name, unit, _ in columns]
    own = [
        _own_marks(cells) if counts else None
        for (_, _, cells), counts in zip(columns, counted, strict=True)
    ]
    shared = _agreed(own)
    unsure = [
        index
        for index, (_, _, cells) in enumerate(columns)
        if counted[index] and own[index] is None and any("," in cell for cell in cells)
    ]
    if unsure and shared is None:
        shared = _agreed(
            [
                marks_of(set(column[2]))
                for column, counts in zip(columns, counted, strict=True)
                if counts
            ]
        )
    if shared is None:
        for index in unsure:
            name, unit, cells = columns[index]
            open_cells = [cell for cell in cells if "," in cell and is_ambiguous(cell)]
            if open_cells and not _is_whole(name, unit):
                example = f"{name}: {open_cells[0]}"
                values = {"decimal": delimiter == ";"}
                count = len(open_cells)
                notes.append(Diagnostic("warning", "ambiguous_commas", count, example, values))
    if shared is None:
        elsewhere = OF_SEMICOLONS if delimiter == ";" else POINT
    else:  # points in a column without commas are decimal signs, or nobody knows
        elsewhere = Marks("decimal", None) if shared == COMMA else shared
    whole = Marks("thousands", elsewhere.point) if shared is None else elsewhere
    return [
        marks or (whole if _is_whole(name, unit) else elsewhere)
        for marks, (name, unit, _) in zip(own, columns, strict=True)
    ]


def counts_time(name: str, unit: str) -> bool:
    """True for a column with a unit, or of times by its name: its marks tell of others."""
    return unit != "" or _OF_TIME.search(name) is not None


def _is_whole(name: str, unit: str) -> bool:
    """True for a column of ns or ps, which profilers write as whole numbers."""
    return time_unit(unit) in ("ns", "ps") or name.endswith(("Ns", "_ns"))


def _own_marks(cells: list[str]) -> Marks | None:
    """What the marks of a column mean by its own cells; None without a comma or two points."""
    joined = "\n".join(cells)
    if "," not in joined and not _TWO_POINTS.search(joined):
        return None
    return marks_of(set(cells))


def _agreed(found: Iterable[Marks | None]) -> Marks | None:
    told = {marks for marks in found if marks is not None}
    return (told.pop() if len(told) == 1 else MIXED) if told else None


def is_ambiguous(cell: str) -> bool:
    """True for '12,345' and '12.345', of which one is a thousand times the other."""
    match = _ONE_MARK.fullmatch(cell)
    if match is None or len(match[2]) != 3 or not 1 <= len(match[1]) <= 3:
        return False
    return not match[1].startswith("0") and cell[-1].isdigit() and "e" not in cell.lower()


def marks_of(cells: Iterable[str]) -> Marks | None:
    """What the marks mean in these cells; None where no cell tells, MIXED where they disagree."""
    found = {sign for cell in cells if (sign := _decimal_sign(cell)) is not None}
    if len(found) > 1:
        return MIXED
    return {".": POINT, ",": COMMA}[found.pop()] if found else None


def plain(cell: str, marks: Marks) -> str:
    """A number with a decimal point and nothing between its digits; '' where marks leave it open.

    Other text stays as it is.
    """
    if not any(mark in cell for mark in (",", ".", " ", "'", "\u00a0", "\u2009", "\u202f", "’")):
        return cell
    cell = _GAP.sub("", cell)
    sign = _decimal_sign(cell)
    if sign is None:
        if not is_ambiguous(cell):
            return cell
        role = marks.comma if "," in cell else marks.point
        if role is None:
            return ""
        return cell.replace(",", ".") if role == "decimal" else re.sub("[.,]", "", cell)
    return cell.replace("," if sign == "." else ".", "").replace(",", ".")


def _decimal_sign(cell: str) -> str | None:
    """The decimal sign that a cell alone tells, by its marks or by how it groups digits."""
    commas, points = cell.count(","), cell.count(".")
    if not commas and not points:
        return None
    if commas + points == 1:
        mark = "," if commas else "."
        match = _ONE_MARK.fullmatch(cell)
        if match is None or not (match[1] or match[2]) or is_ambiguous(cell):
            return None
        return mark
    if match := _GROUPS.fullmatch(cell):
        return "." if match["mark"] == "," else ","
    if match := _BOTH.fullmatch(cell):
        return "." if match["mark"] == "," else ","
    return None
