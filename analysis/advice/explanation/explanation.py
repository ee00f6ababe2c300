"""Explanation of one trace: a unit of work, what its time goes to, and what need not be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import numpy as np

from fusescope.analysis.compare.explanation.explanation import (
    NO_CALLS,
    Evidence,
    KernelTime,
    OtherKernels,
)
from fusescope.analysis.compare.explanation.product import Product
from fusescope.analysis.metrics.stretch import Stretch
from fusescope.analysis.operators.link_peaks import LinkPeaks
from fusescope.analysis.work_units import UnitKind
from fusescope.analysis.work_units.units import UnitEvidence
from fusescope.analysis.work_units.work import Work

SavingCode = Literal[
    "idle",  # nothing runs on the device, by what the host does
    "communication",  # collectives beside no computing
    "copies",  # copies beside neither computing nor communication
    "recomputed",  # a forward pass that runs again for the backward pass
    "layout",  # kernels that only change the layout
    "product",  # matrix products at a lower rate than the others
    "layer",  # one layer that takes far longer than those like it
    "outlier",  # one execution that takes far longer than the others of its kernel
]


@dataclass(frozen=True)
class Parts:
    """Parts of one unit in ns, which add up to how long it takes: in which anything computes, in
    which only communication runs, only copies, and nothing."""

    computing_ns: int
    communication_ns: int
    copies_ns: int
    idle_ns: int

    @property
    def busy_ns(self) -> int:
        """Return the time in which anything runs."""
        return self.computing_ns + self.communication_ns + self.copies_ns


@dataclass(frozen=True)
class Uneven:
    """Units that fall into those that take long and the others: `slow` are their numbers from 1,
    `of` how many there are; the shortest and longest of both, and the mean time in which anything
    runs in both, in ns."""

    slow: tuple[int, ...]
    of: int
    slow_ns: tuple[int, int]
    fast_ns: tuple[int, int]
    busy_ns: tuple[int, int]


@dataclass(frozen=True)
class TracedUnit:
    """The unit of work of a trace: `wall_ns` is the mean of `count`, `range_ns` the shortest and
    the longest.

    `others` counts units of the file that do other work, `set_aside` slow ones at its beginning.
    `host_ns` is the mean step of the host where the device's own period is the unit, `ahead_ns`
    the median time from a launch to its start. `earlier_ns` is the time of kernels that run in a
    unit and were launched before the file begins, `after_ns` of those of a unit after it ends. A
    single unit that begins behind the former has `behind_ns`, the time of those that ran before it,
    in `behind_layers` layers. `kernels` counts those of a unit, with `other_kernels` besides those
    that compute. Without `has_starts` the file has no start of each call, so that nothing is known
    of idle time. `unlaunched` counts the calls of the whole file that were launched before it.
    `unprofiled_ns` is the mean of the un-profiled runs of the file, 0 without any. Of repeats
    `last_kernel_ns` is the mean time until their last kernel ends, None of others; where they
    `end_with_kernels`, that is all of it, and the time until the next one is in none.
    """

    kind: UnitKind
    name: str
    evidence: UnitEvidence
    count: int
    work: Work
    wall_ns: int
    range_ns: tuple[int, int]
    parts: Parts
    kernels: int
    on_device: bool
    others: int = 0
    set_aside: int = 0
    host_ns: int | None = None
    ahead_ns: int | None = None
    earlier_ns: int = 0
    uneven: Uneven | None = None
    has_starts: bool = True
    other_kernels: frozenset[OtherKernels] = frozenset()
    after_ns: int = 0
    behind_ns: int = 0
    behind_layers: int = 0
    unlaunched: int = 0
    unprofiled_ns: int = 0
    last_kernel_ns: int | None = None
    end_with_kernels: bool = False


@dataclass(frozen=True)
class Layers:
    """Kernels that repeat in a unit: `copies` of them, with so many `kernels` and `ns` each;
    `largest` are the kernels of one kind with most time in the mean copy, by their name, or by
    their kind where each copy has a name of its own. `module` is the type of module they are, ''
    where the file does not say it. `range_ns` are the shortest and the longest copy, where one
    takes far longer than the median. `inside` are layers of one copy, where those are most of
    it. `others` run in them besides kernels that compute. `kernels_of_copies` are the fewest and
    the most kernels of a copy, and `largest_of_copies` the fewest and the most executions of
    `largest` in one."""

    copies: int
    kernels: int
    ns: int
    largest: KernelTime
    module: str = ""
    range_ns: tuple[int, int] | None = None
    inside: tuple[Layers, ...] = ()
    others: frozenset[OtherKernels] = frozenset()
    kernels_of_copies: tuple[int, int] = (0, 0)
    largest_of_copies: tuple[int, int] = (0, 0)

    @property
    def all_ns(self) -> int:
        """Return the time of all copies."""
        return self.copies * self.ns


@dataclass(frozen=True)
class ClassOfUnit:
    """Operators of one class in a unit: how many kernels, and their time in ns."""

    op_class: str
    count: float
    ns: int


@dataclass(frozen=True)
class Collective:
    """Collectives of one name and size in a unit: how many, the time of each in ns, on average, the
    bytes and elements of its message, how many ranks take part, and what the link that carries most
    of the data carries in a second, each None where the file does not have it. By the profiler's
    own count data moves for `transfer_ns` of each, at `link_bytes_per_s` over the links of the
    rank. `longest_ns` is the longest where that takes far longer than the mean, else None; all
    `are_alike` where none takes much longer than another."""

    name: str
    count: float
    each_ns: int
    bytes: int | None
    elements: int | None = None
    ranks: int | None = None
    bus_bytes_per_s: float | None = None
    transfer_ns: int | None = None
    link_bytes_per_s: float | None = None
    longest_ns: int | None = None
    are_alike: bool = True

    @property
    def bytes_per_s(self) -> float | None:
        """Return the bytes of the message / the time, in which it also waits for other ranks."""
        return self.bytes / self.each_ns * 1e9 if self.bytes and self.each_ns else None


@dataclass(frozen=True)
class Saving:
    """Time that need not be: `ns` a unit at most, at `repeats` places of a unit.

    `where` names modules or operators, `host` what the host did, outermost first; `before` are the
    kernels of it, `after` those that would do. `values` are the sentence's own. `calls` are rows of
    the trace's calls that it is about; of idle time `longest` is the longest interval in the run
    that timelines show instead.
    """

    code: SavingCode
    ns: int
    repeats: int = 1
    where: tuple[str, ...] = ()
    before: tuple[KernelTime, ...] = ()
    after: tuple[KernelTime, ...] = ()
    host: tuple[str, ...] = ()
    evidence: Evidence = "named"
    values: Mapping[str, str | int | float] = field(default_factory=lambda: MappingProxyType({}))
    calls: np.ndarray = field(default_factory=lambda: NO_CALLS[0], compare=False, repr=False)
    longest: Stretch | None = field(default=None, compare=False)


@dataclass(frozen=True)
class TraceExplanation:
    """The explanation of one trace. `layers`, `classes`, `collectives` and `products` (matrix
    products) come with most time first, and `savings` too, behind which stand those that no program
    can avoid. `unknown` are the kernels of most time of no known class; `captured` is how many
    graphs a file captures that runs less than that, and of how many kernels, None of any other.
    `links` are those of the device, None where their rate is not public."""

    unit: TracedUnit
    layers: tuple[Layers, ...] = ()
    classes: tuple[ClassOfUnit, ...] = ()
    collectives: tuple[Collective, ...] = ()
    savings: tuple[Saving, ...] = ()
    products: tuple[Product, ...] = ()
    unknown: tuple[KernelTime, ...] = ()
    captured: tuple[int, int] | None = None
    links: LinkPeaks | None = None
