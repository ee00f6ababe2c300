"""Kernels that both sides run, and that take another time: by operator, kernel, and shapes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fusescope.analysis.align.similarity import SAME_FAMILY, SAME_LAUNCHER, SAME_NAME
from fusescope.analysis.compare.explanation.explanation import Change, ChangeCode, Evidence
from fusescope.analysis.compare.explanation.remaining import Remaining

_MOST = 0.9  # of what an operator takes longer, which one of its kernels or shapes has
_FEWEST = 8  # executions, from which their times show a spread
_SPREAD = 0.1  # of the time of fewer, by which two recordings of the same work differ
_PART = 0.25  # of the time of the executions of one shape, which stand out of noise of the others
_ROUNDS = 60  # changes of time, at most


def changed_times(left: Remaining, least_ns: float) -> list[Change]:
    """Return what takes at least `least_ns` a unit longer or shorter: an operator of the framework
    with all its kernels, or a kernel whoever launches it, whichever has more of the change; where
    one kernel, or one set of shapes, has nearly all of it, only that."""
    changes: list[Change] = []
    subjects = _Subjects.of(left)
    while len(changes) < _ROUNDS:
        columns = subjects.largest(left.change_ns)
        if columns is None or abs(left.change_ns[columns].sum()) < least_ns:
            break
        part = _narrowest(left, columns)
        if abs(left.change_ns[part].sum()) >= _noise_ns(left, part):
            changes.append(_change(left, part))
            continue
        changes += _outstanding(left, part, least_ns)
        left.take("time", part, "named")  # the rest of it is noise
    return changes


def _outstanding(left: Remaining, columns: np.ndarray, least_ns: float) -> list[Change]:
    """Return what the executions of one shape take longer or shorter, of columns whose change as a
    whole is noise: several times the noise of their own."""
    parts: dict[object, list[int]] = {}
    for column in columns.tolist():
        parts.setdefault((_kernel(left, column), _shapes(left, column)), []).append(column)
    if len(parts) < 2:
        return []
    changes = []
    for part in map(np.array, parts.values()):
        ns, took_ns = abs(left.change_ns[part].sum()), float(left.before_ns[part].sum())
        if ns >= max(least_ns, _PART * took_ns, _noise_ns(left, part)):
            changes.append(_change(left, part))
    return changes


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


@dataclass(frozen=True, eq=False)
class _Subjects:
    """The `pairs` of columns that can be a subject, and what of them that is: numbers of the family
    of each, and of the operator that launched it, which go on from those of families, -1 for
    none."""

    pairs: np.ndarray
    families: np.ndarray
    launchers: np.ndarray

    @classmethod
    def of(cls, left: Remaining) -> _Subjects:
        """Return the subjects of all kernels that stand together."""
        side, pairs = left.sides[0], np.flatnonzero(left.is_pair)
        operators, place = np.unique(
            side.profile.operators[left.before[pairs]], return_inverse=True
        )
        families: dict[str, int] = {}
        launchers: dict[str, int] = {"": -1}
        of_family, of_launcher = (np.zeros(len(operators), dtype="int64") for _ in range(2))
        for at, operator in enumerate(operators.tolist()):
            of_family[at] = families.setdefault(side.kernels[operator].family, len(families))
            of_launcher[at] = launchers.setdefault(side.launchers[operator], len(launchers) - 1)
        of_launcher[of_launcher >= 0] += len(families)
        return cls(pairs, of_family[place], of_launcher[place])

    def largest(self, change_ns: np.ndarray) -> np.ndarray | None:
        """Return the columns of the operator or the family of kernels whose time changed most, as
        far as it changed; None where none did."""
        of_pairs = change_ns[self.pairs]
        changed = np.flatnonzero(of_pairs)
        if not len(changed):
            return None
        launched = changed[self.launchers[changed] >= 0]
        numbers = np.concatenate((self.families[changed], self.launchers[launched]))
        ns = np.concatenate((of_pairs[changed], of_pairs[launched]))
        largest = int(np.argmax(np.abs(np.bincount(numbers, weights=ns))))
        is_it = (self.families[changed] == largest) | (self.launchers[changed] == largest)
        columns: np.ndarray = self.pairs[changed[is_it]]
        return columns


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
