"""Kernels that only one side runs, and kernels that became others, in their places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from fusescope.analysis.align.alignment import Alignment
from fusescope.analysis.align.hunks import Hunk, differences
from fusescope.analysis.align.similarity import SAME_FAMILY, SAME_NAME
from fusescope.analysis.compare.explanation.explanation import (
    Calls,
    Change,
    ChangeCode,
    Evidence,
    KernelTime,
    LongOnes,
)
from fusescope.analysis.compare.explanation.remaining import Remaining
from fusescope.analysis.operators.members import inductor


def other_kernels_of_operators(left: Remaining, least_ns: float) -> list[Change]:
    """Return operators of the framework that launch other kernels than before, and more or fewer of
    them. Where the same kernels became the same ones without a known operator, as those launched
    before the file begins, they are part of it."""
    groups: dict[object, list[list[int]]] = {}
    others: dict[object, list[list[int]]] = {}
    for run in _runs_of_one_operator(left):
        before, after = (_kernels(left, run, side) for side in (0, 1))
        if before and after and len(before) != len(after):
            of = groups if _launcher(left, run[0]) else others
            of.setdefault((before, after), []).append(run)
    changes = []
    for key, runs in groups.items():
        runs = [*runs, *others.get(key, ())]
        columns = np.concatenate(runs)
        if abs(left.change_ns[columns].sum()) >= least_ns:
            code = _code_of(*(left.kernel_names(columns, side) for side in (0, 1)))
            where = (_launcher(left, int(columns[0])),)
            changes.append(left.take(code, columns, "named", where, len(runs)))
    return changes


def work_in_pieces(left: Remaining, least_ns: float) -> list[Change]:
    """Return what runs in another number of executions as changes. Below `least_ns` a unit there is
    no change; the kernels count as explained all the same, since none came or went."""
    changes = []
    for pieces in left.pieces:
        before, after = pieces.positions
        columns = np.flatnonzero(np.isin(left.before, before) | np.isin(left.after, after))
        launchers = {_launcher(left, column) for column in columns.tolist()}
        launcher = tuple(launchers) if len(launchers) == 1 and "" not in launchers else ()
        where = (*left.sides[0].module_of(before.tolist()), *launcher)
        change = left.take("pieces", columns, pieces.evidence, where, pieces.places)
        changes += [change] if abs(change.change_ns) >= least_ns else []
    return changes


def _runs_of_one_operator(left: Remaining) -> list[list[int]]:
    """Return columns that follow one another without a kernel that is the same on both sides, and
    that one operator launched, or none."""
    runs: list[list[int]] = []
    previous: str | None = None
    for column in range(len(left.before)):
        is_same = left.evidence[column] in (SAME_NAME, SAME_FAMILY)
        launcher = None if is_same else _launcher(left, column)
        if launcher is not None and launcher != previous:
            runs.append([])
        if launcher is not None:
            runs[-1].append(column)
        previous = launcher
    return runs


def _code_of(before: Sequence[str], after: Sequence[str]) -> ChangeCode:
    """Return what it means that kernels of these names became those: 'fused' and 'split' only where
    a name says that it does the work of several."""
    if len(before) > len(after) and _is_fused(after):
        return "fused"
    return "split" if len(before) < len(after) and _is_fused(before) else "replaced"


def _launcher(left: Remaining, column: int) -> str:
    """Return the operator that launched the kernel of a column, '' where it is not known."""
    side = 0 if left.before[column] >= 0 else 1
    of, position = left.sides[side], (left.before, left.after)[side][column]
    launcher: str = of.launchers[of.profile.operators[position]]
    return launcher


def _kernels(left: Remaining, columns: Sequence[int], side: int) -> tuple[str, ...]:
    """Return the families of the kernels of a side in these columns."""
    of, positions = left.sides[side], (left.before, left.after)[side]
    return tuple(
        of.kernels[of.profile.operators[positions[column]]].family
        for column in columns
        if positions[column] >= 0
    )


def differing_kernels(left: Remaining, alignment: Alignment, least_ns: float) -> list[Change]:
    """Return what was added, removed, fused, split, and replaced, if it makes at least `least_ns` a
    unit. Kernels that were added before kernels of one family are one change, whatever they are."""
    changes: list[Change] = []
    hunks = [hunk for hunk in differences(alignment).hunks if not _is_pair_of_names(hunk)]
    for (code, _), same in _grouped(hunks).items():
        columns_of_hunks = [_columns(left, hunk) for hunk in same]
        columns = np.unique(np.concatenate(columns_of_hunks))
        columns = columns[left.change_ns[columns] != 0]
        if len(columns) and abs(left.change_ns[columns].sum()) >= least_ns:
            timed = [
                hunk
                for hunk, of_hunk in zip(same, columns_of_hunks, strict=True)
                if left.change_ns[of_hunk].any()
            ]
            changes.append(_change(left, code, columns, timed))
    return changes


def _is_pair_of_names(hunk: Hunk) -> bool:
    """True for one kernel that stands for one of the same family, or that the same operator
    launched: what it takes longer is told by its operator."""
    before, after = (sum(share.count for share in side) for side in (hunk.before, hunk.after))
    return hunk.evidence is not None and hunk.evidence >= SAME_FAMILY and before == after


def _grouped(hunks: Sequence[Hunk]) -> dict[tuple[ChangeCode, object], list[Hunk]]:
    """Return the hunks that are told together: by what they are, and where they stand."""
    groups: dict[tuple[ChangeCode, object], list[Hunk]] = {}
    for hunk in hunks:
        code = _code(hunk)
        place: object
        if code in ("added", "removed"):
            place = hunk.next_kernel.family if hunk.next_kernel else None
        else:
            place = (_families(hunk.before), _families(hunk.after))
        groups.setdefault((code, place), []).append(hunk)
    return groups


def _families(shares: Sequence[object]) -> tuple[str, ...]:
    return tuple(share.kernel.family for share in shares)  # type: ignore[attr-defined]


def _code(hunk: Hunk) -> ChangeCode:
    """Return what became of the kernels of a hunk."""
    before, after = ([share.kernel.name for share in side] for side in (hunk.before, hunk.after))
    if not before or not after:
        return "removed" if before else "added"
    return _code_of(before, after)


_FUSED = r"(?i)fused|fusion"


def _is_fused(names: Sequence[str]) -> bool:
    """True where a name says that the kernel does the work of several operators."""
    return any(inductor(name) is not None or re.search(_FUSED, name) for name in names)


def _columns(left: Remaining, hunk: Hunk) -> np.ndarray:
    """Return the columns that stand in the places of a hunk on either side; of kernels that came or
    went those that the other side does not have, also not elsewhere."""
    inside = np.zeros(len(left.before), dtype=bool)
    is_elsewhere = left.evidence == SAME_NAME  # runs on the other side too, in another place
    for positions, spans in ((left.before, hunk.before_spans), (left.after, hunk.after_spans)):
        spans = spans[spans[:, 1] > spans[:, 0]]
        if len(spans):
            at = np.searchsorted(spans[:, 0], positions, side="right") - 1
            inside |= (at >= 0) & (positions >= 0) & (positions < spans[np.maximum(at, 0), 1])
    if not hunk.before or not hunk.after:
        is_elsewhere = is_elsewhere | ((left.before >= 0) & (left.after >= 0))
    return np.flatnonzero(inside & ~is_elsewhere)


def _change(
    left: Remaining, code: ChangeCode, columns: np.ndarray, hunks: Sequence[Hunk]
) -> Change:
    """Return hunks, each of which holds kernels that take time, as one change, with what they stand
    before."""
    places = sum(hunk.places for hunk in hunks)
    largest = max(hunks, key=lambda hunk: hunk.places)
    side = 1 if code == "added" else 0
    positions = (left.before, left.after)[side][columns]
    module = left.sides[side].module_of([int(at) for at in positions if at >= 0])
    before = largest.next_kernel if code in ("added", "removed") else None
    name = "" if before is None else _name(left, before.name, side)
    if before is not None and len({hunk.next_kernel for hunk in hunks}) == len(hunks) > 1:
        name = before.family  # each place stands before a kernel with a name of its own
    where = (*module, *((name,) if name else ()))
    evidence: Evidence = "ordered"
    kernels = len(columns) / max(1, places)
    following = {"next_class": before.op_class} if before else {}
    return left.take(code, columns, evidence, where, places, kernels=kernels, **following)


def _name(left: Remaining, name: str, side: int) -> str:
    """Return the short name of a kernel."""
    names = left.sides[side].trace.texts("name")
    return left.sides[side].names[names.index(name)] if name in names else name


def together(changes: Iterable[Change], code: ChangeCode) -> list[Change]:
    """Return all changes of this code as one; none without any."""
    same = [change for change in changes if change.code == code]
    if len(same) < 2:
        return same
    return [
        Change(
            code,
            sum(change.change_ns for change in same),
            sum(change.repeats for change in same),
            same[0].where if len({change.where for change in same}) == 1 else (),
            _named(kernel for change in same for kernel in change.before),
            _named(kernel for change in same for kernel in change.after),
            evidence=max((change.evidence for change in same), key=_WEAKEST.index),
            long_ones=(_long_ones(same, 0), _long_ones(same, 1)),
            calls=_calls(same),
        )
    ]


def _long_ones(changes: Sequence[Change], side: int) -> LongOnes:
    of = [change.long_ones[side] for change in changes]
    return LongOnes(sum(each.count for each in of), sum(each.ns for each in of))


def _calls(changes: Iterable[Change]) -> Calls:
    before, after = zip(*(change.calls for change in changes), strict=True)
    return np.concatenate(before), np.concatenate(after)


_WEAKEST: Sequence[str] = ("named", "ordered", "guessed")


def _named(kernels: Iterable[KernelTime]) -> tuple[KernelTime, ...]:
    """Return kernels by name, those of one name together, the one of most time first."""
    found: dict[tuple[str, str], KernelTime] = {}
    for kernel in kernels:
        key = (kernel.name, kernel.op_class)
        known = found.get(key, replace(kernel, count=0, ns=0))
        found[key] = replace(kernel, count=known.count + kernel.count, ns=known.ns + kernel.ns)
    return tuple(sorted(found.values(), key=lambda kernel: -kernel.ns))
