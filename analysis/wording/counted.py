"""What times and counts of operators are of: a run each, or whole files that do not mark runs."""

from __future__ import annotations

from analysis.compare.comparison import Comparison
from analysis.compare.latency import has_runs
from analysis.compare.verdict import TimeSource
from analysis.wording.texts import TIME_SOURCES
from analysis.wording.unknown_noise import OF_FILES


def per_text(comparison: Comparison) -> str:
    """'per run'; 'per file' where no side marks its runs; where one does not, it says so."""
    told = has_runs(comparison.baseline.trace), has_runs(comparison.candidate.trace)
    if all(told):
        return "per run"
    if not any(told):
        return "per file"
    return f"per run, the {'candidate' if told[0] else 'baseline'}'s of its whole file"


def mean_text(comparison: Comparison) -> str:
    """`per_text` of means: 'mean per run', 'per file'."""
    per = per_text(comparison)
    return per if per == "per file" else f"mean {per}"


def whole_text(of: TimeSource) -> str:
    """What a time from that source is of."""
    return "the whole file" if of in OF_FILES else "the whole run"


def time_of_sum(comparison: Comparison) -> str:
    """What the ledger's sum is of: 'mean un-profiled wall time', 'union of operator times of the
    whole file'."""
    of = TIME_SOURCES[comparison.ledger.reconciliation.of]
    return f"{of} of the whole file" if per_text(comparison) == "per file" else f"mean {of}"
