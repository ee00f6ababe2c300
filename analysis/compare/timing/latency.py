"""Run times of a side, and the verdict on two sides, by the best source that both have."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.file_order import FileOrder, file_order
from fusescope.analysis.compare.timing.samples import BlockTimes, block_times
from fusescope.analysis.compare.timing.statistics import trimmed_mean, typical_log
from fusescope.analysis.compare.timing.verdict import (
    DRIFT_SPREAD,
    PROCESS_SPREAD,
    TimeSource,
    Verdict,
    mean_verdict,
    paired_files_verdict,
    paired_verdict,
    unpaired_verdict,
    without_change,
)
from fusescope.analysis.metrics.memo import once
from fusescope.analysis.metrics.spans import run_spans
from fusescope.analysis.trace import Trace

_COLUMNS = {
    "run_span": "span_ns",
    "run_sum": "kernel_ns",
    "busy_union": "busy_ns",
    "kernel_sum": "kernel_ns",
}
_CONTROLLED = ("pairs", "alternating")
# Diagnostics whose count is the iterations behind the one run of a file.
_MEANS_OF = ("averaged", "runs_averaged")


def are_paired(baseline: Side, candidate: Side) -> bool:
    """True for two variants of one experiment: their runs were interleaved in shared blocks."""
    first, second = baseline.experiment, candidate.experiment
    return first is not None and second is not None and first.sha256 == second.sha256


def are_profiled_together(baseline: Side, candidate: Side) -> bool:
    """True for two variants of one experiment whose profiles are of its blocks, too: not of a
    command, which writes one trace a variant."""
    return are_paired(baseline, candidate) and baseline.has_model


def are_neighbours(baseline: Side, candidate: Side) -> bool:
    """True for two sides of several files that were recorded in pairs: file n of one side beside
    file n of the other."""
    return order_of(baseline, candidate) == "pairs"


def order_of(baseline: Side, candidate: Side) -> FileOrder | None:
    """In which order the files of two sides were recorded; None where a side is not several."""
    if not baseline.files or not candidate.files:
        return None
    first, second = ([one.started_ns for one in side.files] for side in (baseline, candidate))
    return file_order(first, second)


def uncontrolled(baseline: Side, candidate: Side) -> float:
    """What the machine may add between the sides beyond their intervals, as ln of a ratio."""
    together = are_profiled_together(baseline, candidate)
    if together or order_of(baseline, candidate) in _CONTROLLED:
        return 0.0
    return DRIFT_SPREAD if all(map(_is_several, (baseline, candidate))) else PROCESS_SPREAD


def judge(baseline: Side, candidate: Side, candidates: int = 1) -> Verdict:
    """The verdict by the best time source that both sides have, as one of so many `candidates`;
    one recording is corrected for all that it holds in any case. There is none on a variant that
    does more than the model."""
    verdict = _judged(baseline, candidate, candidates)
    variants = (baseline.variant, candidate.variant)
    if any(variant is not None and variant.is_marked for variant in variants):
        return without_change(verdict, "marked")
    return verdict


def _judged(baseline: Side, candidate: Side, candidates: int) -> Verdict:
    if are_paired(baseline, candidate) and baseline.experiment is not None:
        return paired_verdict(baseline.experiment.record, baseline.label, candidate.label)
    of = time_source(baseline.trace, candidate.trace)
    if mixes_runs(baseline, candidate):
        # A file without runs may hold any number of them: its time is not that of one run. What
        # is shown of the other one is a run.
        marked = baseline if baseline.trace.has_runs else candidate
        of = time_source(marked.trace)
        found = unpaired_verdict(np.empty(0), np.empty(0), of, "unpaired_runs", "runs_unknown")
        return replace(found, is_of_means=are_of_mean_runs(baseline.trace, candidate.trace))
    sides = (baseline, candidate)
    order = order_of(*sides)
    if order is not None:
        first, second = (_file_times(side.trace, of) for side in sides)
        if order == "pairs":
            return paired_files_verdict(first, second, of, candidates)
        return unpaired_verdict(
            first.mean.to_numpy(dtype=float),
            second.mean.to_numpy(dtype=float),
            of,
            "alternating_files" if order == "alternating" else "separate_files",
            candidates=candidates,
        )
    if of == "unprofiled_wall" and all(map(_is_several, sides)):
        return unpaired_verdict(
            log_times(baseline.trace, of),
            log_times(candidate.trace, of),
            of,
            "unpaired_blocks",
            candidates=candidates,
        )
    averaged = (_iterations(baseline.trace), _iterations(candidate.trace))
    if are_of_mean_runs(*(side.trace for side in sides)):
        before_ns, after_ns = (run_times_ns(side.trace, of) for side in sides)
        return mean_verdict(before_ns, after_ns, of, averaged, candidates)
    return unpaired_verdict(
        _log_runs(baseline.trace, of),
        _log_runs(candidate.trace, of),
        of,
        "unpaired_runs",
        averaged=averaged,
        candidates=candidates,
        processes=(_processes(baseline), _processes(candidate)),
    )


def are_of_mean_runs(*traces: Trace) -> bool:
    """Return whether the time of these traces is that of their mean run: of one process each, so
    that the change is explained by times that add up to it."""
    return not any(trace.has_blocks for trace in traces)


def _processes(side: Side) -> int:
    """How many processes are behind the times of a side."""
    if side.files:
        return len(side.files)
    return max(1, len(_wall_times(side.trace))) if side.has_model else 1


def _is_several(side: Side) -> bool:
    return _processes(side) > 1


def _file_times(trace: Trace, of: TimeSource) -> BlockTimes:
    """ln(seconds) by file: the lower quartile of its runs, as of the runs of a block."""
    if of == "unprofiled_wall":
        return block_times(trace.sampled_runs)
    spans = run_spans(trace)
    ns = spans[_COLUMNS[of]].to_numpy(dtype=float, na_value=0.0)
    block = trace.runs.set_index("run")["block"].loc[spans["run"]].to_numpy("int64")
    times = {
        int(one): typical_log(ns[(block == one) & (ns > 0)] / 1e9)
        for one in np.unique(block)
        if bool(((block == one) & (ns > 0)).any())
    }
    table = pd.DataFrame({1: list(times.values())}, index=pd.Index(list(times), name="block"))
    return BlockTimes(table.astype(float))


def _log_runs(trace: Trace, of: TimeSource) -> np.ndarray:
    """ln(seconds) of runs, un-profiled ones as well; zeros left out."""
    if of != "unprofiled_wall":
        return log_times(trace, of)
    runs = trace.sampled_runs
    ns = runs.loc[~runs["warmup"], "dur_ns"].to_numpy(dtype=float)
    return np.log(ns[ns > 0] / 1e9)


def mixes_runs(baseline: Side, candidate: Side) -> bool:
    """True where one file marks its runs and the other does not, and both have no other times."""
    traces = (baseline.trace, candidate.trace)
    return time_source(*traces) != "unprofiled_wall" and traces[0].has_runs != traces[1].has_runs


def time_source(*traces: Trace) -> TimeSource:
    """Return the best of unprofiled_wall, run_span, busy_union, kernel_sum that all traces have;
    run_sum, which is kernel_sum in runs, where the runs of one are no more than sums."""
    if all(not trace.sampled_runs.empty for trace in traces):
        return "unprofiled_wall"
    if all(trace.has_runs and not _is_average(trace) for trace in traces):
        return "run_sum" if any(map(_are_sums, traces)) else "run_span"
    if all(bool(trace.calls["start_ns"].notna().all()) for trace in traces):
        return "busy_union"
    return "kernel_sum"


def log_times(trace: Trace, of: TimeSource) -> np.ndarray:
    """ln(seconds): one value a block for unprofiled_wall, one a run otherwise; zeros left out."""
    if of == "unprofiled_wall":
        return _wall_times(trace).to_numpy(dtype=float)
    ns = run_spans(trace)[_COLUMNS[of]].dropna().to_numpy(dtype=float)
    return np.log(ns[ns > 0] / 1e9)


def run_times_ns(trace: Trace, of: TimeSource) -> np.ndarray:
    """Return the ns of each run that counts; none where the trace lacks that time."""
    if of == "unprofiled_wall":
        runs = trace.sampled_runs
        times = runs.loc[~runs["warmup"], "dur_ns"]
    else:
        times = run_spans(trace)[_COLUMNS[of]].dropna()
    ns: np.ndarray = times.to_numpy(dtype=float)
    return ns if ns.any() else ns[:0]


def leading_ns(trace: Trace, of: TimeSource) -> float | None:
    """Return the latency shown for a trace by itself, in ns: its mean run, of runs in blocks the
    typical one; None without times."""
    if not are_of_mean_runs(trace):
        return typical_ns(trace, of)
    times = run_times_ns(trace, of)
    return float(times.mean()) if len(times) else None


def typical_ns(trace: Trace, of: TimeSource) -> float | None:
    """The typical run of a trace: trimmed mean of log_times, in ns; None without times."""
    times = log_times(trace, of)
    return math.exp(trimmed_mean(times)) * 1e9 if len(times) else None


@once
def typical_cpu_ns(trace: Trace) -> float | None:
    """Process CPU time of one run, like typical_ns; None where it was not recorded."""
    times = block_times(trace.sampled_runs, "cpu_ns").mean.to_numpy(dtype=float)
    return math.exp(trimmed_mean(times)) * 1e9 if len(times) else None


@once
def profiler_inflation(trace: Trace) -> float | None:
    """Profiled over un-profiled run time of the same blocks; None without both.

    Of runs in blocks lower quartiles of either inside a block, trimmed mean of the log-ratios over
    blocks; of all others the ratio of the means, which are the times that pages show of them.
    """
    if trace.sampled_runs.empty or trace.profiled_runs.empty:
        return None
    spans = run_spans(trace)
    if are_of_mean_runs(trace):
        wall_ns, profiled_ns = leading_ns(trace, "unprofiled_wall"), spans["span_ns"].mean()
        return float(profiled_ns) / wall_ns if wall_ns and profiled_ns > 0 else None
    runs = trace.profiled_runs
    at = pd.Index(runs["run"]).get_indexer(pd.Index(spans["run"]))
    of = runs["block"].to_numpy("int64", na_value=-1)[at]
    seconds = spans["span_ns"].to_numpy() / 1e9
    ratios = [
        typical_log(seconds[of == block]) - wall
        for block, wall in _wall_times(trace).items()
        if bool((of == block).any())
    ]
    return math.exp(trimmed_mean(ratios)) if ratios else None


@once
def _wall_times(trace: Trace) -> pd.Series:
    """ln(seconds) of un-profiled runs by block."""
    return block_times(trace.sampled_runs).mean


def _is_average(trace: Trace) -> bool:
    """True where the only run is the sum of a file's operators, divided: it has no span."""
    return any(note.code == "runs_averaged" for note in trace.diagnostics)


@once
def _are_sums(trace: Trace) -> bool:
    """Return True where the length of each run is the sum of its operators, as of a table of times
    by layer: no run has a span, so nothing says what passed between them."""
    spans, starts = run_spans(trace), trace.profiled_runs["start_ns"]
    lacks_starts = starts.isna().all() and trace.calls["start_ns"].isna().all()
    return bool(lacks_starts and (spans["span_ns"] == spans["kernel_ns"]).all())


def _iterations(trace: Trace) -> int | None:
    """How many iterations the only profiled run is the mean of; None where it is not a mean."""
    counts = [note.count for note in trace.diagnostics if note.code in _MEANS_OF]
    return counts[0] if counts and counts[0] > 1 else None
