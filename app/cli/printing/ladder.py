"""What each step of an engine brings, in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from fusescope.analysis import units
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.comparison import MultipleComparison
from fusescope.analysis.compare.multiple.ladder import Ladder, ladder_of
from fusescope.analysis.messages import Part, say
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.multiple import ladder as words

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
    table.add_column(say("time"), justify="right", no_wrap=True)
    table.add_column(say("step"))
    table.add_column(say("change"), justify="right", no_wrap=True)
    table.add_column(words.interval_head(ladder), justify="right")
    table.add_row(ladder.first.variant, units.duration(ladder.first.time_ns), "", "", "")
    for step in ladder.steps:
        table.add_row(
            step.after.variant,
            units.duration(step.after.time_ns),
            str(words.NAMES[step.code]),
            units.duration(-step.gain.value, signed=True),
            words.interval_text(step.gain),
        )
    total = units.duration(-ladder.total.value, signed=True)
    table.add_row("", "", say("together"), total, words.interval_text(ladder.total))
    return table


def _text(parts: tuple[Part, ...]) -> str:
    return clean_text("".join(part.text for part in parts), _CHARS)
