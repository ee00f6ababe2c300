"""Findings in a terminal: in order of worth, then what the file cannot answer."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from fusescope.analysis.advice import Findings
from fusescope.analysis.advice.explanation.explanation import TraceExplanation
from fusescope.analysis.advice.explanation.model_tree import TracedTree
from fusescope.analysis.advice.scorecard import Scorecard
from fusescope.analysis.compare.side import Side
from fusescope.analysis.messages import say
from fusescope.analysis.text import clean_text
from fusescope.analysis.wording import findings as words
from fusescope.analysis.wording import units_text
from fusescope.analysis.wording.diagnostics.early_end import early_end_text, early_end_title
from fusescope.analysis.wording.scorecard import SCORECARD_TITLE, scorecard_sentence
from fusescope.analysis.wording.single import unit_runs_text
from fusescope.app.cli.printing.explained import print_explanation
from fusescope.app.cli.printing.model_tree import print_trace_tree

_CHARS = 1000  # of a line: names in it come from files


def print_findings(
    side: Side,
    found: Findings,
    card: Scorecard | None,
    explained: TraceExplanation | None,
    tree: TracedTree | None = None,
) -> None:
    """Print what explains the trace, and its modules; what limits, what it would bring to change
    that, why, and what to try; then how a prediction of this side held, where there was one."""
    console = Console(highlight=False, markup=False, emoji=False)
    if side.trace.ends_early:
        console.print(clean_text(early_end_title(side.name), _CHARS), style="bold red")
        console.print(early_end_text(side.trace))
        return
    if explained is not None:
        console.print(clean_text(side.name, _CHARS), style="bold")
        print_explanation(console, explained)
        print_trace_tree(console, tree)
        console.print()
    console.print(clean_text(words.FINDINGS_TITLE.text(side=side.name), _CHARS), style="bold")
    if others := units_text(side.trace):
        console.print(clean_text(others, _CHARS), style="dim")
    if runs := unit_runs_text(side.trace):
        console.print(clean_text(runs, _CHARS), style="dim")
    if not found.found:
        console.print(words.NOTHING.text())
    for place, finding in enumerate(found.found, 1):
        limits, gain = (
            "".join(part.text for part in parts)
            for parts in (words.limit_parts(finding), words.gain_parts(finding, found.run_ns))
        )
        confidence = words.CONFIDENCE[finding.confidence].text()
        console.print()
        label = say("{place}. {label}.", place=place, label=words.label_text(finding))
        console.print(
            Text(f"{label} ", style="bold").append(clean_text(limits, _CHARS), "not bold")
        )
        names = words.names_text(finding)
        for line in (
            say("{gain} ({confidence})", gain=gain, confidence=confidence),
            words.why_text(finding),
            say("Try: {remedy:name}", remedy=words.remedy_text(finding)),
            say("Operators: {names:name}", names=names) if names else "",
        ):
            if line:
                console.print(Padding(Text(clean_text(line, _CHARS)), (0, 0, 0, 3), expand=False))
    console.print()
    console.print(words.times_text(found), style="dim")
    lines = words.unknown_lines(found)
    if lines:
        console.print(f"\n{words.UNKNOWN_TITLE}", style="bold")
        for line in lines:
            console.print(Text(f"- {line}"))
    if card is not None:
        console.print(f"\n{SCORECARD_TITLE}", style="bold")
        console.print(scorecard_sentence(card))
