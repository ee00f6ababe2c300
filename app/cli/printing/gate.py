"""What `fusescope gate` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from fusescope.analysis.gate.judgement import has_failed
from fusescope.analysis.messages import say
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.gate import (
    OUTCOMES,
    blocked_lines,
    cause_lines,
    change_lines,
    gate_sentence,
    judged_sentence,
)

if TYPE_CHECKING:
    from fusescope.analysis.advice.missed_fusions import MissedFusion
    from fusescope.analysis.gate.judged import Judged

_CHARS = 1000
_STYLES = {"failed": "bold red", "passed": "green", "cannot_tell": "yellow", "unknown": "yellow"}


def print_gate(
    judged: Sequence[Judged],
    baseline: str,
    candidate: str,
    misses: Sequence[MissedFusion] = (),
) -> None:
    """What came of all, each condition, the groups behind true ones, and what blocks them."""
    console = Console(highlight=False, markup=False, emoji=False)
    style = "bold red" if has_failed(judged) else "bold green"
    console.print(clean_text(gate_sentence(judged), _CHARS), style=style)
    names = say("{a:name} → {b:name}", a=baseline, b=candidate)
    console.print(clean_text(names, _CHARS), style="dim")
    for one in judged:
        console.print()
        outcome = str(OUTCOMES[one.outcome])
        line = Text(f"{clean_text(one.condition.text, _CHARS)}: ")
        console.print(line.append(outcome, style=_STYLES[one.outcome]))
        console.print(f"  {clean_text(judged_sentence(one), _CHARS)}")
    lines = [*cause_lines(judged), *change_lines(judged), *blocked_lines(misses)]
    if lines:
        console.print()
    for text in lines:
        console.print(Text(clean_text(f"- {text}", _CHARS)))
