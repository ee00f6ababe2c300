"""Who waits for whom in collectives that several ranks have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fusescope.analysis.ranks.aligned import Aligned
from fusescope.analysis.ranks.grouped import Grouped

# By how much two executions of one collective may end apart, beyond what the clocks are apart.
_APART_NS = 200_000
_APART = 0.05  # of the longer one


@dataclass(frozen=True, eq=False)
class Awaited:
    """Of each execution of `Aligned`: `rank`, which came last to its collective, and how long it
    was waited for in `ns`, 0 of its own. `ends_alike` where both end at the same time, as far as
    their clocks are apart in most of the collectives that the two have."""

    rank: np.ndarray
    ns: np.ndarray
    ends_alike: np.ndarray


def awaited(found: Aligned) -> Awaited:
    """Return who was waited for: all ranks leave a collective at about the same time, so the rank
    of the shortest execution came last, and others waited by as much as theirs are longer."""
    rows, of = found.rows, found.of
    if not len(rows):
        return Awaited(*(np.zeros(0, dtype=kind) for kind in ("int64", "int64", "bool")))
    lasts = rows["dur_ns"].to_numpy("int64")
    ends = rows["start_ns"].to_numpy("int64") + lasts
    ranks = rows["rank"].to_numpy("int64")
    last = Grouped(of, lasts.astype("float64")).first()[of]
    later = np.where(ranks < ranks[last], -1, 1) * (ends - ends[last])
    pairs = np.sort(np.stack([ranks, ranks[last]]), axis=0)
    pair = np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)
    clocks = Grouped(pair, later.astype("float64")).median()[pair]
    alike = np.abs(later - clocks) <= np.maximum(_APART_NS, _APART * lasts)
    return Awaited(ranks[last], lasts - lasts[last], alike)
