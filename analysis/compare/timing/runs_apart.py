"""Runs far from the others of their trace, which make its mean run longer or shorter than most."""

from __future__ import annotations

import msgspec
import numpy as np

_FAR = 1.25  # of the median, or as far below it: runs of one process mostly differ by less
_MOVES = 0.01  # of the median, by which its mean is off: a figure of three digits shows it


class RunsApart(msgspec.Struct, frozen=True):
    """Runs of one trace in two kinds: how many are far from the median, and the shortest and the
    longest of these and of the others, in ns. `others` is 0 where runs are spread so that no few
    stand apart; `near_ns` are then those of all, and `median_ns` says what half of them take."""

    count: int
    others: int
    far_ns: tuple[float, float]
    near_ns: tuple[float, float]
    median_ns: float


def runs_apart(times_ns: np.ndarray) -> RunsApart | None:
    """Return the runs that are far from the median of these; None where no run is, or where the
    mean is the median all the same. Of two runs both, where one takes far longer than the other."""
    median_ns = float(np.median(times_ns)) if len(times_ns) else 0.0
    if len(times_ns) == 2 and times_ns.max() > _FAR * times_ns.min() > 0:
        return RunsApart(2, 0, _ends(times_ns), _ends(times_ns), median_ns)
    if median_ns <= 0 or abs(float(times_ns.mean()) - median_ns) <= _MOVES * median_ns:
        return None
    slow, fast = times_ns > _FAR * median_ns, times_ns < median_ns / _FAR
    far = slow | fast
    if not far.any():
        return None
    rest_ns = times_ns[~far]
    is_spread = (
        not len(rest_ns) or bool(slow.any() and fast.any()) or not _is_gap(times_ns[far], rest_ns)
    )
    # Of an even number the median may lie between runs of both kinds.
    is_spread = is_spread or not rest_ns.min() <= median_ns <= rest_ns.max()
    near = np.ones(len(times_ns), dtype=bool) if is_spread else ~far
    others = 0 if is_spread else int(near.sum())
    return RunsApart(int(far.sum()), others, _ends(times_ns[far]), _ends(times_ns[near]), median_ns)


def _is_gap(far_ns: np.ndarray, near_ns: np.ndarray) -> bool:
    """Return whether runs on one side of the others are further from them than any two neighbours
    of the others are from each other."""
    gap_ns = max(far_ns.min() - near_ns.max(), near_ns.min() - far_ns.max())
    return bool((np.diff(np.sort(near_ns)) < gap_ns).all())


def _ends(times_ns: np.ndarray) -> tuple[float, float]:
    return float(times_ns.min()), float(times_ns.max())
