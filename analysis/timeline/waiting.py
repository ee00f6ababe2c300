"""How long the collectives of a timeline wait for other ranks."""

from __future__ import annotations

import numpy as np

from fusescope.analysis.compare.side import Side, ranks_of
from fusescope.analysis.ranks.waits import Waits, waits_of, waits_of_pair
from fusescope.analysis.timeline.run import DrawnRun


def waits_of_both(first: Side, second: Side) -> tuple[Waits | None, Waits | None]:
    """Return what the collectives of each side wait for other ranks: measured of two ranks of one
    job; None where nothing in the file counts it."""
    ranks = ranks_of(first, second)
    pair = None
    if ranks is not None and ranks.is_one_job:
        pair = waits_of_pair(first.trace, second.trace)
    return pair or (known_waits(first), known_waits(second))


def known_waits(side: Side) -> Waits | None:
    """Return what the profiler counts of waiting; None where it is modelled only."""
    waits = waits_of(side.trace)
    return waits if waits is not None and waits.basis == "counter" else None


def waiting_ns(waits: Waits | None, run: DrawnRun, placed: np.ndarray) -> np.ndarray | None:
    """Return how long each call that is drawn waits, at most as long as it lasts; None where none
    is known to."""
    if waits is None:
        return None
    found = np.clip(waits.each(run.calls.index.to_numpy()), 0, run.dur_ns)[placed]
    return found if found.any() else None
