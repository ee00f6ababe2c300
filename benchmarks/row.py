"""One row of the benchmark table."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """What was measured, the target it should meet on a quiet machine, and a ratio.

    `relative` compares with something measured in the same run, since bare times of a noisy
    machine say little.
    """

    what: str
    measured: str
    target: str
    relative: str = ""


def print_rows(rows: list[Row]) -> None:
    """The table on standard output."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("what")
    table.add_column("measured", justify="right")
    table.add_column("target", justify="right")
    table.add_column("against the same run")
    for row in rows:
        table.add_row(row.what, row.measured, row.target, row.relative)
    Console(highlight=False, markup=False, width=140).print(table)
