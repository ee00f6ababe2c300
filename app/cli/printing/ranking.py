"""What several models miss, in a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from fusescope.analysis.advice.ranking import Ranking
from fusescope.analysis.messages import say
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.findings import ranking as words

_CHARS = 1000


def print_ranking(found: Ranking, failed: Mapping[str, str]) -> None:
    """Patterns by what they would save in all models; then what was not judged."""
    console = Console(highlight=False, markup=False, emoji=False)
    judged = sum(model.unanswered is None for model in found.models)
    console.print(words.TITLE.text(n=judged), style="bold")
    if judged and not found.missed:
        console.print(words.NOTHING.text())
    for place, one in enumerate(found.missed, 1):
        console.print()
        head = say("{place}. {label}", place=place, label=words.head_text(one, found))
        console.print(Text(clean_text(head, _CHARS), style="bold"))
        for line in words.lines(one, found):
            console.print(Padding(Text(clean_text(line, _CHARS)), (0, 0, 0, 3), expand=False))
    if found.missed:
        console.print()
        console.print(words.NOTES.text(), style="dim")
    if others := words.not_judged_lines(found.models, failed):
        console.print()
        console.print(words.NOT_JUDGED.text(), style="bold")
        for line in others:
            console.print(Text(f"- {clean_text(line, _CHARS)}"))
