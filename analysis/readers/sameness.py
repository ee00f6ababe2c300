"""Sameness: whether a file tells of the executions that a recording already holds.

A profiler writes one recording into several files, and files of two recordings may lie side by
side. When something ran tells two recordings apart, of other models and of other ranks alike; what
has no times is compared by its sums.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import MIB
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import holds_times
from fusescope.analysis.readers.reader import Reader
from fusescope.analysis.trace import Trace

_EPOCH_NS = 10**17  # 1973: clocks that count from the start of a machine show less
_LATEST_NS = 2**61  # shifted times still fit 64 bits
_NEAR_NS = 500  # times that went through doubles are off by a quarter of a µs
_MAX = 0.5  # of the smaller side: one may hold tasks that the other leaves out
_ROUNDING = 1e-3  # relative, of a total; means of part of the executions differ by more
_SPREAD = 0.1
_MEANS = ("means_only", "averaged", "averaged_all")
# Columns of the recording and of the file that may hold the same names.
_KEYS = (
    ("name", "name"), ("op_type", "op_type"), ("name", "launched_by"), ("launched_by", "name"),
)  # fmt: skip


class Sameness:
    """Compares files with recordings; a file is read for it once at most."""

    def __init__(self) -> None:
        self._read: dict[int, Trace | None] = {}

    def says_same(self, trace: Trace, source: Source, reader: Reader) -> bool:
        """True when `source`, which `reader` knows, holds what `trace` holds.

        False, too, for a file that cannot be read: that is told where it is read for itself.
        """
        try:
            if holds_times(source.blocks(MIB), _computing(trace)["start_ns"].dropna().tolist()):
                return True
            if id(source) not in self._read:
                value = reader.read(source.among(()))
                self._read[id(source)] = value if isinstance(value, Trace) else None
        except FuseScopeError:
            self._read[id(source)] = None
        other = self._read[id(source)]
        return other is not None and _agree(trace, other)


def _agree(trace: Trace, other: Trace) -> bool:
    own, its = _computing(trace), _computing(other)
    if own.empty or its.empty:
        return False
    if own["start_ns"].notna().all() and its["start_ns"].notna().all():
        return _same_times(own, its)
    return _same_sums(own, its, is_mean=any(note.code in _MEANS for note in other.diagnostics))


def _computing(trace: Trace) -> pd.DataFrame:
    """Calls without communication, each with what tells its operator."""
    names = ["name", "op_type", "launched_by", "level"]
    operators = trace.operators.loc[~trace.operators["is_communication"], names]
    told = operators.astype("object").where(operators.notna(), "")
    calls = trace.calls[["operator", "start_ns", "dur_ns", "n"]]
    return calls.join(told, on="operator", how="inner")


def _same_times(own: pd.DataFrame, its: pd.DataFrame) -> bool:
    """True when most of the smaller side started when the other side says it did.

    Clocks may count from another moment: then from the first operator that both know. Sides that
    share no name (operators of the host, kernels) need to have run at the same time.
    """
    shared = set(own["name"]) & set(its["name"])
    begins = [(int(s.min()), int((s + d).max())) for s, d in _spans(own, its)]
    (first, last), (start, end) = begins
    if not shared:
        return 2 * (min(last, end) - max(first, start)) > min(last - first, end - start)
    left = own.loc[own["name"].isin(shared), ["name", "start_ns"]].astype({"start_ns": "int64"})
    right = its.loc[its["name"].isin(shared), ["name", "start_ns"]].astype({"start_ns": "int64"})
    left, right = left.sort_values("start_ns"), right.sort_values("start_ns")
    minimum = min(len(own), len(its))
    shifts = [0]
    if min(first, start) < _EPOCH_NS and max(last, end) < _LATEST_NS:
        shifts.append(int(left["start_ns"].iloc[0]) - int(right["start_ns"].iloc[0]))
    for shift in shifts:
        joined = pd.merge_asof(
            right.assign(start_ns=right["start_ns"] + shift),
            left.assign(at=1),
            on="start_ns",
            by="name",
            direction="nearest",
            tolerance=_NEAR_NS,
        )
        found, free = int(joined["at"].notna().sum()), int(shift != 0)  # one is near by the shift
        if found - free >= _MAX * (minimum - free):
            return True
    return False


def _spans(*sides: pd.DataFrame) -> list[tuple[pd.Series, pd.Series]]:
    return [(side["start_ns"].astype("int64"), side["dur_ns"]) for side in sides]


def _same_sums(own: pd.DataFrame, its: pd.DataFrame, *, is_mean: bool) -> bool:
    """True when most of the file's time is in names whose time in the recording is the same.

    Totals of as many executions are the same but for rounding; means, and totals of more or fewer
    executions, are near each other. Where a file lists another kind of operator its counts count.
    """
    whole = int(its["dur_ns"].sum())
    for mine, theirs in _KEYS:
        both = _sums(own, mine).join(_sums(its, theirs).add_suffix("_its"), how="inner")
        if both.empty or both["dur_ns_its"].sum() < _MAX * whole:
            continue
        counted = (both["n"] == both["n_its"]).to_numpy() & (not is_mean)
        off = _distance(both["dur_ns"], both["dur_ns_its"])
        mean_off = _distance(both["dur_ns"] / both["n"], both["dur_ns_its"] / both["n_its"])
        run = both["dur_ns"].sum() / max(1, both["dur_ns_its"].sum())
        run_off = _distance(both["dur_ns"], both["dur_ns_its"] * run)
        if set(own["level"]) != set(its["level"]):
            agrees = np.full(len(both), counted.all())
        else:
            near = (mean_off <= _SPREAD) | (is_mean & (run_off <= _SPREAD))
            agrees = np.where(counted, off <= _ROUNDING, near)
        return bool(both["dur_ns_its"].to_numpy()[agrees].sum() >= _MAX * whole)
    return abs(int(own["dur_ns"].sum()) - whole) <= _ROUNDING * whole and not is_mean


def _sums(calls: pd.DataFrame, column: str) -> pd.DataFrame:
    named = calls[calls[column] != ""]
    return named.groupby(column, sort=False)[["dur_ns", "n"]].sum().clip(lower=1)


def _distance(left: pd.Series, right: pd.Series) -> np.ndarray:
    """|left - right| as a part of the larger."""
    one, two = left.to_numpy("float64"), right.to_numpy("float64")
    distance: np.ndarray = np.abs(one - two) / np.maximum(one, two)
    return distance
