"""Which total is which: names of the times of a run, and what each rests on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fusescope.analysis import units
from fusescope.analysis.messages import Message, listed, say
from fusescope.analysis.wording.counted import FILE_TIME, mean_text, times_are_of_files
from fusescope.analysis.wording.texts import TIME_SOURCES

if TYPE_CHECKING:
    from fusescope.analysis.compare.comparison import Comparison
    from fusescope.analysis.compare.side import Role
    from fusescope.analysis.compare.totals import Kind, Total

TOTALS_TITLE = Message("Which time is which")
_OF_SIDE: Mapping[Role, Message] = {
    "baseline": Message("Which time is which: {times} of the baseline"),
    "candidate": Message("Which time is which: {times} of the candidate"),
}
LABELS: Mapping[Kind, Message] = {
    "latency": Message("latency"),
    "mean_run": Message("mean run"),
    "profiled_run": Message("on the timelines"),
    "mean_profiled": Message("mean as profiled"),
    "busy": Message("busy"),
    "operator_sum": Message("sum of operators"),
}
_SUM_BUT_COMMUNICATION = Message("sum of operators but communication")
_LATENCY = Message("{of}: the typical run, which the verdict compares and the waterfall adds up to")
_LATENCY_OF_BLOCKS = Message(
    "{of}: the typical run, a lower quartile, which the verdict compares and the waterfall adds up "
    "to"
)
_LATENCY_ALONE = Message("{of}: the typical run")
_LATENCY_MEAN_ALONE = Message("{of}, mean")
_MEAN_RUN = Message("{of}, mean: slow runs count in it")
_PROFILED = Message("as profiled: the run that the timelines show")
_LATENCY_MEAN = Message("{of}, mean: what the verdict compares and the waterfall adds up to")
_MEAN_PROFILED = Message(
    "the mean under the profiler; shares of findings are of it, without slow executions"
)
_OF_FILE = Message("{of}: what the verdict compares and the waterfall adds up to")
# By whether there is communication, and whether it is a mean of runs.
_BUSY: Mapping[tuple[bool, bool], Message] = {
    (False, True): Message(
        "union of operator times, from the profile, mean: what runs side by side counts once"
    ),
    (True, True): Message(
        "union of operator times and communication, from the profile, mean: what runs side by side "
        "counts once"
    ),
    (False, False): Message(
        "union of operator times, from the profile: what runs side by side counts once"
    ),
    (True, False): Message(
        "union of operator times and communication, from the profile: what runs side by side "
        "counts once"
    ),
}
_SUM: Mapping[tuple[bool, bool], Message] = {
    (False, True): Message("operator times of the profile added up, mean: in tables of operators"),
    (True, True): Message(
        "operator times of the profile added up, without communication, mean: in tables of "
        "operators"
    ),
    (False, False): Message("operator times of the profile added up: in tables of operators"),
    (True, False): Message(
        "operator times of the profile added up, without communication: in tables of operators"
    ),
}


def total_label(total: Total, comparison: Comparison) -> str:
    """What to call a total: the time of a file that does not mark its runs is not a latency."""
    if total.kind == "operator_sum" and _communicates(comparison):
        return _SUM_BUT_COMMUNICATION.text()
    is_file = total.kind == "latency" and times_are_of_files(comparison)
    return str(FILE_TIME if is_file else LABELS[total.kind])


def _communicates(comparison: Comparison) -> bool:
    """Return True where an operator of either side is communication."""
    return bool((comparison.op_classes["op_class"] == "communication").any())


def total_of(comparison: Comparison) -> str:
    """What the totals are of."""
    return say("Of the whole file.") if times_are_of_files(comparison) else mean_text(comparison)


def total_basis(total: Total, comparison: Comparison) -> str:
    """What a total rests on and where it stands."""
    are_files, compared = times_are_of_files(comparison), comparison.has_changes
    time = TIME_SOURCES[comparison.verdict.of]
    if total.kind == "latency":
        if are_files:
            return _OF_FILE.text(of=time)
        if comparison.verdict.is_of_means:
            return (_LATENCY_MEAN if compared else _LATENCY_MEAN_ALONE).text(of=time)
        if comparison.verdict.times_ns is None:  # the waterfall is of the mean run then
            return _LATENCY_ALONE.text(of=time)
        if compared and comparison.verdict.pairing in ("blocks", "unpaired_blocks"):
            return _LATENCY_OF_BLOCKS.text(of=time)
        return (_LATENCY if compared else _LATENCY_ALONE).text(of=time)
    if total.kind == "mean_run":
        return _MEAN_RUN.text(of=TIME_SOURCES[comparison.ledger.reconciliation.of])
    if total.kind == "profiled_run":
        return _PROFILED.text()
    if total.kind == "mean_profiled":
        return _MEAN_PROFILED.text()
    messages = _BUSY if total.kind == "busy" else _SUM
    return messages[_communicates(comparison), not are_files].text()


def totals_title(comparison: Comparison) -> str:
    """'Which time is which: 10.6 ms, 11.7 ms, 12.4 ms, 13.3 ms of the baseline'; the candidate's
    where the baseline has none."""
    from fusescope.analysis.compare.totals import totals

    found = totals(comparison)
    for side, message in _OF_SIDE.items():
        times = (getattr(total, f"{side}_ns") for total in found)
        shown = dict.fromkeys(units.duration(ns) for ns in times if ns is not None)
        if shown:
            return message.text(times=listed(tuple(shown)))
    return TOTALS_TITLE.text()
