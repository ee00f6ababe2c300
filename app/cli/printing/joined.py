"""A group that is several on both sides, in a terminal: either side's own, and their times."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import say
from fusescope.analysis.report.text import known
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.fusion.joined import joined_rows, largest_joined, own_column

_LINES = 16
_CHARS = 44
_WIDE = 80  # columns of the terminal below which nothing is printed: the two sides do not fit


def print_joined(console: Console, comparison: Comparison) -> None:
    """The one that takes the most time; nothing where no group is several on both sides."""
    group = largest_joined(comparison)
    if group is None or console.width < _WIDE:
        return
    row = comparison.ledger.rows.set_index("group").loc[group.id]
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("operators of the model"), overflow="fold")
    for side in (say("baseline"), say("candidate")):
        table.add_column(side, overflow="fold")
        table.add_column(say("time"), justify="right", no_wrap=True)
    lines = joined_rows(comparison, group)
    for line in lines[:_LINES]:
        table.add_row(
            _cut(line.original),
            _cut(line.baseline.text),
            line.baseline.time,
            _cut(line.candidate.text),
            line.candidate.time,
        )
    if len(lines) > _LINES:
        more = say(
            "{n:count} more line: --json has it.",
            "{n:count} more lines: --json has all.",
            n=len(lines) - _LINES,
        )
        table.add_row(more)
    column = own_column(comparison, group)
    before, after = (column.text(known(row[name])) for name in ("before_ns", "after_ns"))
    table.add_row(say("whole group"), "", before, "", after)
    title = say(
        "The {operators:operators} of group {id}: groups of either side inside it, a time in the "
        "first of their lines",
        operators=len(group.original),
        id=group.id,
    )
    console.print(f"\n{title}", style="bold")
    console.print(table)


def _cut(text: str) -> str:
    return units.middle_cut(clean_text(text, 300), _CHARS)
