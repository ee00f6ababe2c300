"""The un-profiled samples of a comparison: block times of two sides, paired where possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.compare.timing.statistics import typical_log
from analysis.experiment import ExperimentRecord, VariantRecord


@dataclass(frozen=True)
class BlockTimes:
    """ln(seconds) of typical runs: one row a block, one column a copy (1, 2)."""

    table: pd.DataFrame

    @property
    def mean(self) -> pd.Series:
        """Mean over the copies, by block."""
        return self.table.mean(axis=1)


def block_times(sampled: pd.DataFrame, column: str = "dur_ns") -> BlockTimes:
    """Block times from un-profiled runs (columns block, copy, warmup, and the times in ns).

    Blocks in which a copy has no run are left out of the table.
    """
    counts = (sampled[column].fillna(0) > 0) & ~sampled["warmup"] & sampled["block"].notna()
    runs = sampled[counts]
    if runs.empty:
        return BlockTimes(pd.DataFrame(dtype=float))
    block = runs["block"].to_numpy(dtype="int64")
    copy = runs["copy"].fillna(1).to_numpy(dtype="int64")
    order = np.lexsort((copy, block))
    block, copy = block[order], copy[order]
    seconds = runs[column].to_numpy(dtype=float)[order] / 1e9
    firsts = np.flatnonzero(np.diff(block, prepend=-1) | np.diff(copy, prepend=-1))
    blocks, rows = np.unique(block[firsts], return_inverse=True)
    copies, columns = np.unique(copy[firsts], return_inverse=True)
    times = np.full((len(blocks), len(copies)), np.nan)
    times[rows, columns] = [typical_log(part) for part in np.split(seconds, firsts[1:])]
    table = pd.DataFrame(times, index=pd.Index(blocks, name="block"), columns=copies)
    return BlockTimes(table.dropna())


def record_times(variant: VariantRecord) -> BlockTimes:
    """Block times of a variant straight from its record."""
    samples = variant.samples
    return block_times(
        pd.DataFrame(
            {
                "block": samples.block,
                "copy": samples.copy,
                "dur_ns": samples.wall_ns,
                "warmup": np.zeros(len(samples.wall_ns), dtype=bool),
            }
        )
    )


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
