"""Kernels that both sides run, and that take another time: by operator, kernel, and shapes."""

from __future__ import annotations

import numpy as np

from analysis.align.similarity import SAME_FAMILY, SAME_LAUNCHER, SAME_NAME
from analysis.compare.explanation.explanation import Change, ChangeCode, Evidence
from analysis.compare.explanation.remaining import Remaining

_MOST = 0.9  # of what an operator takes longer, which one of its kernels or shapes has
_FEWEST = 8  # executions, from which their times show a spread
_SPREAD = 0.1  # of the time of fewer, by which two recordings of the same work differ
_ROUNDS = 60  # changes of time, at most


def changed_times(left: Remaining, least_ns: float) -> list[Change]:
    """Return what takes at least `least_ns` a unit longer or shorter: an operator of the framework
    with all its kernels, or a kernel whoever launches it, whichever has more of the change; where
    one kernel, or one set of shapes, has nearly all of it, only that."""
    found: list[Change] = []
    while len(found) < _ROUNDS:
        columns = _largest(left)
        if columns is None or abs(left.change_ns[columns].sum()) < least_ns:
            break
        part = _narrowest(left, columns)
        is_noise = abs(left.change_ns[part].sum()) < _noise_ns(left, part)
        change = _change(left, part)
        found += [] if is_noise else [change]
    return found


def _noise_ns(left: Remaining, columns: np.ndarray) -> float:
    """Return the change of these columns that recordings of the same work show: twice the standard
    error of their sum; of few executions a tenth of their time, of few in each of several units a
    twentieth."""
    count = len(columns) * min(side.profile.count for side in left.sides)
    if count < _FEWEST:
        return _SPREAD * float(left.before_ns[columns].sum())
    if len(columns) < _FEWEST:
        return _SPREAD / 2 * float(left.before_ns[columns].sum())
    return 2 * float(np.sqrt(len(columns)) * left.change_ns[columns].std())


def _largest(left: Remaining) -> np.ndarray | None:
    """Return the columns of the operator or the family of kernels whose time changed most."""
    groups: dict[tuple[str, str], list[int]] = {}
    side = left.sides[0]
    for column in np.flatnonzero(left.is_pair & (left.change_ns != 0)).tolist():
        operator = side.profile.operators[left.before[column]]
        groups.setdefault(("family", side.kernels[operator].family), []).append(column)
        if side.launchers[operator]:
            groups.setdefault(("operator", side.launchers[operator]), []).append(column)
    changes = {key: abs(float(left.change_ns[of].sum())) for key, of in groups.items()}
    largest = max(changes, key=lambda key: changes[key], default=None)
    return None if largest is None else np.array(groups[largest])


def _narrowest(left: Remaining, columns: np.ndarray) -> np.ndarray:
    """Return the part of these columns that has nearly all of their change: one kernel, and of it
    one set of shapes; else all of them."""
    for key in (_kernel, _launcher, _shapes):
        parts: dict[object, list[int]] = {}
        for column in columns.tolist():
            parts.setdefault(key(left, column), []).append(column)
        changes = {each: float(left.change_ns[of].sum()) for each, of in parts.items()}
        largest = max(changes, key=lambda each: abs(changes[each]))
        if abs(changes[largest]) >= _MOST * sum(map(abs, changes.values())):
            columns = np.array(parts[largest])
    return columns


def _kernel(left: Remaining, column: int) -> object:
    return tuple(
        side.kernels[side.profile.operators[positions[column]]].family
        for side, positions in zip(left.sides, (left.before, left.after), strict=True)
    )


def _launcher(left: Remaining, column: int) -> object:
    side = left.sides[0]
    return side.launchers[side.profile.operators[left.before[column]]]


def _shapes(left: Remaining, column: int) -> object:
    side = left.sides[0]
    return side.inputs[side.profile.operators[left.before[column]]]


def _change(left: Remaining, columns: np.ndarray) -> Change:
    """Return columns of one operator as a change."""
    side = left.sides[0]
    operators = np.unique(side.profile.operators[left.before[columns]])
    all_names = side.profile.operators
    launchers = {side.launchers[at] for at in operators.tolist()}
    launcher = launchers.pop() if len(launchers) == 1 else ""
    inputs = {side.inputs[at] for at in operators.tolist()}
    is_same = bool((left.evidence[columns] == SAME_NAME).all())
    others = np.isin(all_names, operators).sum() - len(columns)
    code: ChangeCode = "time" if is_same or not launcher else "operator"
    if not is_same and not launcher and not (left.evidence[columns] >= SAME_FAMILY).all():
        code = "replaced"
    shapes = inputs.pop() if len(inputs) == 1 and is_same else ""
    if shapes and others == 0 and _has_other_shapes(left, operators):
        code = "shapes"
    evidence: Evidence = "named"
    if not is_same and not (left.evidence[columns] >= SAME_LAUNCHER).all():
        evidence = "guessed"
    shapes = shapes if code == "shapes" else ""
    module = side.module_of(left.before[columns].tolist())
    where = (*module, *((launcher,) if launcher else ()), *((shapes,) if shapes else ()))
    return left.take(code, columns, evidence, where)


def _has_other_shapes(left: Remaining, operators: np.ndarray) -> bool:
    """True where the same kernel ran with other shapes, which are not part of the change."""
    side = left.sides[0]
    families = {side.kernels[at].family for at in operators.tolist()}
    inputs = side.inputs
    own = {inputs[at] for at in operators.tolist()}
    return any(
        kernel.family in families and inputs[at] not in own
        for at, kernel in enumerate(side.kernels)
    )
