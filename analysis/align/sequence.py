"""A sequence of kernels as alignment takes it: distinct kernels, their order, their durations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_GENERATED = ("triton_poi_", "triton_red_", "triton_per_")


@dataclass(frozen=True)
class Kernel:
    """A distinct kernel. `launcher` is the operator of the host that launched it together with the
    shapes of its inputs; '' where the file does not say both."""

    name: str
    family: str
    op_class: str = "unknown"
    launcher: str = ""

    @property
    def is_generated(self) -> bool:
        """True for kernels that a compiler names after their content and then numbers."""
        return self.name.startswith(_GENERATED)

    @property
    def lasting_name(self) -> str:
        """The name without the number that a compiler gives it, which another run gives another."""
        return self.family if self.is_generated else self.name


@dataclass(frozen=True, eq=False)
class Sequence:
    """Executions in order of start: `ids` are numbers of `kernels`, `durations` are in ns.

    Executions of several streams interleave by chance: give each stream a sequence of its own, or
    put them one behind the other, the busiest first, with the number of the stream of each in
    `streams`; None where all are of one.
    """

    kernels: tuple[Kernel, ...]
    ids: Ints
    durations: Ints
    streams: Ints | None = None

    def __post_init__(self) -> None:
        if len(self.ids) != len(self.durations):
            raise ValueError("an execution has no duration")
        if len(self.ids) and not 0 <= self.ids.min() <= self.ids.max() < len(self.kernels):
            raise ValueError("an execution is of no kernel")

    def __len__(self) -> int:
        return len(self.ids)

    def kernel(self, position: int) -> Kernel:
        """Return the kernel that was executed at a position."""
        return self.kernels[int(self.ids[position])]

    @cached_property
    def begins_stream(self) -> NDArray[np.bool_]:
        """True for the first execution of each stream but the first one."""
        if self.streams is None or not len(self):
            return np.zeros(len(self), bool)
        begins: NDArray[np.bool_] = np.diff(self.streams, prepend=self.streams[0]) != 0
        return begins

    @cached_property
    def total_ns(self) -> int:
        """The sum of all durations."""
        return int(self.durations.sum())


@dataclass(frozen=True, eq=False)
class Numbered:
    """The kernels of two sequences in one table, their properties as numbers that can be compared.

    `before` and `after` are rows of the table for each position, each side with rows of its own.
    `names` are equal where lasting names are, `exact_names` where names are. `launchers` is -1
    where unknown. `weights` are 0 for kernels of no time to 100 for those of 15 times the mean.
    """

    kernels: tuple[Kernel, ...]
    before: Ints
    after: Ints
    names: Ints
    exact_names: Ints
    families: Ints
    launchers: Ints
    classes: Ints
    is_generated: NDArray[np.bool_]
    weights: Ints


def numbered(before: Sequence, after: Sequence) -> Numbered:
    """Return both sequences in terms of one table of kernels."""
    kernels = before.kernels + after.kernels
    names, families, launchers = (
        np.array([getattr(kernel, column) for kernel in kernels], dtype=object)
        for column in ("name", "family", "launcher")
    )
    is_generated = np.array([name.startswith(_GENERATED) for name in names], dtype=bool)
    return Numbered(
        kernels=kernels,
        before=before.ids,
        after=after.ids + len(before.kernels),
        names=_numbers(np.where(is_generated, families, names)),
        exact_names=_numbers(names),
        families=_numbers(families),
        launchers=np.where(launchers != "", _numbers(launchers), -1),
        classes=_numbers(np.array([kernel.op_class for kernel in kernels], dtype=object)),
        is_generated=is_generated,
        weights=np.concatenate([_weights(before), _weights(after)]),
    )


def _numbers(keys: NDArray[np.object_]) -> Ints:
    """Return a number for each key, equal where the keys are."""
    numbers: Ints = pd.factorize(keys)[0].astype(np.int64)
    return numbers


def _weights(side: Sequence) -> Ints:
    """Return the mean duration of each kernel on a logarithmic scale, in hundredths."""
    executions = np.bincount(side.ids, minlength=len(side.kernels))
    times = np.bincount(side.ids, side.durations, minlength=len(side.kernels))
    mean = max(1.0, side.total_ns / max(1, len(side)))
    weights: Ints = np.clip(25 * np.log2(1 + times / np.maximum(1, executions) / mean), 0, 100)
    return weights.astype(np.int64)
