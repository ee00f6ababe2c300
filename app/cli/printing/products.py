"""The matrix products of two phases of serving in a terminal, a table for each side."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from fusescope.analysis.compare.comparison import Comparison


def print_products(console: Console, comparison: Comparison) -> None:
    """Print the products of both sides; nothing of other pairs."""
    if comparison.explanation is None:
        return
    from fusescope.analysis.report.explanation.product_rows import product_table, texts_of

    found = product_table(comparison.explanation)
    if found is None:
        return
    for side, name in enumerate(found.sides):
        console.print(f"\n{name}", style="bold")
        table = Table(box=None, pad_edge=False, header_style="dim")
        table.add_column(found.title)
        for head in found.heads:
            table.add_column(head, justify="right", no_wrap=True)
        for row in found.rows:
            table.add_row(row.name, *texts_of(row.sides[side]))
        console.print(table)
    console.print(found.basis)
