"""Run times that add: one set of runs and weights behind every mean of a side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fusescope.analysis.compare.timing.slow_executions import (
    SlowExecutions,
    excess_ns,
    groups_of,
    slow_executions,
)
from fusescope.analysis.compare.timing.verdict import TimeSource
from fusescope.analysis.metrics.breakdown import steady_calls
from fusescope.analysis.metrics.spans import run_spans, union_ns
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.trace import Trace

# Runs without blocks are folded into at most so many batches of neighbours for intervals.
MAX_BATCHES = 200


@dataclass(frozen=True, eq=False)
class LabelTimes:
    """Operator time by label, arrays over labels: mean and median over runs of the time per run
    in ns, executions per run, and `by_unit`, the mean per run of each block or batch (rows).
    `runs` are all behind them.

    Means and `by_unit` are without what slow executions took beyond their medians, `slow_ns` is
    the mean of that: both together are the mean as measured.
    """

    mean_ns: np.ndarray
    slow_ns: np.ndarray
    median_ns: np.ndarray
    executions: np.ndarray
    by_unit: np.ndarray
    runs: int

    def rounding_error(self, resolution_ns: float) -> np.ndarray:
        """Squared standard error of each mean that cutting durations to the resolution makes.

        Each of `executions` x `runs` durations is off by up to one resolution, uniformly.
        """
        error: np.ndarray = resolution_ns**2 / 12 * self.executions / self.runs
        return error

    def where(self, known: bool) -> LabelTimes:
        """These times, or none where they are not known."""
        if known:
            return self
        times = ("mean_ns", "slow_ns", "median_ns", "by_unit")
        return replace(self, **{name: getattr(self, name) * np.nan for name in times})

    def summed(self, labels: np.ndarray, count: int) -> LabelTimes:
        """Sums by a coarser label; `labels` gives that of each label. Medians do not add: NaN."""
        by_unit = np.zeros((len(self.by_unit), count))
        np.add.at(by_unit.T, labels, self.by_unit.T)
        return LabelTimes(
            mean_ns=np.bincount(labels, weights=self.mean_ns, minlength=count),
            slow_ns=np.bincount(labels, weights=self.slow_ns, minlength=count),
            median_ns=np.full(count, np.nan),
            executions=np.bincount(labels, weights=self.executions, minlength=count),
            by_unit=by_unit,
            runs=self.runs,
        )


@dataclass(frozen=True, eq=False)
class Mean:
    """A mean per run in ns, and that of each block or batch."""

    ns: float
    by_unit: np.ndarray


@dataclass(frozen=True, eq=False)
class _Units:
    """Blocks, or batches of runs, that runs belong to: `of` of each run that `is_in` one, `runs` in
    each of them.

    `alike`: each weighs the same in a mean, else each run does. Sums are of whole numbers, so a
    mean of equal times is that time.
    """

    of: np.ndarray
    is_in: np.ndarray
    runs: np.ndarray
    alike: bool

    def mean(self, sums: np.ndarray) -> np.ndarray:
        """Mean per run from sums by unit (rows)."""
        if self.alike:
            sums, runs = (sums.T / self.runs).T, len(self.runs)
        else:
            runs = int(self.runs.sum())
        mean: np.ndarray = sums.sum(axis=0) / runs
        return mean

    def mean_of(self, times: pd.Series) -> Mean:
        """Mean of one time a run, in the order of all runs."""
        values = times.to_numpy(dtype=float)[self.is_in]
        sums = np.bincount(self.of, weights=values, minlength=len(self.runs))
        return Mean(float(self.mean(sums)), sums / self.runs)


@dataclass(frozen=True, eq=False)
class RunTimes:
    """Means per run of one side, by what they are of; absent where the trace has no such time.

    Mean over the runs inside a block, then over blocks; over runs where there are no blocks.
    unprofiled_wall, run_span (profiled), busy_union (of operators), kernel_sum (of their self
    time), run_sum (the same, in runs). `own_ns` is the union of those that a run started, which may
    end after it; None without start times. `calls` are those behind the means: operator, run, unit,
    dur_ns, and slow_ns, the part of dur_ns that `slow` executions took beyond their medians.
    Durations are cut to `resolution_ns`.
    """

    means: Mapping[TimeSource, Mean]
    calls: pd.DataFrame
    slow: SlowExecutions
    resolution_ns: float
    _units: _Units
    own_ns: float | None = None

    def mean_ns(self, of: TimeSource) -> float | None:
        """The mean run by that source; None where the trace lacks it."""
        return self.means[of].ns if of in self.means else None

    @property
    def units(self) -> int:
        """Blocks, or batches of runs."""
        return len(self._units.runs)

    def by_label(self, labels: np.ndarray, count: int) -> LabelTimes:
        """Times by label; `labels` gives each operator's label, 0 to count - 1, or -1 for none."""
        label = labels[self.calls["operator"].to_numpy()]
        has_label = label >= 0
        label = label[has_label]
        run, unit, dur_ns, slow_ns = (
            self.calls[name].to_numpy()[has_label] for name in ("run", "unit", "dur_ns", "slow_ns")
        )
        cell = unit * count + label

        def summed(values: np.ndarray) -> np.ndarray:
            sums = np.bincount(cell, weights=values, minlength=self.units * count)
            return sums.reshape(self.units, count)

        sums = summed(dur_ns - slow_ns)
        runs = self._units.runs
        return LabelTimes(
            mean_ns=self._units.mean(sums),
            slow_ns=self._units.mean(summed(slow_ns)),
            median_ns=self._medians(label, run, dur_ns, count),
            executions=np.bincount(label, minlength=count) / runs.sum(),
            by_unit=sums / runs[:, np.newaxis],
            runs=int(runs.sum()),
        )

    def means_by_label(self, labels: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The mean in ns and the executions per run of `by_label`, without an entry for each unit
        of each label: there may be very many labels."""
        if self._units.alike:
            found = self.by_label(labels, count)
            return found.mean_ns, found.executions
        label = labels[self.calls["operator"].to_numpy()]
        has_label = label >= 0
        label = label[has_label]
        dur_ns, slow_ns = (self.calls[name].to_numpy()[has_label] for name in ("dur_ns", "slow_ns"))
        runs = self._units.runs.sum()
        sums = np.bincount(label, weights=dur_ns - slow_ns, minlength=count)
        return sums / int(runs), np.bincount(label, minlength=count) / runs

    def _medians(
        self, label: np.ndarray, run: np.ndarray, dur_ns: np.ndarray, count: int
    ) -> np.ndarray:
        """Median over all runs of each label's time per run; a run without it counts 0."""
        order = np.lexsort((run, label))
        starts, _ = groups_of(label[order], run[order])
        of = label[order][starts]
        values = np.add.reduceat(dur_ns[order], starts).astype(float) if len(order) else dur_ns
        values = values[np.lexsort((values, of))]
        present = np.bincount(of, minlength=count)
        first = np.cumsum(present) - present
        medians = np.zeros(count)
        runs = int(self._units.runs.sum())
        for rank in ((runs - 1) // 2, runs // 2):
            position = rank - (runs - present)  # zeros come first in the order
            found = position >= 0
            medians[found] += values[(first + position)[found]] / 2
        return medians


def shared_blocks(*traces: Trace) -> list[int] | None:
    """Blocks in which every trace has runs of each kind that it has; None when there are none."""
    shared: set[int] | None = None
    for trace in traces:
        run, profiled, warmup = (
            trace.runs[name].to_numpy() for name in ("run", "profiled", "warmup")
        )
        block = trace.runs["block"].to_numpy("int64", na_value=-1)
        steady = np.isin(run, steady_runs(trace).runs)
        for chosen in (steady, ~profiled & ~warmup):
            if chosen.any():
                blocks = {int(one) for one in np.unique(block[chosen]) if one >= 0}
                shared = blocks if shared is None else shared & blocks
    return sorted(shared) if shared else None


def run_times(trace: Trace, blocks: list[int] | None) -> RunTimes:
    """Means over `blocks`, each with the same weight; over all runs that count when None."""
    sampled = trace.sampled_runs
    sampled = sampled[~sampled["warmup"].to_numpy()]
    means: dict[TimeSource, Mean] = {}
    if not sampled.empty:
        means["unprofiled_wall"] = _units(sampled["block"], blocks).mean_of(sampled["dur_ns"])
    calls = steady_calls(trace)[["operator", "run", "start_ns", "dur_ns", "span_ns"]]
    if trace.profiled_runs.empty:
        # Runs are not known: what there is counts as one.
        timed = len(calls) > 0 and bool(calls["start_ns"].notna().all())
        sums: dict[TimeSource, float] = {"kernel_sum": float(calls["dur_ns"].sum())}
        if timed:
            sums["busy_union"] = float(_union(calls))
        means |= {of: Mean(ns, np.array([ns])) for of, ns in sums.items()}
        return _run_times(
            trace, means, calls.assign(run=0, unit=0), _units(pd.Series([pd.NA]), None)
        )
    spans, runs = run_spans(trace), trace.profiled_runs
    at = pd.Index(runs["run"]).get_indexer(pd.Index(spans["run"]))
    units = _units(runs["block"].take(at), blocks)
    means["run_span"] = units.mean_of(spans["span_ns"])
    own_ns = None
    if bool(spans["busy_ns"].notna().all()):
        means["busy_union"] = units.mean_of(spans["busy_ns"])
        own_ns = units.mean_of(spans["own_ns"]).ns
    means["run_sum"] = means["kernel_sum"] = units.mean_of(spans["kernel_ns"])
    run = calls["run"].to_numpy("int64")
    at = pd.Index(spans["run"].to_numpy()[units.is_in]).get_indexer(pd.Index(run))
    unit = units.of[at]
    found = _run_times(trace, means, calls.assign(run=run, unit=unit)[at >= 0], units)
    return replace(found, own_ns=own_ns)


def _run_times(
    trace: Trace, means: Mapping[TimeSource, Mean], calls: pd.DataFrame, units: _Units
) -> RunTimes:
    in_us = any(note.code == "layer_means" for note in trace.diagnostics)  # and means of them
    resolution_ns = 1000.0 if in_us or bool((trace.calls["dur_ns"] % 1000 == 0).all()) else 1.0
    talks = trace.operators["is_communication"].to_numpy(dtype=bool)[calls["operator"].to_numpy()]
    excess = np.where(talks, 0.0, excess_ns(calls, resolution_ns))
    sums = np.bincount(calls["unit"], weights=excess, minlength=len(units.runs))
    slow = slow_executions(trace, calls, excess, float(units.mean(sums)))
    return RunTimes(means, calls.assign(slow_ns=excess), slow, resolution_ns, units)


def _units(block: pd.Series, blocks: list[int] | None) -> _Units:
    """Of runs in their order, of which `block` is that of each; `blocks` are in order."""
    count = len(block)
    if blocks is None:
        of = np.arange(count) * min(count, MAX_BATCHES) // max(1, count)
        is_in = np.ones(count, dtype=bool)
    else:
        of_run = block.to_numpy("int64", na_value=-1)
        is_in = np.isin(of_run, blocks)
        of = np.searchsorted(blocks, of_run[is_in])
    return _Units(of, is_in, np.bincount(of).astype(float), alike=blocks is not None)


def _union(calls: pd.DataFrame) -> int:
    return union_ns(
        calls["start_ns"].to_numpy(dtype="int64"),
        calls["span_ns"].fillna(calls["dur_ns"]).to_numpy(dtype="int64"),
    )
