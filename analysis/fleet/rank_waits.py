"""Who waits for whom: how long each rank waits for each other one in a step."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from fusescope.analysis.fleet.fleet import Fleet
from fusescope.analysis.fleet.slow_ranks import MIN_COST, OWN, own_part, step_count, step_time
from fusescope.analysis.ranks.aligned import Aligned
from fusescope.analysis.ranks.awaited import awaited

NEARLY_ALL = 0.8


@dataclass(frozen=True)
class RankWait:
    """A rank that waits for another one: `ns` in a step, which is that `share` of the step;
    `kinds` are the collectives in which it does, with the time in each, the longest first.
    `in_step` is the number of the one step of several that holds `NEARLY_ALL` of it, else None.
    `is_own` unless most of it is before collectives to which `awaited` is known to have come last
    because it waited for others."""

    rank: int
    awaited: int
    ns: float
    share: float
    step_ns: float
    kinds: tuple[tuple[str, float], ...]
    in_step: int | None = None
    is_own: bool = False


def rank_waits(fleet: Fleet, found: Aligned) -> tuple[RankWait, ...]:
    """Return who waits for whom at least 1 % of the steps, the longest first; none without steps.

    An execution waits for the rank of the shortest one, by as much as it is longer; those that do
    not end together are left out, as in `ranks.waits.waits_of_pair`. Waiting of the mean step.
    """
    steps, total = step_count(fleet), step_time(fleet)
    if not steps or total <= 0 or not len(found.rows):
        return ()
    waited = awaited(found)
    table = pd.DataFrame(
        {
            "rank": found.rows["rank"].to_numpy("int64"),
            "awaited": waited.rank,
            "kind": found.rows["kind"].astype("str").to_numpy(),
            "step": found.rows["step"].to_numpy("int64"),
            "ns": waited.ns,
            "is_kept": (own_part(found) < OWN)[found.of],
        }
    )[waited.ends_alike & (waited.ns > 0)]
    waits = []
    for _, of_pair in table.groupby(["rank", "awaited"]):
        rank, other = (int(of_pair[name].iloc[0]) for name in ("rank", "awaited"))
        ns = float(of_pair["ns"].sum())
        if ns < MIN_COST * total:
            continue
        sums = of_pair.groupby("kind")["ns"].sum().sort_values(ascending=False, kind="stable")
        kinds = tuple((str(kind), float(took) / steps) for kind, took in sums.items())
        in_step = _step_of_most(of_pair) if steps > 1 else None
        is_own = 2 * float(of_pair.loc[of_pair["is_kept"], "ns"].sum()) <= ns
        of_step = (ns / steps, ns / total, total / steps)
        waits.append(RankWait(rank, other, *of_step, kinds, in_step, is_own))
    return tuple(sorted(waits, key=lambda wait: -wait.ns))


def _step_of_most(table: pd.DataFrame) -> int | None:
    """Return the step that holds nearly all of the `ns` of a table; None without one."""
    sums = table.groupby("step")["ns"].sum()
    step = int(sums.index[int(sums.to_numpy().argmax())])
    return step if step >= 0 and sums.max() >= NEARLY_ALL * sums.sum() else None
