"""How long collectives wait for other ranks, apart from the transfer, and what says so.

All ranks of a group leave a collective at about the same time, so of two ranks the one that comes
first waits as much longer as its execution takes longer (measured). Ascend's profiler counts when
data moved (counter). Else the shortest execution of a collective on as much data of the same group
bounds what a transfer takes, so that what others take beyond it is waiting (modelled).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from fusescope.analysis.ranks.aligned import aligned
from fusescope.analysis.ranks.awaited import awaited
from fusescope.analysis.ranks.collectives import collectives
from fusescope.analysis.trace import Trace

WaitBasis = Literal["measured", "counter", "modelled"]
_SINCE_1970 = 10**18  # ns: a start beyond it is on a clock that both ranks have
KNOWN = 0.5  # of the time of collectives, of which the wait must be known
LEAST = 0.05  # of it, below which the wait is not told of one rank
_FEWEST = 3  # executions, of which the shortest bounds the transfer
# By how much two executions of one collective may end apart on a clock that both have.
_CLOCKS_NS = 1_000_000


@dataclass(frozen=True, eq=False)
class Waits:
    """What collectives of a trace wait at least: `calls` are their places among its calls,
    ascending, and `ns` the wait of each."""

    basis: WaitBasis
    calls: np.ndarray
    ns: np.ndarray

    def each(self, calls: np.ndarray) -> np.ndarray:
        """Return what each of these calls waits, in ns; 0 where that is not known."""
        if not len(self.calls):
            return np.zeros(len(calls), dtype="int64")
        places = np.minimum(np.searchsorted(self.calls, calls), len(self.calls) - 1)
        found: np.ndarray = np.where(self.calls[places] == calls, self.ns[places], 0)
        return found.astype("int64")

    def of(self, calls: np.ndarray) -> tuple[float, np.ndarray]:
        """Return what these calls wait together, in ns, and which of them that is known of."""
        places = np.searchsorted(self.calls, calls)
        places = np.minimum(places, max(0, len(self.calls) - 1))
        known = self.calls[places] == calls if len(self.calls) else np.zeros(len(calls), dtype=bool)
        return float(self.ns[places][known].sum()) if known.any() else 0.0, known


def waits_of(trace: Trace) -> Waits | None:
    """Return what the file of one rank says of waiting: by the counter of the profiler, else
    modelled; None where it says nothing."""
    table = collectives(trace)
    counted = table["transfer_ns"].notna().to_numpy()
    if counted.any():
        part = table[counted]
        moving = part["transfer_ns"].to_numpy("int64")
        return _waits("counter", part, np.maximum(0, part["dur_ns"].to_numpy("int64") - moving))
    part = table[table["bytes"].notna() & (table["group"] != "")]
    if not len(part):
        return None
    alike = part.groupby(["group", "members", "kind", "bytes"], sort=False)["dur_ns"]
    part = part.assign(least=alike.transform("min"))[alike.transform("size") >= _FEWEST]
    if not len(part):
        return None
    excess = part["dur_ns"].to_numpy("int64") - part["least"].to_numpy("int64")
    return _waits("modelled", part, excess)


@dataclass(frozen=True)
class Waiting:
    """How long collectives wait of the time that they take, in ns."""

    ns: float
    of_ns: float
    basis: WaitBasis

    @property
    def share(self) -> float:
        """Return the part of the time that is waiting."""
        return self.ns / self.of_ns if self.of_ns else 0.0


def waiting(trace: Trace, calls: np.ndarray) -> Waiting | None:
    """Return what these calls of one rank wait; None where nothing says it of at least half of
    their time, or where it is less than a twentieth of it."""
    waits = waits_of(trace)
    if waits is None or not len(calls):
        return None
    lasts = trace.calls["dur_ns"].to_numpy()[calls]
    ns, is_known = waits.of(calls)
    waited = Waiting(ns, float(lasts.sum()), waits.basis)
    is_known_enough = float(lasts[is_known].sum()) >= KNOWN * waited.of_ns
    return waited if is_known_enough and waited.share >= LEAST else None


def waits_of_pair(first: Trace, second: Trace) -> tuple[Waits, Waits] | None:
    """Return what each of two ranks of one job waits for the other, measured; None where they have
    no collective in common.

    Collectives without a number of the group's own are the same where their order is, and where
    they end at the same time on a clock that both have.
    """
    tables = [_ends(trace).assign(rank=rank) for rank, trace in enumerate((first, second))]
    rows = pd.concat(tables, ignore_index=True)
    together = aligned(rows[rows["group"] != ""].reset_index(drop=True))
    if not len(together.table):
        return None
    waited = awaited(together)
    order = np.lexsort((together.rows["rank"].to_numpy(), together.of))
    pairs = together.rows.iloc[order].assign(ns=waited.ns[order], alike=waited.ends_alike[order])
    one, other = pairs.iloc[0::2], pairs.iloc[1::2]
    longer = np.maximum(one["dur_ns"].to_numpy("int64"), other["dur_ns"].to_numpy("int64"))
    later = other["end_ns"].to_numpy("int64") - one["end_ns"].to_numpy("int64")
    is_numbered = one["is_numbered"].to_numpy() & other["is_numbered"].to_numpy()
    on_a_clock = one["on_a_clock"].to_numpy() & other["on_a_clock"].to_numpy()
    at_once = on_a_clock & (np.abs(later) <= np.maximum(_CLOCKS_NS, longer))
    kept = one["alike"].to_numpy() & other["alike"].to_numpy() & (is_numbered | at_once)
    if not kept.any():
        return None
    first_waits, second_waits = (
        _waits("measured", side[kept], side["ns"].to_numpy("int64")[kept]) for side in (one, other)
    )
    return first_waits, second_waits


def _ends(trace: Trace) -> pd.DataFrame:
    """Return the collectives of a trace with their ends, since 1970 where that is known."""
    table = collectives(trace)
    starts = trace.calls["start_ns"].dropna()
    started = trace.meta.started_ns
    on_a_clock = started is not None and started >= _SINCE_1970 and len(starts) > 0
    shift = started - int(starts.min()) if started is not None and on_a_clock else 0
    ends = table["start_ns"].to_numpy("int64") + table["dur_ns"].to_numpy("int64") + shift
    return table.assign(end_ns=ends, on_a_clock=on_a_clock, step=-1)


def _waits(basis: WaitBasis, table: pd.DataFrame, ns: np.ndarray) -> Waits:
    calls = table["call"].to_numpy("int64")
    order = np.argsort(calls, kind="stable")
    return Waits(basis, calls[order], ns[order])
