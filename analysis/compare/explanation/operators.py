"""By operator of the framework: what both sides ran where their kernels have other names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from fusescope.analysis.compare.explanation.explanation import Change, ChangeCode, ClassTime
from fusescope.analysis.compare.explanation.sides import ExplainedSide
from fusescope.analysis.metrics.heavy_work import heavy_work

_OTHERS = 0.5  # of the time, in kernels of names that the other side does not have
_NAMED = 0.5  # of the time, in kernels whose operator is known
_FEW_PRODUCTS = 3  # which are the same by chance
_MOST = 0.75  # of what an operator takes longer, which one set of shapes has

Sides = tuple[ExplainedSide, ExplainedSide]
Times = dict[int, list[float]]  # count and ns of each operator of the trace


def are_of_other_kernels(sides: Sides) -> bool:
    """True where most of the time is in kernels that the other side does not know by name, as on
    another device, and the file says which operators launched them."""
    names = [{kernel.name for kernel in side.kernels} for side in sides]
    for side, other in zip(sides, reversed(names), strict=True):
        operators, whole = side.profile.operators, max(float(side.ns.sum()), 1.0)
        known = np.array([kernel.name in other for kernel in side.kernels])[operators]
        named = np.array([bool(name) for name in side.launchers])[operators]
        shared = float(side.ns[known].sum()) / whole
        if shared > _OTHERS or float(side.ns[named].sum()) / whole < _NAMED:
            return False
    return True


def do_same_heavy_work(sides: Sides) -> bool:
    """Return whether a unit of both sides runs the same matrix products and convolutions over the
    same sizes in the same order: it is one model, however its operators are fused and called. Few
    of them say nothing of whole files, of which one may run the model more often."""
    before, after = (heavy_work(side.trace, side.profile.operators) for side in sides)
    is_whole = any(side.units.kind == "file" for side in sides)
    return bool(before) and before == after and (len(before) >= _FEW_PRODUCTS or not is_whole)


def share_in_common(sides: Sides) -> float:
    """Return the share of the time, 0 to 1, in operators or classes that both sides run, of the
    side that has less of it."""
    totals = [{key: _ns(times) for key, times in _by_operator(side).items()} for side in sides]
    common = totals[0].keys() & totals[1].keys()
    return min(sum(each[key] for key in common) / max(1.0, sum(each.values())) for each in totals)


def operator_changes(sides: Sides, least_ns: float, *, by_class: bool = False) -> list[Change]:
    """Return the operators that take at least `least_ns` a unit longer or shorter on the candidate;
    where one set of shapes has nearly all of it, that alone. Kernels without a known operator are
    told by class, as are all with `by_class`, of sides that call operators by other names."""
    before, after = (_by_operator(side, by_class=by_class) for side in sides)
    found = []
    for key in dict.fromkeys((*before, *after)):
        times = (before.get(key, {}), after.get(key, {}))
        for part, shapes in [(times, "")] if by_class else _parts(sides, times):
            change = _change(sides, key, part, shapes)
            if abs(change.change_ns) >= least_ns:
                found.append(_of_class(change) if by_class else change)
    return found


def _of_class(change: Change) -> Change:
    """Return a change of all operators of one class."""
    return replace(change, evidence="ordered", values={**change.values, "by_class": 1})


def classes(sides: Sides) -> tuple[ClassTime, ...]:
    """Return what each class of operators takes of a unit on both sides, the most time first."""
    counts, times = ([{}, {}] for _ in range(2))  # type: ignore[var-annotated]
    for at, side in enumerate(sides):
        for operator, ns in zip(side.profile.operators.tolist(), side.ns.tolist(), strict=True):
            name = side.kernels[operator].op_class
            counts[at][name] = counts[at].get(name, 0) + 1
            times[at][name] = times[at].get(name, 0.0) + ns
        if side.communication:
            named = side.communication.values()  # beside kernels that only their class calls so
            counts[at]["communication"] = counts[at].get("communication", 0) + sum(
                count for count, _ in named
            )
            times[at]["communication"] = times[at].get("communication", 0.0) + sum(
                ns for _, ns in named
            )
    found = [
        ClassTime(
            name,
            (counts[0].get(name, 0), counts[1].get(name, 0)),
            round(times[0].get(name, 0.0)),
            round(times[1].get(name, 0.0)),
        )
        for name in {**times[0], **times[1]}
    ]
    return tuple(sorted(found, key=lambda each: -max(each.before_ns, each.after_ns)))


def _by_operator(side: ExplainedSide, *, by_class: bool = False) -> dict[tuple[str, str], Times]:
    """Return the kernels of a unit by the operator that launched them, else by class."""
    found: dict[tuple[str, str], Times] = {}
    for operator, ns in zip(side.profile.operators.tolist(), side.ns.tolist(), strict=True):
        launcher = "" if by_class else side.launchers[operator]
        key = (launcher, "") if launcher else ("", side.kernels[operator].op_class)
        entry = found.setdefault(key, {}).setdefault(operator, [0, 0.0])
        entry[0] += 1
        entry[1] += ns
    return found


def _parts(sides: Sides, times: tuple[Times, Times]) -> Iterable[tuple[tuple[Times, Times], str]]:
    """Yield an operator as a whole, or the shapes that have nearly all of its change and then the
    rest, with those shapes."""
    by_shapes: dict[str, tuple[Times, Times]] = {}
    for at, (side, of) in enumerate(zip(sides, times, strict=True)):
        inputs = side.trace.texts("inputs")
        for operator, entry in of.items():
            by_shapes.setdefault(inputs[operator], ({}, {}))[at][operator] = entry
    changes = {shapes: _ns(part[1]) - _ns(part[0]) for shapes, part in by_shapes.items()}
    largest = max(changes, key=lambda shapes: abs(changes[shapes]))
    whole = sum(map(abs, changes.values()))
    if len(changes) < 2 or not largest or abs(changes[largest]) < _MOST * whole:
        yield times, ""
        return
    yield by_shapes.pop(largest), largest
    rest: tuple[Times, Times] = ({}, {})
    for part in by_shapes.values():
        for at in (0, 1):
            rest[at].update(part[at])
    yield rest, ""


def _ns(times: Mapping[int, list[float]]) -> float:
    return sum(ns for _, ns in times.values())


def _change(sides: Sides, key: tuple[str, str], times: tuple[Times, Times], shapes: str) -> Change:
    launcher, op_class = key
    code: ChangeCode = "shapes" if shapes else "operator"
    if not times[0] or not times[1]:
        code = "removed" if times[0] else "added"
    counts = [sum(count for count, _ in side.values()) for side in times]
    return Change(
        code,
        round(_ns(times[1]) - _ns(times[0])),
        round(max(counts)),
        tuple(filter(None, (launcher or op_class, shapes))),
        sides[0].named_times(times[0]),
        sides[1].named_times(times[1]),
        evidence="named" if launcher else "guessed",
        values={} if launcher else {"op_class": op_class},
        calls=(_calls(sides[0], times[0]), _calls(sides[1], times[1])),
    )


def _calls(side: ExplainedSide, times: Times) -> np.ndarray:
    """Return the rows of the calls of these operators in one unit."""
    return side.calls_at(np.flatnonzero(np.isin(side.profile.operators, list(times))))
