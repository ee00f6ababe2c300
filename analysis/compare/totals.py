"""Totals: the times of a whole run that stand beside each other, and what tells them apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.verdict import TIMED
from fusescope.analysis.metrics.spans import run_spans
from fusescope.analysis.metrics.step import shown_run

Kind = Literal[
    "latency", "mean_run", "profiled_run", "mean_profiled", "busy", "operator_sum"
]  # fmt: skip


@dataclass(frozen=True)
class Total:
    """One time per run of both sides in ns, None where a side does not have it."""

    kind: Kind
    baseline_ns: float | None
    candidate_ns: float | None


def totals(comparison: Comparison) -> tuple[Total, ...]:
    """Every time of a run that the comparison shows, as far as a side has it.

    `latency` is the verdict's; `mean_run` the mean of all runs, where the verdict
    compares another one; `profiled_run` the run under the profiler that the timelines show; `busy`
    the union of operator times, mean; `operator_sum` the sum of operators' mean times, without
    communication. Of two files that do not mark their runs, `latency` is the time of the file, told
    once.
    """
    latency = comparison.figure("latency")
    sum_ = comparison.ledger.reconciliation
    after = None
    if sum_.baseline_ns is not None and sum_.delta_ns is not None:
        after = float(sum_.baseline_ns + sum_.delta_ns)
    before = None if after is None or sum_.baseline_ns is None else float(sum_.baseline_ns)
    found = [
        Total("latency", latency.baseline.value, latency.candidate.value),
    ]
    told = _are_runs(comparison)
    of = comparison.verdict.of
    # Of two files without runs there is one time each: no mean of runs stands beside it.
    of_files = not any(told) and of in ("busy_union", "kernel_sum")
    if not of_files and not comparison.verdict.is_of_means:
        found.append(Total("mean_run", before, after))
    sides = (comparison.baseline, comparison.candidate)
    # A whole file does not stand beside one run.
    spans = [
        spans.iloc[:0] if any(told) and not is_told else spans
        for side, is_told in zip(sides, told, strict=True)
        for spans in [run_spans(side.trace)]
    ]
    if any(told):
        found.append(
            Total(
                "profiled_run",
                *(_shown(side, is_told) for side, is_told in zip(sides, told, strict=True)),
            )
        )
        if of in TIMED:  # else it is the mean run
            found.append(Total("mean_profiled", *(_mean(table["span_ns"]) for table in spans)))
    if not of_files or of != "busy_union":
        found.append(Total("busy", *(_mean(table["busy_ns"]) for table in spans)))
    rows = comparison.op_classes
    rows = rows[rows["op_class"] != "communication"]
    sums = [float(rows[f"per_run_ns_{side}"].fillna(0.0).sum()) for side in _SIDES]
    sums = [
        0.0 if any(told) and not is_told else ns for ns, is_told in zip(sums, told, strict=True)
    ]
    found.append(Total("operator_sum", *(value or None for value in sums)))
    return tuple(
        total for total in found if total.baseline_ns is not None or total.candidate_ns is not None
    )


_SIDES = ("baseline", "candidate")


def _are_runs(comparison: Comparison) -> list[bool]:
    """Whether each side marks its runs: a whole file is not a run."""
    traces = (comparison.baseline.trace, comparison.candidate.trace)
    return [bool((trace.profiled_runs["kind"] != "file").any()) for trace in traces]


def _shown(side: Side, is_told: bool) -> float | None:
    """The run of a side that timelines show; None of a side that does not mark its runs."""
    runs = side.trace.profiled_runs
    found = runs.loc[runs["run"] == shown_run(side.trace), "dur_ns"]
    return float(found.iloc[0]) if is_told and len(found) else None


def _mean(times: pd.Series) -> float | None:
    known = times.dropna()
    return float(known.mean()) if len(known) else None
