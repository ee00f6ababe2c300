"""Slow ranks: which rank made the others wait, by a vote of every collective.

The rank of the shortest execution came last. It has the vote where its execution is shorter than
the next by more than 5 % and by more than three times the spread of the others, and where at least
half of its delay arose since the collectives before: a rank that was itself kept waiting is not
to blame. Pairs do not vote, since whoever sends is always last.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fusescope.analysis.fleet.binomial import share_interval
from fusescope.analysis.fleet.fleet import Fleet
from fusescope.analysis.ranks.aligned import Aligned
from fusescope.analysis.ranks.grouped import Grouped

ALPHA = 0.01  # that any rank of a fleet without a slow one is named, Bonferroni over ranks
GAP, SPREADS, OWN = 0.05, 3.0, 0.5
MIN_COST = 0.01  # share of the steps that the others wait for it


@dataclass(frozen=True)
class SlowRank:
    """A rank that came last more often than chance explains.

    `votes` of the `collectives` that have a vote and in which it took part; `low`, `high` are the
    interval of that share, all ranks together at 99 %. `chance` is the share that each rank would
    have if none were slow. `waited_ns` is how long the others waited for it in a step, `cost` that
    as a share of the step; `steps` in how many it has a vote.
    """

    rank: int
    votes: int
    collectives: int
    low: float
    high: float
    chance: float
    waited_ns: float
    cost: float
    steps: int


@dataclass(frozen=True, eq=False)
class Votes:
    """Of each collective of `Aligned` the rank that has its vote, -1 without; how late it was
    compared with the median of the others, and its row."""

    rank: np.ndarray
    late_ns: np.ndarray
    row: np.ndarray


def votes(found: Aligned) -> Votes:
    """Who came last by its own delay in each collective."""
    lasts = Grouped(found.of, found.rows["dur_ns"].to_numpy("float64"))
    row = lasts.first()
    shortest, following = lasts.at(0), lasts.at(1)
    spread = np.where(lasts.counts >= 5, lasts.spread(skip=1), 0.0)
    late = lasts.median(skip=1) - shortest
    has = following - shortest > np.maximum(GAP * following, SPREADS * spread)
    has &= own_part(found) >= OWN
    has &= ~found.table["is_pair"].to_numpy("bool")
    rank = np.where(has, found.rows["rank"].to_numpy("int64")[row], -1)
    return Votes(rank, late, row)


def own_part(found: Aligned) -> np.ndarray:
    """Return of each collective the part of the delay of the rank that came last which arose since
    the collectives before, so that it was not kept waiting itself; NaN where that is not known."""
    rows, of = found.rows, found.of
    lasts = Grouped(of, rows["dur_ns"].to_numpy("float64"))
    before = Grouped(
        of[(known := rows["before_ns"].notna().to_numpy())],
        rows["before_ns"].to_numpy("float64", na_value=0.0)[known],
        len(lasts.counts),
    )
    late = lasts.median(skip=1) - lasts.at(0)
    own = rows["before_ns"].to_numpy("float64", na_value=np.nan)[lasts.first()] - before.median()
    part: np.ndarray = np.divide(own, late, out=np.full(len(own), np.nan), where=late > 0)
    return part


def slow_ranks(fleet: Fleet, found: Aligned) -> tuple[SlowRank, ...]:
    """The ranks that are slow, the most costly first.

    Slow: the lower bound of its share of votes (Clopper and Pearson, Bonferroni over ranks) is
    above chance, the mean of 1 / size over its collectives, and the others wait for it at least
    1 % of the steps.
    """
    given = votes(found)
    voted = given.rank >= 0
    total = step_time(fleet)
    if not voted.any() or total <= 0:
        return ()
    at = voted[found.of]
    rank = found.rows["rank"].to_numpy("int64")[at]
    chance = 1 / found.table["present"].to_numpy("float64")[found.of[at]]
    steps = found.table["step"].to_numpy("int64")
    alpha = ALPHA / max(1, len(fleet.ranks))
    told = []
    for one in np.unique(given.rank[voted]):
        mine = given.rank == one
        count, trials = int(mine.sum()), int((rank == one).sum())
        low, high = share_interval(count, trials, alpha)
        expected = float(chance[rank == one].mean())
        waited = float(given.late_ns[mine].sum())
        seen = len(np.unique(steps[mine]))
        if low > expected and waited >= MIN_COST * total:
            per_step = waited / max(1, step_count(fleet))
            told.append(
                SlowRank(
                    int(one), count, trials, low, high, expected, per_step, waited / total, seen
                )
            )
    return tuple(sorted(told, key=lambda slow: -slow.cost))


def step_time(fleet: Fleet) -> float:
    """Sum of the steps of a typical rank in ns: median over ranks."""
    known = fleet.steps[fleet.steps["split_ns"].notna()]
    sums = known.groupby("rank")["split_ns"].sum()
    return float(sums.median()) if len(sums) else 0.0


def step_count(fleet: Fleet) -> int:
    """Steps of a typical rank: median over ranks."""
    known = fleet.steps[fleet.steps["split_ns"].notna()]
    return int(known.groupby("rank").size().median()) if len(known) else 0
