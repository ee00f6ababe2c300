"""Collectives of one rank as the fleet keeps them: with what came before each."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fusescope.analysis.fleet.sweep import union_between
from fusescope.analysis.ranks.collectives import collectives, lasts_of
from fusescope.analysis.trace import Trace

_LEFT_OUT = ["call", "is_numbered"]


def talk_of(trace: Trace) -> pd.DataFrame:
    """Return the table `collectives` of `RankTables`; empty where calls have no start."""
    table = collectives(trace)
    starts, lasts = (table[name].to_numpy("int64") for name in ("start_ns", "dur_ns"))
    ends = np.maximum.accumulate(starts + lasts) if len(table) else starts
    before_ns = np.maximum(0, starts[1:] - ends[:-1])
    is_first = np.arange(len(table)) == 0
    busy = union_between(*computing(trace), ends[:-1], np.maximum(ends[:-1], starts[1:]))
    runs = trace.calls["run"].to_numpy("int64", na_value=-1)[table["call"].to_numpy("int64")]
    return table.drop(columns=_LEFT_OUT).assign(
        place=np.arange(len(table)),
        step=runs,
        before_ns=pd.arrays.IntegerArray(np.r_[0, before_ns][: len(table)], is_first),
        before_busy_ns=pd.arrays.IntegerArray(np.r_[0, busy][: len(table)], is_first),
    )


def computing(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Return starts and ends of what is not communication, where both are known."""
    talks = trace.operators["is_communication"].to_numpy()[trace.calls["operator"].to_numpy()]
    known = trace.calls["start_ns"].notna().to_numpy() & ~talks
    calls = trace.calls[known]
    starts = calls["start_ns"].to_numpy("int64")
    return starts, starts + lasts_of(calls)
