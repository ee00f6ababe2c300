"""Two fleets: the same job before and after a change, compared rank by rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fusescope.analysis.compare.timing.statistics import MIN_SAMPLES, trimmed_mean, yuen
from fusescope.analysis.fleet.step_split import Split

Part = Literal["step_ns", "computing_ns", "uncovered_ns", "free_ns"]
COMPARED: tuple[Part, ...] = ("step_ns", "computing_ns", "uncovered_ns", "free_ns")
ALPHA = 0.05


@dataclass(frozen=True)
class Change:
    """How one part of a step changed: `ratio` = candidate / baseline, a trimmed mean of the ranks'
    log-ratios; `low`, `high` its interval at 95 % (Yuen), None below five ranks that have it."""

    part: Part
    ranks: int
    baseline_ns: float
    candidate_ns: float
    ratio: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Versus:
    """Two fleets paired by rank; `alone` are ranks that only one of them has."""

    changes: tuple[Change, ...]
    paired: int
    alone: tuple[int, ...]


def versus(baseline: Sequence[Split], candidate: Sequence[Split]) -> Versus:
    """How the steps of the ranks that both have changed; the rank is the block."""
    sides = [{split.rank: split for split in side} for side in (baseline, candidate)]
    both = sorted(rank for rank in sides[0] if rank in sides[1] and rank is not None)
    alone = sorted({rank for side in sides for rank in side if rank is not None} - set(both))
    changes = []
    for part in COMPARED:
        pairs = [[float(getattr(side[rank], part)) for rank in both] for side in sides]
        known = [(a, b) for a, b in zip(*pairs, strict=True) if a > 0 and b > 0]
        logs = np.log([b / a for a, b in known]) if known else np.zeros(0)
        found = yuen(logs) if len(logs) >= MIN_SAMPLES else None
        low, high = map(math.exp, found.interval(ALPHA)) if found else (None, None)
        medians = [float(np.median(side)) if side else 0.0 for side in pairs]
        ratio = math.exp(trimmed_mean(logs)) if len(logs) else None
        changes.append(Change(part, len(known), medians[0], medians[1], ratio, low, high))
    return Versus(tuple(changes), len(both), tuple(alone))
