"""Kernels that moved: left over on one side, with the same kernel left over nearby on the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fusescope.analysis.align.sequence import Ints, Numbered

_NEARBY = 60  # columns


def partners(columns: Ints, table: Numbered) -> Ints:
    """Return for each column the one that holds the same name on the other side; -1 where none."""
    found = np.full(len(columns), -1, np.int64)
    first, first_names = _alone(columns, table, 0)
    second, second_names = _alone(columns, table, 1)
    is_near = _has_neighbour(first, first_names, second, second_names)
    is_near_too = _has_neighbour(second, second_names, first, first_names)
    second_places: dict[int, list[int]] = {}
    for place, name in zip(
        second[is_near_too].tolist(), second_names[is_near_too].tolist(), strict=True
    ):
        second_places.setdefault(name, []).append(place)
    taken = dict.fromkeys(second_places, 0)
    for place, name in zip(first[is_near].tolist(), first_names[is_near].tolist(), strict=True):
        others = second_places[name]
        at = taken[name]
        while at < len(others) and others[at] < place - _NEARBY:
            at += 1
        if at < len(others) and others[at] <= place + _NEARBY:
            found[place], found[others[at]] = others[at], place
            at += 1
        taken[name] = at
    return found


def _alone(columns: Ints, table: Numbered, side: int) -> tuple[Ints, Ints]:
    """Return the columns that hold a kernel on this side alone, and its name."""
    places = np.flatnonzero(columns[:, 1 - side] < 0)
    ids = (table.before, table.after)[side]
    return places, table.names[ids[columns[places, side]]]


def _has_neighbour(places: Ints, names: Ints, others: Ints, other_names: Ints) -> NDArray[np.bool_]:
    """Return which have one of the same name among the others, 60 columns away at most."""
    if not len(places) or not len(others):
        return np.zeros(len(places), bool)
    stride = int(max(places.max(), others.max())) + 2 * _NEARBY + 2
    keys = np.sort(other_names * stride + others)
    wanted = names * stride + places
    first = np.searchsorted(keys, wanted - _NEARBY)
    return first < np.searchsorted(keys, wanted + _NEARBY, side="right")
