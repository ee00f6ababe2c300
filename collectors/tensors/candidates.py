"""Candidates: tensors of the model as sketches, and which of them another tensor holds.

The layouts that engines use are seen through: channels padded to blocks, and axes in another order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fusescope.collectors.models.array import Array
from fusescope.collectors.tensors.sketches import Sketch, distances, sample, signed, sketch

SAME = 1e-6  # tensors of the model this near to each other are one to us
CLEARLY = 20.0  # any other tensor must be this many times further away than the nearest
BLOCK_CHANNELS = 64  # no engine pads channels to more
MAX_RANK = 5


@dataclass(frozen=True)
class Pair:
    """A tensor of the optimised graph and the model's it stands for, and how to lay it out:
    `channels` of a blocked one; `axes` that undo a permutation, of the tensor seen as `shape`."""

    optimised: str
    original: str
    by: Literal["name", "value"]
    channels: int | None = None
    shape: tuple[int, ...] = ()
    axes: tuple[int, ...] = ()
    proven: bool = False  # on random weights, or by the operator's name

    @property
    def layout(self) -> Literal["", "blocked", "permuted"]:
        """As analysis.experiment.TensorMatch calls it."""
        return "blocked" if self.channels is not None else "permuted" if self.axes else ""

    def arranged(self, array: Array) -> Array:
        """The optimised graph's tensor in the order of the model's."""
        if self.channels is not None:
            return np.ascontiguousarray(array[:, : self.channels])
        if self.axes:
            return np.ascontiguousarray(np.transpose(array.reshape(self.shape), self.axes))
        return array


def sizes(shape: tuple[int, ...], blocked: bool) -> set[int]:
    """How many values a tensor of the model may have that one of this shape holds."""
    size = math.prod(shape)
    return {size // shape[1] * channels for channels in _channels(shape[1])} if blocked else {size}


class Candidates:
    """Tensors of the model, without those whose values prove nothing."""

    def __init__(self) -> None:
        self._by_size: dict[int, dict[str, Sketch]] = {}

    def add(self, name: str, array: Array) -> None:
        """Keeps a sketch of the tensor."""
        made = sketch(array)
        if made is not None:
            self._by_size.setdefault(made.count, {})[name] = made

    def pairs(self, name: str, array: Array, blocked: bool, tolerance: float) -> list[Pair]:
        """The pairs of a tensor of the optimised graph with those of its values: one, or several
        that equal each other. A `blocked` one is in channel blocks."""
        if blocked:
            for channels in _channels(array.shape[1]):
                others = self._by_size.get(array.size // array.shape[1] * channels, {})
                pair = Pair(name, "", "value", channels=channels)
                if others and (found := _equal(sketch(pair.arranged(array)), others, tolerance)):
                    return [replace(pair, original=original) for original in found]
            return []
        others = self._by_size.get(array.size, {})
        made = sketch(array) if others else None
        if made is None:
            return []
        if found := _equal(made, others, tolerance):
            return [Pair(name, original, "value") for original in found]
        if _nearest(made, others) <= tolerance:
            return []  # several are near, and none is in another order of axes
        others = {key: other for key, other in others.items() if made.permutes(other, tolerance)}
        shapes = [array.shape, *(other.shape for other in others.values())]
        for shape, axes in _permutations(array, shapes, others):
            pair = Pair(name, "", "value", shape=shape, axes=axes)
            if found := _equal(sketch(pair.arranged(array)), others, tolerance):
                return [replace(pair, original=original) for original in found]
        return []


def _nearest(one: Sketch, others: Mapping[str, Sketch]) -> float:
    """The distance of the nearest of its kind."""
    near = [other for other in others.values() if (other.kind, other.odd) == (one.kind, one.odd)]
    return float(np.min(distances(one, near))) if near else math.inf


def _equal(one: Sketch | None, others: Mapping[str, Sketch], tolerance: float) -> list[str]:
    """The names of those that equal `one`; none where another tensor comes near as well."""
    if one is None:
        return []
    names = [n for n, other in others.items() if (other.kind, other.odd) == (one.kind, one.odd)]
    if not names:
        return []
    sketches = [others[name] for name in names]
    away = distances(one, sketches)
    nearest = int(np.argmin(away))
    if away[nearest] > tolerance:
        return []
    twins = distances(sketches[nearest], sketches) <= SAME
    clear = CLEARLY * min(max(away[nearest], SAME), tolerance)
    if (away[~twins] <= clear).any():
        return []
    return [name for name, is_twin in zip(names, twins, strict=True) if is_twin]


def _permutations(
    array: Array, shapes: Sequence[tuple[int, ...]], others: Mapping[str, Sketch]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """(shape, axes) under which a sample of the tensor is near one of the others'.

    The tensor has either its own axes or, in another order, those of one of the others.
    """
    tried = set()
    for whole in shapes:
        sizes = tuple(size for size in whole if size > 1)
        if not others or not 2 <= len(sizes) <= MAX_RANK:
            continue
        for order in itertools.permutations(range(len(sizes))):
            back = tuple(sorted(range(len(order)), key=order.__getitem__))
            stored = tuple(sizes[axis] for axis in order)
            for shape, axes in ((sizes, order), (stored, back)):
                if (shape, axes) in tried or list(axes) == sorted(axes):
                    continue
                tried.add((shape, axes))
                taken = sample(signed(np.transpose(array.reshape(shape), axes)))
                if any(other.resembles(taken) for other in others.values()):
                    yield shape, axes


def _channels(padded: int) -> range:
    """Every number of channels that may have been padded to this one."""
    return range(padded, max(0, padded - BLOCK_CHANNELS), -1)
