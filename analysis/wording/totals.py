"""Which total is which: names of the times of a run, and what each rests on."""

from __future__ import annotations

from collections.abc import Mapping

from analysis import units
from analysis.compare.comparison import Comparison
from analysis.compare.totals import Total, totals
from analysis.wording.counted import FILE_TIME, times_are_of_files
from analysis.wording.texts import TIME_SOURCES

TOTALS_TITLE = "Which time is which"
LABELS: Mapping[str, str] = {
    "latency": "latency",
    "mean_run": "mean run",
    "profiled_run": "profiled run",
    "busy": "busy",
    "operator_sum": "sum of operators",
}
_WHAT: Mapping[str, str] = {
    "latency": "{of}: the typical run, which the verdict compares",
    "mean_run": "{mean}, mean: slow runs weigh in it; the waterfall and the ledger add up to it",
    "profiled_run": "the median run under the profiler, which the timelines show",
    "busy": (
        "union of operator times{included}, from the profile, mean: what runs side by side counts "
        "once"
    ),
    "operator_sum": (
        "operator times of the profile added up{left_out}, mean: in tables of operators"
    ),
}


_NOT_COMPARED: Mapping[str, str] = {
    "latency": "{of}: the typical run",
    "mean_run": "{mean}, mean: slow runs weigh in it",
}
_OF_FILE = "{of}: what the verdict compares, and the waterfall and the ledger add up to"


def total_label(total: Total, comparison: Comparison) -> str:
    """What to call a total: the time of a file that does not mark its runs is no latency."""
    is_file = total.kind == "latency" and times_are_of_files(comparison)
    return FILE_TIME if is_file else LABELS[total.kind]


def total_of(comparison: Comparison) -> str:
    """What the totals are of."""
    return "Of the whole file." if times_are_of_files(comparison) else "Per run."


def total_basis(total: Total, comparison: Comparison) -> str:
    """What a total rests on and where it stands."""
    if total.kind == "latency" and times_are_of_files(comparison):
        return _OF_FILE.format(of=TIME_SOURCES[comparison.verdict.of])
    what = _WHAT[total.kind]
    if not comparison.has_changes:  # nothing is compared, and no ledger adds up
        what = _NOT_COMPARED.get(total.kind, what)
    if times_are_of_files(comparison):
        what = what.replace(", mean:", ":")
    is_communication = bool((comparison.op_classes["op_class"] == "communication").any())
    return what.format(
        included=" and communication" if is_communication else "",
        left_out=", without communication" if is_communication else "",
        of=TIME_SOURCES[comparison.verdict.of],
        mean=TIME_SOURCES[comparison.ledger.reconciliation.of],
    )


def totals_title(comparison: Comparison) -> str:
    """'Which time is which: 10.6 ms, 11.7 ms, 12.4 ms, 13.3 ms of the baseline'; the candidate's
    where the baseline has none."""
    found = totals(comparison)
    for side in ("baseline", "candidate"):
        times = (getattr(total, f"{side}_ns") for total in found)
        shown = dict.fromkeys(units.duration(ns) for ns in times if ns is not None)
        if shown:
            return f"{TOTALS_TITLE}: {', '.join(shown)} of the {side}"
    return TOTALS_TITLE
