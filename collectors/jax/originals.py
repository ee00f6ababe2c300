"""The model's tensors by their values: which of them another tensor holds.

The model is evaluated equation by equation. Of each tensor a sketch is kept, and the values
themselves in a file, so that every pair is compared value by value without holding all in memory.
Constants are left out: equal ones prove nothing. What is computed from them alone is kept apart as
*fixed*: it is the same for every input, so it is not a place to cut, but tells who computes it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fusescope.collectors.models.array import Array
from fusescope.collectors.tensors.candidates import Candidates, Pair
from fusescope.collectors.tensors.difference import difference_of
from fusescope.collectors.tensors.sketches import distance
from fusescope.collectors.tensors.tolerances import tolerance_of

if TYPE_CHECKING:  # it needs JAX
    from fusescope.collectors.jax.equations import Traced
    from fusescope.collectors.jax.translated.network import Network

_MAX_BYTES = 4 << 30  # of the values that are kept in files


class Deadline:
    """When values are no longer compared: a recording does not fail for it, and does not wait."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raises TimeoutError after it."""
        if time.monotonic() > self._end:
            raise TimeoutError(f"comparing values was ended after {self._seconds:.0f} s")


@dataclass(frozen=True)
class Held:
    """A tensor of the model whose values another one holds: in which layout, and how far they are
    apart; None where that is not known."""

    original: str
    layout: Literal["", "permuted"]
    absolute: float | None
    relative: float | None


class Originals:
    """The tensors of the model with these inputs; files go into the folder. Raises whatever JAX
    raises, and TimeoutError."""

    def __init__(
        self, traced: Traced | Network, inputs: Sequence[Any], folder: Path, deadline: Deadline
    ) -> None:
        self._candidates = Candidates()
        self._files: dict[str, Path] = {}
        self._order: dict[str, int] = {}
        self._folder = folder
        self._left = _MAX_BYTES
        self._dtypes: set[str] = set()
        self._fixed: dict[tuple[str, tuple[int, ...]], list[str]] = {}
        varying = set(traced.graph.inputs)
        for equation, made in traced.run(inputs):
            deadline.check()
            is_fixed = varying.isdisjoint(equation.node.inputs)
            for name, value in zip(equation.node.outputs, made, strict=True):
                array = array_of(value)
                if name and array is not None and is_fixed:
                    self._fixed.setdefault(_alike(array), []).append(name)
                    self._keep(name, array)
                elif name and array is not None:
                    varying.add(name)
                    self._dtypes.add(str(value.dtype))
                    self._add(name, array)

    def holding(self, array: Array | None) -> tuple[Held, ...]:
        """The tensors of the model whose values these are, in the order of the model: one, or
        several that are equal."""
        if array is None:
            return ()
        tolerance = tolerance_of(self._dtypes)
        found = []
        for pair in self._candidates.pairs("", array, False, tolerance):
            held = self._compared(pair, array, tolerance)
            if held is not None:
                found.append(held)
        return tuple(sorted(found, key=lambda one: self._order[one.original]))

    def fixed(self, array: Array | None) -> tuple[str, ...]:
        """The tensors of the model that depend on no input and have these values, in the order of
        the model: several may be equal. Numbers that are not fractions must be the same."""
        if array is None:
            return ()
        tolerance = tolerance_of(self._dtypes) if array.dtype.kind == "f" else 0
        return tuple(
            name
            for name in self._fixed.get(_alike(array), ())
            if (known := self.array(name)) is not None
            and distance(known.reshape(-1), array.reshape(-1)) <= tolerance
        )

    def array(self, name: str) -> Array | None:
        """The values of a tensor, None where they were not kept."""
        file = self._files.get(name)
        return np.load(file, allow_pickle=False) if file is not None else None

    def _add(self, name: str, array: Array) -> None:
        self._candidates.add(name, array)
        self._order[name] = len(self._order)
        self._keep(name, array)

    def _keep(self, name: str, array: Array) -> None:
        self._left -= array.nbytes
        if self._left >= 0:
            file = self._files[name] = self._folder / f"{len(self._files)}.npy"
            np.save(file, array, allow_pickle=False)

    def _compared(self, pair: Pair, array: Array, tolerance: float) -> Held | None:
        known = self.array(pair.original)
        layout: Literal["", "permuted"] = "permuted" if pair.axes else ""
        if known is None:
            return Held(pair.original, layout, None, None)
        arranged = pair.arranged(array)
        if distance(known, arranged) > tolerance:
            return None
        a, b = known.reshape(-1), arranged.reshape(-1)
        return Held(pair.original, layout, *difference_of([a], [b]))


def _alike(array: Array) -> tuple[str, tuple[int, ...]]:
    """Equal for arrays that may hold the same tensor: axes of size 1 do not count."""
    return array.dtype.kind, tuple(size for size in array.shape if size > 1)


def array_of(value: Any) -> Array | None:
    """Values as numpy has them; half-precision as float32, complex numbers with both parts along
    another axis, None for what has no numbers."""
    try:
        array: Array = np.asarray(value)
    except (TypeError, RuntimeError, ValueError):  # such as a key of random numbers
        return None
    if array.dtype.kind == "V" or array.dtype == np.float16:
        array = array.astype(np.float32)
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], axis=-1)
    return array if array.dtype.kind in "fiub" and math.prod(array.shape) else None
