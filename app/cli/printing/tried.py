"""What was tried beside the present best, in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from fusescope.analysis.advice.tried import Tried
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording import tried as words

_CHARS = 600


def print_tried(best: str, results: Sequence[Tried]) -> None:
    """What each remedy brought, and what to keep."""
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(f"\n{clean_text(words.TITLE.text(best=best), _CHARS)}", style="bold")
    for one in results:
        console.print()
        console.print(Text(clean_text(words.head_text(one), _CHARS), style="bold"))
        for line in words.lines(one, best):
            console.print(Padding(Text(clean_text(line, _CHARS)), (0, 0, 0, 3), expand=False))
    console.print()
    console.print(clean_text(words.conclusion(results, best), _CHARS), style="bold")
    console.print(clean_text(words.NOTES.text(best=best), _CHARS), style="dim")
