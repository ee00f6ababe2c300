"""Operators that move data inside groups, where the model has none that does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from fusescope.analysis.compare.groups.fusion import Group, KnownBy, Operator, group_places
from fusescope.analysis.compare.timing.run_times import RunTimes
from fusescope.analysis.operators.classes import op_class

_OF_GRAPHS: tuple[KnownBy, ...] = ("name", "value", "structure", "merged")
_MOVING = ("data_movement", "copy", "cast", "layout")


class Added(msgspec.Struct, frozen=True):
    """Operators that a side runs for a group although no original of it does their kind of work,
    and the other side runs none such, in graph order, and their mean time in a run in ns, without
    slow executions."""

    operators: tuple[Operator, ...]
    ns: float


def added_to(groups: Sequence[Group], names: Sequence[str], times: RunTimes) -> Mapping[int, Added]:
    """Return what the baseline adds to groups, by their ids: those that it adds nothing to have
    none. `names` are those of the operators of its trace."""
    added = [_added(group) for group in groups]
    if not any(added):
        return {}
    labels = np.array(group_places(names, added), dtype=int)
    mean_ns = times.by_label(labels, len(groups)).mean_ns
    return {
        group.id: Added(operators, float(ns))
        for group, operators, ns in zip(groups, added, mean_ns, strict=True)
        if operators
    }


def _added(group: Group) -> tuple[Operator, ...]:
    if group.known_by not in _OF_GRAPHS or not group.original:
        return ()
    of_model = _classes(group.original)
    of_both = {one.op_type for one in group.candidate}
    return tuple(
        one
        for one in group.baseline
        if op_class(one.op_type) in _MOVING
        and op_class(one.op_type) not in of_model
        and one.op_type not in of_both
    )


def _classes(operators: Iterable[Operator]) -> frozenset[str]:
    return frozenset(op_class(one.op_type) for one in operators)
