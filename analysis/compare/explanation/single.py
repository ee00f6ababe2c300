"""Single executions and single layers that take far longer than the others of their kind."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fusescope.analysis.align.repeats import Repeat
from fusescope.analysis.compare.explanation.explanation import Change
from fusescope.analysis.compare.explanation.remaining import Remaining
from fusescope.analysis.compare.explanation.sides import ExplainedSide

_BEYOND = 3.0  # times the others of its kind
_FEWEST = 6  # executions, or layers, that one is compared with
_SHARE = 0.6  # of what its kind takes longer


def outliers(left: Remaining, least_ns: float) -> list[Change]:
    """Return executions that took more than three times as long as the others of the same kernel,
    and cost at least `least_ns` a unit. Those of the baseline make the candidate seem faster."""
    changes: list[Change] = []
    for side in (0, 1):
        ns = left.sides[side].ns.astype(float)
        changes += _runs(left, side, least_ns, ns)
        changes += _positions(left, side, least_ns, ns)
    return changes


def slow_layers(left: Remaining, least_ns: float) -> list[Change]:
    """Return the one layer of those that repeat that takes longer or shorter than before while the
    others do not."""
    for _, repeat in sorted(left.sides[0].repeats, key=lambda entry: -entry[1].copies):
        change = _slow_layer(left, repeat, least_ns) if repeat.copies >= _FEWEST else None
        if change is not None:
            return [change]
    return []


def _runs(left: Remaining, side: int, least_ns: float, ns: np.ndarray) -> Iterator[Change]:
    """Executions that stand out among those of other units at the same place. What they take
    beyond these is taken from `ns`, the mean of each place in ns."""
    of = left.sides[side]
    profile = of.profile
    if profile.count < 3:
        return
    others = (profile.totals_ns - profile.longest_ns) / (profile.count - 1)
    excess = (profile.longest_ns - others) / profile.count
    chosen = np.flatnonzero((profile.longest_ns > _BEYOND * others) & (excess >= least_ns))
    for position in chosen.tolist():
        if not _is_told(left, side, position):
            usual = float(others[position])
            ns[position] -= excess[position]
            yield _outlier(left, side, position, float(excess[position]), usual)


def _positions(left: Remaining, side: int, least_ns: float, ns: np.ndarray) -> Iterator[Change]:
    """Executions that stand out among those of the same kernel in the unit, and not on the other
    side; `ns` as `_runs` left it."""
    operators = left.sides[side].profile.operators
    order = np.argsort(operators, kind="stable")
    edges = np.flatnonzero(np.diff(operators[order], prepend=-1))
    for places in np.split(order, edges[1:]):
        if len(places) < _FEWEST:
            continue
        usual = float(np.median(ns[places]))
        far = places[(ns[places] > _BEYOND * usual) & (ns[places] - usual >= least_ns)]
        if len(far) != 1:
            continue  # several are another kind of work under the same name
        position = int(far[0])
        is_told = _is_told(left, side, position)
        if not is_told and not _is_long_on_both(left, side, position, usual):
            yield _outlier(left, side, position, float(ns[position]) - usual, usual)


def _is_told(left: Remaining, side: int, position: int) -> bool:
    """Return True for a kernel that became pieces, or is one: nothing is left of its time."""
    return any(position in pieces.positions[side] for pieces in left.pieces)


def _is_long_on_both(left: Remaining, side: int, position: int, usual: float) -> bool:
    column = np.flatnonzero((left.before, left.after)[side] == position)
    other = (left.after_ns, left.before_ns)[side][column]
    return bool((other > _BEYOND * usual).any())


def _outlier(
    left: Remaining, side: int, position: int, excess_ns: float, usual_ns: float
) -> Change:
    """Return one execution as a change, and take its excess from what is left."""
    of = left.sides[side]
    left.take_long_one(side, position, excess_ns)
    shown = (of.times_of([position], [excess_ns]), ())
    call = np.array([longest_call(of, position)])
    calls = (call, call[:0])
    return Change(
        "outlier",
        round(excess_ns if side else -excess_ns),
        1,
        of.module_of([position]),
        before=shown[side],
        after=shown[1 - side],
        evidence="named",
        values={
            "side": side,
            "unit": int(of.profile.longest_unit[position]),
            "of": _executions(of, position),
            "longest_ns": int(of.profile.longest_ns[position]),
            "usual_ns": round(usual_ns),
        },
        calls=(calls[side], calls[1 - side]),
    )


def _executions(of: ExplainedSide, position: int) -> int:
    """Return how often an operator of that name runs over those shapes in all units, also where the
    places of the model that it runs for tell its executions apart."""
    operators, at = of.trace.operators, of.profile.operators
    keys = [operators[name].astype("category").cat.codes.to_numpy() for name in ("name", "inputs")]
    alike = np.all([key[at] == key[at[position]] for key in keys], axis=0)
    return int(alike.sum()) * of.profile.count


def longest_call(of: ExplainedSide, position: int) -> int:
    """Return the row of the longest of the executions at a position, of whatever unit."""
    calls, profile = of.trace.calls, of.profile
    names = of.trace.operators["name"].cat.codes.to_numpy()
    operators = calls["operator"].to_numpy()
    is_it = of.units.unit_of == profile.longest_unit[position]
    is_it &= names[operators] == names[profile.operators[position]]
    is_it &= calls["dur_ns"].to_numpy() == profile.longest_ns[position]
    rows = np.flatnonzero(is_it)
    return int(rows[0]) if len(rows) else int(profile.calls[position])


def _slow_layer(left: Remaining, repeat: Repeat, least_ns: float) -> Change | None:
    """Return the layer of a repeat whose pairs changed unlike those of the other layers."""
    layer = np.searchsorted(repeat.starts, left.before, side="right") - 1
    inside = (left.before >= repeat.start) & (left.before < repeat.stop) & left.is_pair
    if not inside.any():
        return None
    changes = np.bincount(layer[inside], weights=left.change_ns[inside], minlength=repeat.copies)
    apart = changes - np.median(changes)
    at = int(np.argmax(np.abs(apart)))
    others = np.delete(apart, at)
    is_alone = abs(apart[at]) >= max(least_ns, 5 * float(np.abs(others).max(initial=0.0)))
    moves_all = abs(float(changes.sum())) >= _SHARE * abs(apart[at])
    if not (is_alone and moves_all):
        return None  # else times of one layer are in another
    columns = np.flatnonzero(inside & (layer == at))
    changed = np.abs(left.change_ns[columns])
    columns = columns[changed >= 0.02 * changed.sum()]
    return left.take(
        "place",
        columns,
        "ordered",
        left.sides[0].module_of(left.before[columns].tolist()),
        1,
        layer=at + 1,
        layers=repeat.copies,
    )
