"""One side by itself: how long its run takes, and what the run is made of."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.compare.side import Side
from analysis.compare.timing.latency import typical_ns
from analysis.metrics.breakdown import by_operator
from analysis.metrics.small_ops import small_ops
from analysis.metrics.spans import run_spans
from analysis.metrics.step import median_run


@dataclass(frozen=True)
class RunFacts:
    """Of one run: `profiled_ns` the mean run as profiled, None where the file does not mark its
    runs, and `median_ns` the median one, which timelines show; `unprofiled_ns` the typical
    un-profiled run, None without any; `operators_ns` the time of all operators, of the whole file
    where it does not mark its runs; `executions` how often one ran, `operators` how many there
    are; `small_op_ratio` the part of the time in light ones."""

    profiled_ns: float | None
    median_ns: int | None
    unprofiled_ns: float | None
    operators_ns: float
    executions: float
    operators: int
    small_op_ratio: float | None


def run_facts(side: Side) -> RunFacts:
    """What is known of a run of one side."""
    trace, table = side.trace, by_operator(side.trace)
    spans = run_spans(trace)["span_ns"].astype(float) if trace.has_runs else None
    sampled = not trace.sampled_runs.empty
    run = median_run(trace)
    lengths = trace.runs.set_index("run")["dur_ns"]
    return RunFacts(
        profiled_ns=None if spans is None or spans.empty else float(spans.mean()),
        median_ns=None if run is None else int(lengths[run]),
        unprofiled_ns=typical_ns(trace, "unprofiled_wall") if sampled else None,
        operators_ns=float(table["per_run_ns"].sum()),
        executions=float(table["count"].sum()),
        operators=len(table),
        small_op_ratio=small_ops(trace).time,
    )
