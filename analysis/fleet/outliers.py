"""Outliers: operators that take longer, or less, on one rank than on the others of its stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fusescope.analysis.fleet.fleet import Fleet
from fusescope.analysis.fleet.slow_ranks import step_time
from fusescope.analysis.ranks.grouped import Grouped

MIN_RANKS = 5
MIN_SCORE = 3.5  # Iglewicz and Hoaglin (1993), "How to detect and handle outliers"
MIN_CHANGE = 0.05
MIN_SHARE = 0.005  # of the steps
FLOOR = 0.01  # of the median, below which no deviation counts as smaller
MAX_TOLD = 200


@dataclass(frozen=True)
class Outlier:
    """An operator of a rank: `each_ns` and `median_ns` are the median call there and the median of
    that over the ranks; `score` = 0.6745 (each - median) / MAD, `total_ns` the difference over all
    of its calls."""

    rank: int
    name: str
    op_type: str
    inputs: str
    calls: int
    each_ns: float
    median_ns: float
    score: float
    total_ns: float

    @property
    def change(self) -> float:
        """each / median - 1."""
        return self.each_ns / self.median_ns - 1


def outliers(fleet: Fleet, stage_of: Mapping[int, int]) -> tuple[Outlier, ...]:
    """Operators of ranks far from the others of their stage, the largest difference first.

    Far: |robust z| at least 3.5, with a deviation of 1 % of the median at the least; 5 % from the
    median; and 0.5 % of the steps in sum. Operators that fewer than five ranks of a stage have are
    left out.
    """
    table = fleet.operators
    table = table[table["median_ns"] > 0]
    if not len(table):
        return ()
    stage = table["rank"].map(stage_of).fillna(-1).to_numpy()
    keys = pd.MultiIndex.from_arrays([table["name"], table["inputs"], stage])
    of = pd.factorize(keys)[0].astype("int64")
    each = table["median_ns"].to_numpy("float64")
    groups = Grouped(of, each)
    median = groups.median()[of]
    deviation = Grouped(of, np.abs(each - median)).median()[of]
    score = 0.6745 * (each - median) / np.maximum(deviation, FLOOR * median)
    total = (each - median) * table["calls"].to_numpy()
    far = (
        (np.abs(score) >= MIN_SCORE)
        & (np.abs(each / median - 1) >= MIN_CHANGE)
        & (np.abs(total) >= MIN_SHARE * step_time(fleet))
        & (groups.counts[of] >= MIN_RANKS)
    )
    order = np.flatnonzero(far)
    order = order[np.argsort(-np.abs(total[order]), kind="stable")][:MAX_TOLD]
    rows = table.iloc[order]
    return tuple(
        Outlier(int(rank), name, op_type, inputs, int(calls), *map(float, figures))
        for rank, name, op_type, inputs, calls, figures in zip(
            rows["rank"], rows["name"], rows["op_type"], rows["inputs"], rows["calls"],
            zip(each[order], median[order], score[order], total[order], strict=True),
            strict=True,
        )
    )  # fmt: skip
