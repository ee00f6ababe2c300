"""Kernels that only one side runs: those over one size of tensor, what is left by name, and those
that not every unit runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fusescope.analysis.align.similarity import ONE_SIDE
from fusescope.analysis.compare.explanation.explanation import Change, ChangeCode
from fusescope.analysis.compare.explanation.remaining import Remaining
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.operators.flops import parse_shapes

_LARGE = 256  # a size below it is one of many
_BLOCK = 16  # by which Ascend's blocked formats divide a size
_VOCABULARY = 16_384  # tokens that a vocabulary has at least, in models of today
_MOST = 0.6  # of the time of kernels that one side runs alone, which has the size
_FEW = 0.1  # of the time of kernels that both sides run, which may have it


def kernels_of_one_size(left: Remaining, least_ns: float) -> list[Change]:
    """Return the kernels that only one side runs and that have one large size of tensor in common
    which hardly any other kernel has, such as the vocabulary of the last stage of a pipeline. They
    are of several families, of which hardly any kernels alone have another size."""
    changes = []
    for side in (0, 1):
        columns = _alone(left, side)
        ns = (left.before_ns, left.after_ns)[side]
        if ns[columns].sum() < least_ns:
            continue
        size, chosen = _common_size(left, side, columns)
        rest = np.setdiff1d(columns, chosen)
        of_size, others = _times_by_family(left, side, chosen), _times_by_family(left, side, rest)
        elsewhere = sum(others.get(family, 0.0) for family in of_size)
        is_of_size = len(of_size) > 1 and elsewhere <= _FEW * sum(of_size.values())
        if size is not None and is_of_size and ns[chosen].sum() >= least_ns:
            code: ChangeCode = "added" if side else "removed"
            head = {"head": 1} if _is_head(left, side, chosen, size) else {}
            changes.append(left.take(code, chosen, "named", (str(size),), size=size, **head))
    return changes


def _is_head(left: Remaining, side: int, columns: np.ndarray, size: int) -> bool:
    """Return True for a size as large as a vocabulary, where a matrix product of these kernels has
    it as one of its last dimensions: the LM head, by what it looks like."""
    of = left.sides[side]
    positions = (left.before, left.after)[side][columns]
    products = [
        of.inputs[operator]
        for operator in set(of.profile.operators[positions].tolist())
        if of.kernels[operator].op_class == "matrix_product"
    ]
    return size >= _VOCABULARY and any(
        size in shape[-2:] for text in products for shape in parse_shapes(text)
    )


def kernels_of_one_side(left: Remaining, least_ns: float) -> list[Change]:
    """Return the kernels of each family that only one side runs, wherever they stand."""
    changes = []
    for side in (0, 1):
        of = left.sides[side]
        positions = (left.before, left.after)[side]
        families: dict[str, list[int]] = {}
        for column in _alone(left, side).tolist():
            kernel = of.kernels[of.profile.operators[positions[column]]]
            families.setdefault(kernel.family, []).append(column)
        for members in families.values():
            columns = np.array(members)
            if abs(left.change_ns[columns].sum()) >= least_ns:
                changes.append(left.take("added" if side else "removed", columns, "guessed"))
    return changes


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
                changes.append(_of_some_units(of, side, operators))
    return changes


def _alone(left: Remaining, side: int) -> np.ndarray:
    """Return the columns of kernels that run on this side alone, with time left."""
    positions = (left.before, left.after)[side]
    is_left = left.change_ns != 0
    return np.flatnonzero((left.evidence == ONE_SIDE) & (positions >= 0) & is_left)


def _common_size(left: Remaining, side: int, columns: np.ndarray) -> tuple[int | None, np.ndarray]:
    """Return the size that most of these kernels have in time and others do not, and those that
    have it."""
    of = left.sides[side]
    positions = (left.before, left.after)[side]
    ns = (left.before_ns, left.after_ns)[side]
    sizes = [_sizes(text) for text in of.trace.texts("inputs")]
    times = _time_by_size(sizes, of.profile.operators[positions[columns]], ns[columns])
    pairs = np.flatnonzero(left.is_pair)
    others = _time_by_size(sizes, of.profile.operators[positions[pairs]], ns[pairs])
    whole, common = float(ns[columns].sum()), max(float(ns[pairs].sum()), 1.0)
    usable = [
        size
        for size, time in times.items()
        if time >= _MOST * whole and others.get(size, 0.0) <= _FEW * common
    ]
    if not usable:
        return None, columns[:0]
    size = max(usable, key=lambda each: (times[each], each))
    has = [
        size in sizes[at] or (size % _BLOCK == 0 and size // _BLOCK in sizes[at])
        for at in of.profile.operators[positions[columns]].tolist()
    ]
    return size, columns[np.array(has, dtype=bool)]


def _times_by_family(left: Remaining, side: int, columns: np.ndarray) -> dict[str, float]:
    """Return the time of each family of kernels of a side in these columns."""
    of = left.sides[side]
    positions = (left.before, left.after)[side][columns]
    ns = (left.before_ns, left.after_ns)[side][columns]
    times: dict[str, float] = {}
    for operator, time in zip(of.profile.operators[positions].tolist(), ns.tolist(), strict=True):
        family = of.kernels[operator].family
        times[family] = times.get(family, 0.0) + time
    return times


def _sizes(inputs: str) -> frozenset[int]:
    return frozenset(size for shape in parse_shapes(inputs) for size in shape if size >= _LARGE)


def _time_by_size(
    sizes: Sequence[frozenset[int]], operators: np.ndarray, ns: np.ndarray
) -> dict[int, float]:
    """Return for each size the time of the kernels that have it."""
    times: dict[int, float] = {}
    for operator, time in zip(operators.tolist(), ns.tolist(), strict=True):
        for size in sizes[operator]:
            times[size] = times.get(size, 0.0) + time
    return times


def _operators_of_units(side: ExplainedSide) -> list[int]:
    """Return the operators of the trace that any unit runs."""
    operators = side.trace.calls["operator"].to_numpy()[side.units.unit_of >= 0]
    found: list[int] = np.unique(operators).tolist()
    return found


def _of_some_units(of: ExplainedSide, side: int, operators: list[int]) -> Change:
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
