"""What `fusescope bisect` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fusescope.analysis import units
from fusescope.analysis.messages import say
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.releases import (
    change_lines,
    change_sentence,
    history_sentence,
    skipped_text,
    what_changed,
)
from fusescope.analysis.wording.releases.costs import cost_lines, cost_sentence

if TYPE_CHECKING:
    from fusescope.analysis.compare.comparison import Comparison
    from fusescope.analysis.releases.changes import Change
    from fusescope.analysis.releases.history import History

_CHARS = 1000


def print_releases(
    history: History,
    changes: Sequence[Change],
    measured: Mapping[str, Comparison] | None = None,
) -> None:
    """How many releases change something, a row for each, and what each change is."""
    console = Console(highlight=False, markup=False, emoji=False)
    has_lost = any(change.is_worse and change.lasts for change in changes)
    style = "bold red" if has_lost else "bold green"
    console.print(clean_text(history_sentence(history, changes), _CHARS), style=style)
    console.print(clean_text(history.model.name, _CHARS), style="dim")
    console.print()
    console.print(_table(history, changes))
    newest = history.compared[-1].version
    for change in changes:
        console.print()
        console.print(clean_text(change_sentence(change, newest), _CHARS), style="bold")
        for line in change_lines(change):
            console.print(Text(clean_text(f"- {line}", _CHARS)))
        comparison = (measured or {}).get(change.newer)
        if comparison is not None:
            console.print(clean_text(cost_sentence(comparison), _CHARS))
            for line in cost_lines(change, comparison):
                console.print(Text(clean_text(f"- {line}", _CHARS)))


def _table(history: History, changes: Sequence[Change]) -> Table:
    by_version = {change.newer: change for change in changes}
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(say("Release"), no_wrap=True)
    table.add_column(say("Operators"), justify="right", no_wrap=True)
    table.add_column(say("Change"))
    for release in history.releases:
        change = by_version.get(release.version)
        skipped = skipped_text(release)
        nodes = history.nodes(release)
        table.add_row(
            clean_text(release.version, 40),
            units.MISSING if nodes is None else str(nodes),
            say("left out: {reason}", reason=skipped) if skipped else _told(change),
            style="dim" if skipped else "",
        )
    return table


def _told(change: Change | None) -> Text:
    if change is None:
        return Text("")
    return Text(what_changed(change), style="red" if change.is_worse else "green")
