"""What times and counts of operators are of: a run each, or whole files that do not mark runs."""

from __future__ import annotations

import re
from dataclasses import replace

from analysis.compare.comparison import Comparison
from analysis.compare.timing.verdict import TimeSource
from analysis.wording.phrases import capital
from analysis.wording.texts import FIGURES, TIME_SOURCES, FigureText
from analysis.wording.unknown_noise import OF_FILES


def per_text(comparison: Comparison) -> str:
    """'per run'; 'per file' where no side marks its runs; where one does not, it says so."""
    told = comparison.baseline.trace.has_runs, comparison.candidate.trace.has_runs
    if all(told):
        return "per run"
    if not any(told):
        return "per file"
    return f"per run, the {'candidate' if told[0] else 'baseline'}'s of its whole file"


def counts_of(comparison: Comparison) -> tuple[str, str]:
    """What times and counts of each side are of: 'per run', or 'whole file'."""
    traces = (comparison.baseline.trace, comparison.candidate.trace)
    before, after = ("per run" if trace.has_runs else "whole file" for trace in traces)
    return before, after


def drawn_text(comparison: Comparison) -> str:
    """What the timelines show: 'the median run of each side', or the file that marks none."""
    before, after = counts_of(comparison)
    if before == after:
        return f"the {'median run' if before == 'per run' else 'whole file'} of each side"
    run, file = ("candidate", "baseline") if after == "per run" else ("baseline", "candidate")
    return f"the median run of the {run}, the whole file of the {file}"


def timelines_help(comparison: Comparison) -> str:
    """How to read the timelines."""
    return (
        f"{capital(drawn_text(comparison))} on one time scale, as profiled. Profiled times are "
        "longer than un-profiled ones: the profiler charges every operator."
    )


def mean_text(comparison: Comparison) -> str:
    """`per_text` of means: 'mean per run', 'per file'."""
    per = per_text(comparison)
    return per if per == "per file" else f"mean {per}"


def counted(text: str, comparison: Comparison) -> str:
    """A head or help that says 'per run', of what this comparison's times and counts are of."""
    per = per_text(comparison)
    return text if per == "per run" else re.sub(r"\b(mean )?per run\b", per, text)


def times_are_of_files(comparison: Comparison) -> bool:
    """Whether the times that the verdict compares are of whole files, not of a run."""
    return comparison.verdict.of in OF_FILES and per_text(comparison) == "per file"


def figure_text(comparison: Comparison, code: str) -> FigureText:
    """Label and definition of a figure of this comparison; the time of a file is no latency."""
    text = FIGURES[code]
    if code == "latency" and times_are_of_files(comparison):
        of = capital(TIME_SOURCES[comparison.verdict.of])
        told = f"{of} of the whole file, which does not mark its runs: it may hold any number."
        return FigureText(FILE_TIME, told, text.better)
    if per_text(comparison) == "per file":
        return replace(text, definition=counted(text.definition, comparison))
    return text


FILE_TIME = "time of the file"


def order_text(comparison: Comparison) -> str:
    """The order of the tables of operators: changes are not shown of two models."""
    return "largest change first" if comparison.has_changes else "longest time first"


def table_help(help_: str, comparison: Comparison) -> str:
    """The help of a table of operators, with what its figures are of and its order."""
    return f"{counted(help_, comparison)} {capital(order_text(comparison))}."


def whole_text(of: TimeSource) -> str:
    """What a time from that source is of."""
    return "the whole file" if of in OF_FILES else "the whole run"


def time_of_sum(comparison: Comparison) -> str:
    """What the ledger's sum is of: 'mean un-profiled wall time', 'union of operator times of the
    whole file'."""
    of = TIME_SOURCES[comparison.ledger.reconciliation.of]
    return f"{of} of the whole file" if per_text(comparison) == "per file" else f"mean {of}"
