"""Collectives of all ranks side by side: which executions are one collective, and who waited.

All ranks of a group leave a collective at about the same time. So the rank whose execution is the
shortest arrived last, and what an execution takes beyond the shortest is time spent waiting. That
needs no common clock.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from fusescope.analysis.ranks.grouped import Grouped


@dataclass(frozen=True, eq=False)
class Aligned:
    """`rows` are executions of whole collectives, numbered by `of`; `table` has a row for each.

    A collective is whole where as many ranks have it as have any of its group, at least two, each
    once, and all with the same kind and size. `left_out` counts those that are not, without those
    of groups of one rank, which nobody else could have: `alone_ns` holds how long each of these is.
    `table`: `group`, `members`, `size` of the group, `present` (ranks that have it), `kind`,
    `bytes`, `index`, `is_pair`, `step`, `least_ns`, `median_ns` and `most_ns` of an execution, and
    `moved_ns`, in which data moved on the rank where that took longest, by the profiler's own count
    (null where it counted none).
    """

    rows: pd.DataFrame
    of: np.ndarray
    table: pd.DataFrame
    left_out: int
    alone_ns: np.ndarray

    @property
    def wait_ns(self) -> np.ndarray:
        """What each execution waited for the last rank: its time - the least of its collective."""
        least = self.table["least_ns"].to_numpy()[self.of]
        waited: np.ndarray = self.rows["dur_ns"].to_numpy("float64") - least
        return waited


def aligned(rows: pd.DataFrame) -> Aligned:
    """The collectives of several ranks: tables as `collectives` makes them, with a column
    `rank`."""
    if not len(rows):
        return _of(rows, np.zeros(0, dtype="int64"), 0, np.zeros(0))
    # A name of a group may stand for other ranks elsewhere; members tell them apart.
    place = _numbered(rows["group"], rows["members"])
    named = (rows["group"] != "").to_numpy()
    kind = pd.factorize(rows["kind"])[0].astype("int64")
    place = place * (kind.max() + 1) + np.where(named, 0, kind)  # unnamed ones count by kind
    whole = _numbered(place, rows["index"].to_numpy("int64"))
    total = int(whole.max()) + 1
    counts = np.bincount(whole, minlength=total)
    first = np.full(total, -1, dtype="int64")
    first[whole[::-1]] = np.arange(len(rows))[::-1]
    size = rows["bytes"].to_numpy("int64", na_value=-1)
    fits = (kind == kind[first[whole]]) & (size == size[first[whole]])
    is_alike = np.bincount(whole, fits, minlength=total) == counts
    rank = rows["rank"].to_numpy()
    pairs = pd.DataFrame({"of": whole, "rank": rank})
    twice = np.zeros(total, dtype=bool)
    twice[whole[pairs.duplicated().to_numpy()]] = True
    place_of = place[first]
    fullest = np.zeros(int(place.max()) + 1, dtype="int64")
    np.maximum.at(fullest, place_of, np.where(twice, 0, counts))
    kept = is_alike & ~twice & (counts >= 2) & (counts == fullest[place_of])
    number = np.full(total, -1, dtype="int64")
    number[kept] = np.arange(kept.sum())
    of = number[whole]
    inside = of >= 0
    is_alone = (counts == 1) & (rows["size"].to_numpy("int64", na_value=0)[first] == 1)
    left_out = int((~kept & ~is_alone).sum())
    alone_ns = rows["dur_ns"].to_numpy("float64")[first[is_alone]]
    return _of(rows[inside].reset_index(drop=True), of[inside], left_out, alone_ns)


def _numbered(one: pd.Series | np.ndarray, other: pd.Series | np.ndarray) -> np.ndarray:
    """The pairs of both, numbered in the order in which they come."""
    first, second = (pd.factorize(values)[0].astype("int64") for values in (one, other))
    found: np.ndarray = pd.factorize(first * (second.max() + 1) + second)[0].astype("int64")
    return found


def _of(rows: pd.DataFrame, of: np.ndarray, left_out: int, alone_ns: np.ndarray) -> Aligned:
    lasts = Grouped(of, rows["dur_ns"].to_numpy("float64") if len(rows) else np.zeros(0))
    first = lasts.first()
    columns = ["group", "members", "kind", "bytes", "index", "is_pair", "step", "size"]
    table = rows.iloc[first][columns].reset_index(drop=True) if len(rows) else rows[columns]
    told = table["size"].to_numpy("int64", na_value=0)
    table = table.assign(
        size=np.maximum(told, lasts.counts),
        present=lasts.counts,
        least_ns=lasts.at(0),
        median_ns=lasts.median(),
        most_ns=lasts.quantile(1.0),
        moved_ns=_moved(rows, of),
        last_row=first,
    )
    return Aligned(rows, of, table, left_out, alone_ns)


def _moved(rows: pd.DataFrame, of: np.ndarray) -> np.ndarray:
    """Return for how long data moved in each collective, in ns, NaN where no rank counted any."""
    told = rows.get("transfer_ns")
    if told is None or not len(rows):
        return np.full(int(of.max(initial=-1)) + 1, np.nan)
    counted = told.to_numpy("float64", na_value=np.nan)
    most = Grouped(of, np.where(counted > 0, counted, -1.0)).quantile(1.0)
    found: np.ndarray = np.where(most > 0, most, np.nan)
    return found
