"""Step split: what a rank's steps are made of, by rank and by stage, and the heat map of delays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from fusescope.analysis.fleet.fleet import Fleet
from fusescope.analysis.ranks.aligned import Aligned
from fusescope.analysis.ranks.grouped import Grouped

PARTS = ("computing_ns", "uncovered_ns", "free_ns")
MAX_STEPS = 200  # of a heat map; more are joined
MAX_RANKS = 1024


@dataclass(frozen=True)
class Split:
    """The mean step of one rank, or the mean of those of the ranks of a stage, in ns.

    step = computing + uncovered communication + free, of each step by a sweep over the intervals of
    the device; means of each part, so they add up to the step.
    """

    stage: int
    rank: int | None
    ranks: int
    steps: int
    step_ns: float
    computing_ns: float
    uncovered_ns: float
    free_ns: float
    communication_ns: float


@dataclass(frozen=True, eq=False)
class Delays:
    """Share of a step by which each rank came late by itself: `shares` has a row for each of
    `ranks` and a column for each of `steps`, NaN where nothing is known."""

    ranks: tuple[int, ...]
    steps: tuple[int, ...]
    shares: np.ndarray


def by_rank(fleet: Fleet, stage_of: Mapping[int, int]) -> tuple[Split, ...]:
    """The split of each rank that has steps with starts, by rank."""
    steps = fleet.steps[fleet.steps["split_ns"].notna() & ~fleet.steps["warmup"]]
    if not len(steps):
        return ()
    columns = ["split_ns", *PARTS, "communication_ns"]
    numbers = steps[columns].astype("float64").assign(rank=steps["rank"])
    means = numbers.groupby("rank").mean()
    counts = numbers.groupby("rank").size()
    return tuple(
        Split(stage_of.get(rank, 0), rank, 1, int(counts[rank]), *map(float, values))
        for rank, values in zip(means.index.tolist(), means[columns].to_numpy(), strict=True)
    )


def by_stage(ranks: tuple[Split, ...]) -> tuple[Split, ...]:
    """The split of each stage: means over its ranks."""
    told = []
    for stage in sorted({split.stage for split in ranks}):
        mine = [split for split in ranks if split.stage == stage]
        values = [
            float(np.mean([getattr(split, name) for split in mine]))
            for name in ("step_ns", *PARTS, "communication_ns")
        ]
        steps = max(split.steps for split in mine)
        told.append(Split(stage, None, len(mine), steps, *values))
    return tuple(told)


def delays(fleet: Fleet, found: Aligned) -> Delays:
    """How late each rank came by itself in each step, as a share of the step.

    Sum over its collectives of max(0, time since the collectives before - the median of that over
    the ranks of the group) / the step. Steps beyond 200 are joined to neighbours, ranks beyond
    1024 left out.
    """
    ranks = fleet.numbers[:MAX_RANKS]
    rows = found.rows
    known = (
        rows["before_ns"].notna().to_numpy() & ~found.table["is_pair"].to_numpy("bool")[found.of]
    )
    known &= rows["step"].to_numpy("int64") >= 0
    before = rows["before_ns"].to_numpy("float64", na_value=0.0)[known]
    of = found.of[known]
    median = Grouped(of, before, len(found.table)).median()
    late = pd.DataFrame(
        {
            "rank": rows["rank"].to_numpy()[known],
            "step": rows["step"].to_numpy()[known],
            "late": np.maximum(0, before - median[of]),
        }
    )
    lasts = fleet.steps[fleet.steps["split_ns"].notna()].set_index(["rank", "number"])["split_ns"]
    steps = sorted(late["step"].unique().tolist())
    width = -(-len(steps) // MAX_STEPS) if steps else 1
    shown = tuple(steps[::width])
    place = {step: at // width for at, step in enumerate(steps)}
    sums = late.assign(at=late["step"].map(place)).groupby(["rank", "at"])["late"].sum()
    whole = lasts.reset_index()
    whole = whole.assign(at=whole["number"].map(place)).dropna(subset="at")
    spans = whole.astype({"split_ns": "float64", "at": "int64"}).groupby(["rank", "at"])["split_ns"]
    shares = (sums / spans.sum().where(lambda ns: ns > 0)).unstack("at")
    shares = shares.reindex(index=list(ranks), columns=range(len(shown)))
    return Delays(ranks, shown, shares.to_numpy("float64"))
