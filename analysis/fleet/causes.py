"""Causes: which operators before its collectives made a slow rank late."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fusescope.analysis.fleet.fleet import Fleet
from fusescope.analysis.fleet.slow_ranks import SlowRank, votes
from fusescope.analysis.ranks.aligned import Aligned

MIN_COVERAGE = 0.8
MAX_OTHERS = 15
MAX_OPERATORS = 5


@dataclass(frozen=True)
class Culprit:
    """An operator, and what it adds to the delay: its time before those collectives on the slow
    rank - the median of that over the others."""

    name: str
    excess_ns: float
    share: float


@dataclass(frozen=True)
class Cause:
    """Why a rank is late in the collectives that have its vote.

    `late_ns` = sum over them of (time since the collectives before - median over the others);
    `operators` are those that add to it, the largest first; `idle_ns` is what the device adds by
    having nothing to do. `coverage` = |what operators and idle time explain| / late. Where that is
    below 80 %, the cause is not measured. `others` are the ranks compared with.
    """

    rank: int
    late_ns: float
    operators: tuple[Culprit, ...]
    idle_ns: float
    coverage: float
    others: int

    @property
    def is_measured(self) -> bool:
        return self.coverage >= MIN_COVERAGE

    @property
    def idle_share(self) -> float:
        return self.idle_ns / self.late_ns if self.late_ns > 0 else 0.0


def causes(fleet: Fleet, found: Aligned, slow: tuple[SlowRank, ...]) -> tuple[Cause, ...]:
    """The cause of each slow rank, in their order; at most 15 ranks of its groups are read."""
    given = votes(found)
    return tuple(filter(None, (_cause(fleet, found, given.rank, one.rank) for one in slow)))


def _cause(fleet: Fleet, found: Aligned, voted: np.ndarray, rank: int) -> Cause | None:
    mine = voted == rank
    rows = found.rows
    inside = mine[found.of] & rows["before_ns"].notna().to_numpy()
    part = rows[inside].assign(of=found.of[inside])
    # A collective stands in the rows of each rank at its own place, which is what segments count.
    others = [int(other) for other in part["rank"].unique() if other != rank]
    step = -(-len(others) // MAX_OTHERS) if others else 1
    others = sorted(others)[::step]
    part = part[part["rank"].isin([rank, *others])]
    idle = part["before_ns"].astype("float64") - part["before_busy_ns"].astype("float64")
    part = part.assign(before=part["before_ns"].astype("float64"), idle=idle)
    is_own = (part["rank"] == rank).to_numpy()
    own = part[is_own].set_index("of")
    medians = part[~is_own].groupby("of")[["before", "idle"]].median().reindex(own.index)
    late = float((own["before"] - medians["before"]).sum())
    if not late > 0 or not others:
        return None
    idle_ns = float((own["idle"] - medians["idle"]).sum())
    excess = _excess(fleet, part, rank, others)
    explained = idle_ns + float(excess.sum())
    told = excess[excess > 0].sort_values(ascending=False, kind="stable").head(MAX_OPERATORS)
    culprits = tuple(Culprit(str(name), float(ns), float(ns) / late) for name, ns in told.items())
    coverage = max(0.0, 1 - abs(late - explained) / late)
    return Cause(rank, late, culprits, idle_ns, coverage, len(others))


def _excess(fleet: Fleet, part: pd.DataFrame, rank: int, others: list[int]) -> pd.Series:
    """By operator: its time before the collectives on the rank - the median over the others."""
    sums: dict[int, pd.Series] = {}
    for one in (rank, *others):
        segments = part[part["rank"] == one]["place"]
        rows = fleet.rows(one, ("segment", "name", "dur_ns"))
        wanted = rows[rows["segment"].isin(segments)]
        sums[one] = wanted.groupby("name", observed=True)["dur_ns"].sum()
        sums[one].index = sums[one].index.astype("str")
        sums[one] = sums[one] / max(1, len(segments))
    table = pd.DataFrame(sums).fillna(0.0)
    count = int((part["rank"] == rank).sum())
    return (table[rank] - table[others].median(axis=1)) * count
