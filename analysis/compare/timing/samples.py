"""The un-profiled samples of a comparison: block times of two sides, paired where possible."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from fusescope.analysis.compare.timing.statistics import TYPICAL
from fusescope.analysis.experiment import ExperimentRecord, VariantRecord


@dataclass(frozen=True)
class BlockTimes:
    """ln(seconds) of typical runs: one row a block, one column a copy (1, 2)."""

    table: pd.DataFrame

    @cached_property
    def mean(self) -> pd.Series:
        """Mean over the copies, by block."""
        return self.table.mean(axis=1)


def block_times(sampled: pd.DataFrame, column: str = "dur_ns") -> BlockTimes:
    """Block times from un-profiled runs (columns block, copy, warmup, and the times in ns).

    Blocks in which a copy has no run are left out of the table.
    """
    counts = (sampled["block"].notna() & ~sampled["warmup"]).to_numpy()
    ns = sampled[column].to_numpy("float64", na_value=np.nan)
    block, copy = (sampled[name].to_numpy("int64", na_value=1) for name in ("block", "copy"))
    return _typical(block[counts], copy[counts], ns[counts])


def record_times(variant: VariantRecord) -> BlockTimes:
    """Block times of a variant straight from its record."""
    samples = variant.samples
    block, copy = (np.array(of, dtype="int64") for of in (samples.block, samples.copy))
    return _typical(block, copy, np.array(samples.wall_ns, dtype=float))


def quantile_times(variant: VariantRecord, quantile: float) -> BlockTimes:
    """ln(seconds) of that quantile of the runs of each block, 0.5 for their median."""
    samples = variant.samples
    block, copy = (np.array(of, dtype="int64") for of in (samples.block, samples.copy))
    return _typical(block, copy, np.array(samples.wall_ns, dtype=float), quantile)


def cpu_times(variant: VariantRecord) -> BlockTimes:
    """Typical CPU time of the runs of each block, as `record_times` has their wall time."""
    samples = variant.samples
    block, copy = (np.array(of, dtype="int64") for of in (samples.block, samples.copy))
    return _typical(block, copy, np.array(samples.cpu_ns, dtype=float))


def _typical(
    block: np.ndarray, copy: np.ndarray, ns: np.ndarray, quantile: float = TYPICAL
) -> BlockTimes:
    """Block times from block, copy and time of each run; times of 0 and NaN do not count."""
    order = np.flatnonzero(ns > 0)
    order = order[np.lexsort((ns[order], copy[order], block[order]))]
    if not len(order):
        return BlockTimes(pd.DataFrame(dtype=float))
    block, copy, seconds = block[order], copy[order], ns[order] / 1e9
    firsts = np.flatnonzero(np.diff(block, prepend=-1) | np.diff(copy, prepend=-1))
    blocks, rows = np.unique(block[firsts], return_inverse=True)
    copies, columns = np.unique(copy[firsts], return_inverse=True)
    times = np.full((len(blocks), len(copies)), np.nan)
    rank = (np.diff(firsts, append=len(order)) - 1) * quantile
    below = firsts + np.floor(rank).astype(int)
    low, high = np.log(seconds[below]), np.log(seconds[firsts + np.ceil(rank).astype(int)])
    times[rows, columns] = low + (high - low) * (rank - np.floor(rank))
    whole = ~np.isnan(times).any(axis=1)
    index = pd.Index(blocks[whole], name="block")
    return BlockTimes(pd.DataFrame(times[whole], index=index, columns=copies))


def paired_differences(baseline: BlockTimes, candidate: BlockTimes) -> np.ndarray:
    """ln(candidate) - ln(baseline) per block that both have, in block order."""
    both = baseline.table.index.intersection(candidate.table.index)
    return (candidate.mean.loc[both] - baseline.mean.loc[both]).to_numpy(dtype=float)


def control_differences(record: ExperimentRecord) -> np.ndarray:
    """A/A control: ln(copy 2) - ln(copy 1) of the recorded baseline, per block."""
    table = record_times(record.variant(record.settings.baseline)).table
    if 1 not in table.columns or 2 not in table.columns:
        return np.empty(0)
    return (table[2] - table[1]).to_numpy(dtype=float)
