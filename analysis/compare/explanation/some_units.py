"""Kernels that some units of one side run, beyond those of the most common unit, and the other side
never."""

from __future__ import annotations

import numpy as np

from analysis.compare.explanation.explanation import Change, ChangeCode
from analysis.compare.explanation.remaining import Remaining
from analysis.compare.explanation.sides import ExplainedSide


def kernels_of_some_units(left: Remaining, least_ns: float) -> list[Change]:
    """Return the kernels of each family that not every unit of a side runs, and no unit of the
    other one, which take at least `least_ns` a unit on average."""
    changes = []
    for side in (0, 1):
        of, other = left.sides[side], left.sides[1 - side]
        there = {other.kernels[at].family for at in _operators_of_units(other)}
        families: dict[str, list[int]] = {}
        for operator in of.profile.extra_ns:
            families.setdefault(of.kernels[operator].family, []).append(operator)
        for family, operators in families.items():
            ns = sum(of.profile.extra_ns[at] for at in operators) / of.profile.count
            if family not in there and ns >= least_ns:
                changes.append(_change(of, side, operators))
    return changes


def _operators_of_units(side: ExplainedSide) -> list[int]:
    """Return the operators of the trace that any unit runs."""
    operators = side.trace.calls["operator"].to_numpy()[side.units.unit_of >= 0]
    found: list[int] = np.unique(operators).tolist()
    return found


def _change(of: ExplainedSide, side: int, operators: list[int]) -> Change:
    """Return what these operators run beyond the most common unit as a change, with how many units
    do so, how often in each, and for how long."""
    calls, profile = of.trace.calls, of.profile
    is_it = np.isin(calls["operator"].to_numpy(), operators) & (of.units.unit_of >= 0)
    rows = np.flatnonzero(is_it & (profile.place_of < 0))
    ns = calls["dur_ns"].to_numpy()[rows]
    units = np.unique(of.units.unit_of[rows])
    mean_ns, each = float(ns.sum()) / profile.count, max(1, round(len(rows) / len(units)))
    totals = {at: (0.0, 0.0) for at in operators}
    for operator, time in zip(calls["operator"].to_numpy()[rows].tolist(), ns, strict=True):
        count, total = totals[operator]
        totals[operator] = (count + 1 / profile.count, total + float(time) / profile.count)
    kernels = of.named_times(totals)
    code: ChangeCode = "added" if side else "removed"
    return Change(
        code,
        round(mean_ns if side else -mean_ns),
        before=() if side else kernels,
        after=kernels if side else (),
        evidence="named",
        values={
            "executions": each,
            "some_units": len(units),
            "all_units": profile.count,
            "some_ns": round(float(ns.sum()) / len(units)),
            "other_ns": 0,
            "some_side": side,
        },
        calls=(rows[:0], rows) if side else (rows, rows[:0]),
    )
