"""What each step of an engine brings, in a terminal."""

from __future__ import annotations

from itertools import pairwise

from rich.console import Console
from rich.table import Table

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.comparison import MultipleComparison
from fusescope.analysis.compare.multiple.ladder import Ladder, ladder_of
from fusescope.analysis.messages import Part, say
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.multiple import ladder as words
from fusescope.app.cli.printing.heads import head_with_unit

_CHARS = 1000


def print_ladder(
    console: Console, compared: Comparison | MultipleComparison, *, is_brief: bool
) -> None:
    """The answer, the steps, and what each of them is; `is_brief` ends it after the answer.
    Nothing where the sides form no ladder."""
    found = ladder_of(compared)
    if found is None:
        return
    console.print()
    if not is_brief:
        console.print(_text(words.ladder_title(found)), style="bold")
    console.print(_text(words.ladder_parts(found)))
    if is_brief:
        return
    basis = words.ladder_basis(found, has_ledger=isinstance(compared, Comparison))
    console.print(_text(basis), style="dim")
    console.print(_table(found))
    for step in found.steps:
        name, meaning = words.NAMES[step.code], words.step_sentences(step)
        console.print(say("{label}: {text}", label=name, text=meaning))


def _table(ladder: Ladder) -> Table:
    """A row for each rung, in the order in which they follow."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("variant"), no_wrap=True)
    reached = [ladder.first.time_ns, *(step.after.time_ns for step in ladder.steps)]
    gains = [*(step.gain.value for step in ladder.steps), ladder.total.value]
    ends = [*pairwise(reached), (reached[0], reached[-1])]
    columns = units.change_columns([(*both, -gain) for both, gain in zip(ends, gains, strict=True)])
    times, changes = columns.values, columns.changes
    table.add_column(head_with_unit(say("time"), times.unit), justify="right", no_wrap=True)
    table.add_column(say("step"))
    table.add_column(head_with_unit(say("change"), changes.unit), justify="right", no_wrap=True)
    table.add_column(head_with_unit(words.interval_head(ladder), changes.unit), justify="right")
    table.add_row(ladder.first.variant, times.number(ladder.first.time_ns), "", "", "")
    for step in ladder.steps:
        table.add_row(
            step.after.variant,
            times.number(step.after.time_ns),
            str(words.NAMES[step.code]),
            changes.number(-step.gain.value, signed=True),
            words.interval_text(step.gain, changes),
        )
    total = changes.number(-ladder.total.value, signed=True)
    table.add_row("", "", say("together"), total, words.interval_text(ladder.total, changes))
    return table


def _text(parts: tuple[Part, ...]) -> str:
    return clean_text("".join(part.text for part in parts), _CHARS)
