"""Links: what communication takes apart from waiting, and which group's is slow.

The transfer is the time in which data moved by the profiler's own count (counter). Where the file
has none, the shortest execution is assumed to wait for nobody, and so to be the transfer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from fusescope.analysis.fleet.binomial import share_interval
from fusescope.analysis.ranks.aligned import Aligned
from fusescope.analysis.ranks.bus import bus_bandwidth
from fusescope.analysis.ranks.grouped import Grouped

ALPHA = 0.01  # that any group is named where all links are alike, Bonferroni over groups
MIN_FACTOR = 1.25
MIN_GROUPS = 3
Basis = Literal["counter", "measured"]  # of a transfer: counter where all of them were counted


@dataclass(frozen=True)
class Transfer:
    """Collectives of one kind, group size and data: how long a transfer takes, and the waiting.

    `transfer_ns` is the median over collectives of what one takes; `wait_ns` the mean over
    executions of what one takes beyond that, `skew_ns` the median of most - least; `bandwidth` the
    bus bandwidth in B/s, None where the file tells no size.
    """

    kind: str
    size: int
    bytes: int | None
    groups: int
    collectives: int
    transfer_ns: float
    wait_ns: float
    skew_ns: float
    bandwidth: float | None
    basis: Basis


@dataclass(frozen=True)
class SlowLink:
    """A group whose transfers take longer than those of like groups with the same data.

    `slowest` of `collectives` times it was the slowest of the `groups`; `low`, `high` are the
    interval of that share, all groups together at 99 %. `factor` = its median transfer / the median
    of the other groups.
    """

    group: str
    ranks: tuple[int, ...]
    kind: str
    bytes: int | None
    transfer_ns: float
    others_ns: float
    factor: float
    slowest: int
    collectives: int
    low: float
    high: float
    groups: int
    bandwidth: float | None
    others_bandwidth: float | None
    basis: Basis


def transfers(found: Aligned) -> tuple[Transfer, ...]:
    """Transfers by kind, size of the group and data, the longest in sum first."""
    table = found.table
    if not len(table):
        return ()
    table = table.assign(transfer_ns=_transfer_ns(table), data=_data(table))
    beyond = found.rows["dur_ns"].to_numpy("float64") - table["transfer_ns"].to_numpy()[found.of]
    waits = pd.Series(np.maximum(0.0, beyond)).groupby(found.of).mean().to_numpy()
    frame = table.assign(wait_ns=waits, skew_ns=table["most_ns"] - table["least_ns"])
    told = []
    for kind, size, data, part in _alike(frame):
        ns, known = float(part["transfer_ns"].median()), data if data >= 0 else None
        told.append(
            Transfer(
                kind, size, known, _groups(part), len(part), ns,
                float(part["wait_ns"].mean()), float(part["skew_ns"].median()),
                bus_bandwidth(kind, size, known, ns), _basis(part),
            )
        )  # fmt: skip
    return tuple(sorted(told, key=lambda one: -one.transfer_ns * one.collectives))


def slow_links(found: Aligned) -> tuple[SlowLink, ...]:
    """Groups with a slow link, the slowest first; at least three alike are compared.

    Slow: its median transfer is at least 1.25 times the median of the other groups, and it is the
    slowest of them in more collectives than chance explains (1 / groups), by the lower bound.
    """
    frame = found.table.assign(data=_data(found.table), transfer_ns=_transfer_ns(found.table))
    told: dict[tuple[str, str], SlowLink] = {}
    for kind, size, data, part in _alike(frame):
        names = pd.MultiIndex.from_frame(part[["group", "members"]])
        codes, groups = names.factorize()
        if len(groups) < MIN_GROUPS:
            continue
        medians = Grouped(codes, part["transfer_ns"].to_numpy("float64")).median()
        # The n-th collectives of the groups are told apart by their index, or by their order.
        order = np.argsort(-part["transfer_ns"].to_numpy("float64"), kind="stable")
        nth = part.groupby(codes).cumcount().to_numpy()
        winners = pd.DataFrame({"nth": nth[order], "group": codes[order]}).drop_duplicates("nth")
        full = pd.Series(nth).value_counts()
        whole = full.index[full >= MIN_GROUPS]
        counts = winners[winners["nth"].isin(whole)]["group"].value_counts()
        for at in np.flatnonzero(medians > 0):
            others = float(np.median(np.delete(medians, at)))
            hits = int(counts.get(at, 0))
            trials = int((nth[codes == at] < len(whole)).sum())
            low, high = share_interval(hits, trials, ALPHA / len(groups)) if trials else (0.0, 1.0)
            factor = float(medians[at]) / others if others > 0 else 0.0
            if factor < MIN_FACTOR or low <= 1 / len(groups):
                continue
            mine = part[codes == at].iloc[0]
            ranks = tuple(sorted(found.rows["rank"][found.of == mine.name].unique().tolist()))
            known = data if data >= 0 else None
            told.setdefault(
                (str(mine["group"]), str(mine["members"])),
                SlowLink(
                    str(mine["group"]), ranks, kind, known, float(medians[at]), others, factor,
                    hits, trials, low, high, len(groups),
                    bus_bandwidth(kind, size, known, float(medians[at])),
                    bus_bandwidth(kind, size, known, others), _basis(part),
                ),
            )  # fmt: skip
    return tuple(sorted(told.values(), key=lambda link: -link.factor))


def _alike(frame: pd.DataFrame) -> Iterator[tuple[str, int, int, pd.DataFrame]]:
    """Collectives of one kind, size of group and data each."""
    for _, part in frame.groupby(["kind", "size", "data"], sort=False):
        first = part.iloc[0]
        yield str(first["kind"]), int(first["size"]), int(first["data"]), part


def _transfer_ns(table: pd.DataFrame) -> np.ndarray:
    """Return what the transfer of each collective takes, in ns."""
    moved = table["moved_ns"].to_numpy("float64")
    found: np.ndarray = np.where(np.isnan(moved), table["least_ns"].to_numpy("float64"), moved)
    return found


def _basis(part: pd.DataFrame) -> Basis:
    return "counter" if part["moved_ns"].notna().all() else "measured"


def _data(table: pd.DataFrame) -> np.ndarray:
    return table["bytes"].to_numpy("int64", na_value=-1)


def _groups(part: pd.DataFrame) -> int:
    return len(part[["group", "members"]].drop_duplicates())
