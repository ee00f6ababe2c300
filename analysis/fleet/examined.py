"""Examined: every question that is asked of a fleet, answered once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fusescope.analysis.fleet import step_split
from fusescope.analysis.fleet.causes import Cause, causes
from fusescope.analysis.fleet.differing import Stages, stages
from fusescope.analysis.fleet.fleet import Fleet
from fusescope.analysis.fleet.links import SlowLink, Transfer, slow_links, transfers
from fusescope.analysis.fleet.outliers import Outlier, outliers
from fusescope.analysis.fleet.rank_waits import RankWait, rank_waits
from fusescope.analysis.fleet.slow_ranks import SlowRank, slow_ranks, step_count, votes
from fusescope.analysis.fleet.step_split import Delays, Split
from fusescope.analysis.fleet.straggler_free import StragglerFree, straggler_free
from fusescope.analysis.ranks.aligned import Aligned, aligned


@dataclass(frozen=True, eq=False)
class Examined:
    """What was found of a fleet. `decided` of its whole `collectives` have a vote, `left_out` are
    not whole, and those of groups of one rank take `alone_ns` each; `steps` is how many a typical
    rank has."""

    fleet: Fleet
    collectives: int
    decided: int
    left_out: int
    alone_ns: np.ndarray
    steps: int
    slow: tuple[SlowRank, ...]
    causes: tuple[Cause, ...]
    waits: tuple[RankWait, ...]
    links: tuple[SlowLink, ...]
    transfers: tuple[Transfer, ...]
    stages: Stages
    by_rank: tuple[Split, ...]
    by_stage: tuple[Split, ...]
    outliers: tuple[Outlier, ...]
    delays: Delays
    straggler_free: StragglerFree | None

    @property
    def awaited(self) -> tuple[int, ...]:
        """Return the ranks that another one waits for and that are not slow, the one that is waited
        for longest first: none that is late only because it waited, unless no rank is late by its
        own delay."""
        slow = {one.rank for one in self.slow}
        own = [wait for wait in self.waits if wait.is_own]
        waits = own if own or slow else self.waits
        return tuple(dict.fromkeys(w.awaited for w in waits if w.awaited not in slow))


def examine(fleet: Fleet) -> Examined:
    """All answers."""
    found: Aligned = aligned(fleet.collectives)
    slow = slow_ranks(fleet, found)
    told = stages(fleet)
    by_rank = step_split.by_rank(fleet, told.of)
    return Examined(
        fleet,
        len(found.table),
        int((votes(found).rank >= 0).sum()),
        found.left_out,
        found.alone_ns,
        step_count(fleet),
        slow,
        causes(fleet, found, slow),
        rank_waits(fleet, found),
        slow_links(found),
        transfers(found),
        told,
        by_rank,
        step_split.by_stage(by_rank),
        outliers(fleet, told.of),
        step_split.delays(fleet, found),
        straggler_free(fleet, found, slow),
    )
