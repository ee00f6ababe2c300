"""Straggler-free: what a step would cost without the slow ranks. A model, not a measurement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fusescope.analysis.fleet.fleet import Fleet
from fusescope.analysis.fleet.slow_ranks import SlowRank, step_count, step_time
from fusescope.analysis.ranks.aligned import Aligned
from fusescope.analysis.ranks.grouped import Grouped


@dataclass(frozen=True)
class StragglerFree:
    """A step as measured (median over ranks), and as modelled without the slow ranks.

    The collectives are replayed: each begins to move data when its last rank has come, and takes
    its least execution; a rank comes once the time since its collective before has passed. In the
    model the slow ranks come at the median of their group. `replayed_ns` is the replay of what was
    measured, by which the model is judged; `saved` = 1 - replay of the model / that replay.
    """

    step_ns: float
    replayed_ns: float
    saved: float

    @property
    def modelled_ns(self) -> float:
        """step · (1 - saved)."""
        return self.step_ns * (1 - self.saved)

    @property
    def saved_ns(self) -> float:
        """step · saved."""
        return self.step_ns * self.saved


def straggler_free(
    fleet: Fleet, found: Aligned, slow: tuple[SlowRank, ...]
) -> StragglerFree | None:
    """The modelled step; None without a slow rank, without steps, or where the ranks' orders of
    their collectives contradict each other. Pairs are left as they are: what a pipeline would gain
    is not modelled."""
    steps = step_count(fleet)
    if not slow or not steps:
        return None
    kept = ~found.table["is_pair"].to_numpy("bool")[found.of]
    rows, of = found.rows[kept], found.of[kept]
    order = np.lexsort((rows["place"].to_numpy(), rows["rank"].to_numpy()))
    of = of[order]
    rank = rows["rank"].to_numpy("int64")[order]
    start = rows["start_ns"].to_numpy("int64")[order]
    end = start + rows["dur_ns"].to_numpy("int64")[order]
    is_first = np.r_[True, rank[1:] != rank[:-1]]
    before = np.maximum(0, start - np.r_[0, end[:-1]])
    before[is_first] = 0
    known = ~is_first
    median = Grouped(of[known], before[known], len(found.table)).median()[of]
    is_slow = np.isin(rank, [one.rank for one in slow]) & known & ~np.isnan(median)
    modelled = np.where(is_slow, np.minimum(before, np.nan_to_num(median)), before)
    ends = _replayed(of, rank, is_first, (before, modelled), found.table["least_ns"].to_numpy())
    if ends is None:
        return None
    was, would = (float(np.median(last)) for last in ends)
    return StragglerFree(step_time(fleet) / steps, was / steps, 1 - would / was if was > 0 else 0.0)


def _replayed(
    of: np.ndarray,
    rank: np.ndarray,
    is_first: np.ndarray,
    befores: tuple[np.ndarray, np.ndarray],
    transfer: np.ndarray,
) -> tuple[list[float], list[float]] | None:
    """When each rank leaves its last collective, with either time before them; None where some
    collective can never begin. Executions are sorted by rank and place."""
    firsts = np.flatnonzero(is_first)
    is_last = np.r_[is_first[1:], True]
    # Of each execution the collective that comes next on its rank, -1 at the end, and the times
    # before that; side by side for those of one collective, since they leave it together.
    order = np.argsort(of, kind="stable")
    following = np.where(is_last, -1, np.r_[of[1:], -1])[order].tolist()
    one, two = (np.r_[before[1:], 0.0][order].tolist() for before in befores)
    missing = np.bincount(of, minlength=len(transfer))
    ends = np.cumsum(missing)
    begins, ends, takes = (ends - missing).tolist(), ends.tolist(), transfer.tolist()
    come, other_come = ([0.0] * len(takes) for _ in befores)
    for before, latest in zip(befores, (come, other_come), strict=True):
        for which, ns in zip(of[firsts].tolist(), before[firsts].tolist(), strict=True):
            latest[which] = max(latest[which], ns)
    missing = missing - np.bincount(of[firsts], minlength=len(missing))
    ready = np.intersect1d(of[firsts], np.flatnonzero(missing == 0)).tolist()
    missing = missing.tolist()
    done: tuple[list[float], list[float]] = ([], [])
    while ready:
        which = ready.pop()
        end, other_end = come[which] + takes[which], other_come[which] + takes[which]
        members = slice(begins[which], ends[which])
        for then, ns, other_ns in zip(following[members], one[members], two[members], strict=True):
            if then < 0:
                done[0].append(end)
                done[1].append(other_end)
                continue
            if end + ns > come[then]:  # noqa: PLR1730 - max() doubles the time of this loop
                come[then] = end + ns
            if other_end + other_ns > other_come[then]:  # noqa: PLR1730
                other_come[then] = other_end + other_ns
            missing[then] -= 1
            if not missing[then]:
                ready.append(then)
    return done if len(done[0]) == len(firsts) else None
