"""One side by itself: how long its run takes, and what the run is made of."""

from __future__ import annotations

import math

import msgspec

from fusescope.analysis.compare.choice import default_baseline
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.latency import leading_ns, run_times_ns
from fusescope.analysis.compare.timing.samples import record_times
from fusescope.analysis.compare.timing.statistics import trimmed_mean
from fusescope.analysis.compare.timing.verdict import paired_verdict
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.device import copies_of
from fusescope.analysis.metrics.small_ops import small_ops
from fusescope.analysis.metrics.spans import run_spans
from fusescope.analysis.trace import Trace


class RunFacts(msgspec.Struct, frozen=True):
    """Of one run: `profiled_ns` the mean run as profiled, None where the file does not mark its
    runs, and `run_ns` the one that comparisons are of, which is that or, of runs in blocks, the
    typical one; `runs` is how many of them count, un-profiled ones where there are any.
    `unprofiled_ns` is the un-profiled run that comparisons are of, None without any, and `beside`
    the baseline that it is paired with; `operators_ns` the time of all operators, of the whole file
    where it does not mark its runs; `executions` how often one ran, `operators` how many there are;
    `small_op_ratio` the part of the time in light ones, None where most of it is of
    unknown class; on a device `has_copies` where some of them
    are copies."""

    profiled_ns: float | None
    run_ns: float | None
    runs: int
    unprofiled_ns: float | None
    beside: str | None
    operators_ns: float
    executions: float
    operators: int
    small_op_ratio: float | None
    on_device: bool = False
    has_copies: bool = False


def run_facts(side: Side) -> RunFacts:
    """What is known of a run of one side: nothing where its file ends early."""
    if side.trace.ends_early:
        return RunFacts(None, None, 0, None, None, 0.0, 0.0, 0, None)
    trace, table = side.trace, by_operator(side.trace)
    counted, small = side.sampled_runs, small_ops(trace)
    spans = run_spans(trace)["span_ns"].astype(float) if trace.has_runs else None
    return RunFacts(
        profiled_ns=None if spans is None or spans.empty else float(spans.mean()),
        run_ns=leading_ns(trace, "run_span") if trace.has_runs else None,
        runs=len(run_times_ns(trace, "run_span"))
        if counted.empty
        else int((~counted["warmup"]).sum()),
        unprofiled_ns=unprofiled_ns(side),
        beside=_beside(side),
        operators_ns=float(table["per_run_ns"].sum()),
        executions=float(table["count"].sum()),
        operators=len(table),
        small_op_ratio=None if small.mostly_unknown else small.time,
        on_device=bool((trace.operators["level"] == "device_kernel").any()),
        has_copies=bool(copies_of(trace).any()),
    )


def run_ns(trace: Trace) -> float | None:
    """The run that leads where one trace is told of by itself, as comparisons take it: an
    un-profiled one, else one as profiled; None where the file does not mark its runs."""
    if not trace.sampled_runs.empty:
        return leading_ns(trace, "unprofiled_wall")
    return leading_ns(trace, "run_span") if trace.has_runs else None


def unprofiled_ns(side: Side) -> float | None:
    """The un-profiled run of one side by itself; None without any.

    Of a variant as comparisons with the baseline of its recording show it: the baseline's time ×
    their ratio, which is paired inside blocks. Its own trimmed mean differs by what the noise of
    blocks leaves in it, and would be a second figure for the same time.
    """
    if side.sampled_runs.empty:
        return None
    baseline = _beside(side)
    if baseline is not None and side.experiment is not None:
        times = paired_verdict(side.experiment.record, baseline, side.label).times_ns
        if times is not None:
            return times[1]
    if side.variant is not None and not side.has_model:
        logs = record_times(side.variant).mean.to_numpy(dtype=float)
        return math.exp(trimmed_mean(logs)) * 1e9 if len(logs) else None
    return leading_ns(side.trace, "unprofiled_wall")


def _beside(side: Side) -> str | None:
    """The baseline of the recording that a variant is of, None for itself."""
    if side.experiment is None or side.variant is None:
        return None
    baseline = default_baseline(side.experiment.record)
    return None if baseline == side.variant.name else baseline
