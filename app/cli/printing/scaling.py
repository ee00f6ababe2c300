"""Scaling over batch sizes and threads, in a terminal: a table for each variant."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fusescope.analysis.compare.multiple.scaling import Scaling
from fusescope.analysis.messages import say
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.multiple import scaling as words
from fusescope.analysis.wording.trust import TRUST

_CHARS = 1000  # of a line: names in it come from files
_FIXED = "\N{NO-BREAK SPACE}"
_WIDE = 110  # columns of the terminal from which every figure has its interval
_BOUNDED = ("throughput", "efficiency")  # have theirs on a narrow one, too


def print_scaling(scaling: Scaling) -> None:
    """Where each variant is best, its table, what the figures rest on, and doubts."""
    console = Console(highlight=False, markup=False, emoji=False)
    title = words.SCALING_TITLE.text(model=scaling.model)
    console.print(clean_text(title, _CHARS), style="bold")
    for variant in scaling.variants:
        console.print()
        console.print(clean_text(words.best_sentence(scaling, variant), _CHARS))
        console.print(_table(scaling, variant, is_wide=console.width >= _WIDE))
    console.print(f"\n{words.SCALING_BASIS}", style="dim")
    console.print(f"\n{TRUST}", style="bold")
    for line in words.doubt_lines(scaling):
        console.print(Text(clean_text(f"! {line}", _CHARS)))


def _table(scaling: Scaling, variant: str, *, is_wide: bool) -> Table:
    points = scaling.of(variant)
    measures = [
        name
        for name in words.LABELS
        if name != "speedup"
        and (is_wide or name != "batch_gain")
        and any(words.value_of(point, name) is not None for point in points)
    ]
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("batch"), justify="right", no_wrap=True)
    table.add_column(say("threads"), justify="right", no_wrap=True)
    for name in measures:
        table.add_column(words.LABELS[name].text(), justify="right", overflow="fold")
    in_units = {name: words.column_of_points(points, name) for name in measures}
    for point in points:
        cells = []
        for name in measures:
            is_bounded, unit = is_wide or name in _BOUNDED, in_units[name]
            interval = words.interval_text(point, name, unit) if is_bounded else ""
            lines = filter(None, (words.value_text(point, name, unit), interval))
            cells.append("\n".join(line.replace(" ", _FIXED) for line in lines))
        table.add_row(words.batch_text(point), str(point.threads), *cells)
    return table
