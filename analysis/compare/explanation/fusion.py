"""Fusion as one change: all places in which kernels were fused, or are no longer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from analysis.compare.explanation.explanation import Calls, Change, ChangeCode, KernelTime, LongOnes


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
        known = found.get(key, KernelTime(kernel.name, 0, 0, kernel.op_class))
        found[key] = KernelTime(
            kernel.name, known.count + kernel.count, known.ns + kernel.ns, kernel.op_class
        )
    return tuple(sorted(found.values(), key=lambda kernel: -kernel.ns))
