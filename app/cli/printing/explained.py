"""The explanation of one trace in a terminal: what a unit of work takes, and what need not be."""

from __future__ import annotations

from rich.console import Console

from fusescope.analysis.advice.explanation.explanation import TraceExplanation
from fusescope.analysis.messages import paragraph
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording.explanation.trace import following_said, told_said

_CHARS = 2000  # of a paragraph: names in it come from files


def print_explanation(console: Console, explained: TraceExplanation) -> None:
    """Print what a unit is and takes, where its time goes, and what need not be, largest first."""
    for sentences in filter(None, told_said(explained)):
        console.print(clean_text(paragraph(*map(str, sentences)), _CHARS))
    for said in following_said(explained):
        console.print(clean_text(f"- {said}", _CHARS))
