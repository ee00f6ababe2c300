"""Explanation: what changed between two traces, where, how often, and by how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import numpy as np

from fusescope.analysis.compare.explanation.product import Product
from fusescope.analysis.compare.graphs.captured import CapturedGraph
from fusescope.analysis.host.causes import CauseKind
from fusescope.analysis.metrics.stretch import Stretch
from fusescope.analysis.operators.projections import Size
from fusescope.analysis.ranks.pair import RankPair
from fusescope.analysis.work_units import UnitKind
from fusescope.analysis.work_units.units import UnitEvidence
from fusescope.analysis.work_units.work import Work

Outcome = Literal["changed", "no_change", "clock", "not_comparable"]
# Evidence of a change: names of both sides say it, the order of kernels does, or only their class.
Evidence = Literal["named", "ordered", "guessed"]
ChangeCode = Literal[
    "added",  # kernels that only the candidate runs
    "removed",  # kernels that only the baseline runs
    "fused",  # fewer kernels do the work of more
    "split",  # more kernels do the work of fewer
    "replaced",  # another kernel does the same work
    "pieces",  # the same operator runs more often on less each time, or less often on more
    "time",  # the same kernel takes another time, everywhere
    "operator",  # an operator takes another time, by other kernels
    "shapes",  # the same kernel takes another time for some shapes only
    "place",  # the same kernel takes another time in few places only, such as one layer
    "outlier",  # one execution takes far longer than the others of its kind
    "repeats",  # another number of layers
    "clocks",  # kernels with most of the time take nearly the same share more or less
    "idle",  # the device waits for the host
    "communication",  # collectives, with the time they wait for other ranks
]


# What runs on a device besides kernels that compute: copies and fills of memory, and collectives.
OtherKernels = Literal["copies", "collectives"]


@dataclass(frozen=True)
class KernelTime:
    """Kernels of one name in one unit: how many, on average, their time in ns, and what class of
    operator they are, as `operators.classes` has it; with `is_copy` they are copies or fills of
    memory, which no kernel computes. `family` is what kernels of this kind are called where each
    has a name of its own, '' where that is not known. With `is_uneven` they are of several
    operators of one name whose executions take different times on average, or known to differ."""

    name: str
    count: float
    ns: int
    op_class: str = "unknown"
    is_copy: bool = False
    family: str = ""
    is_uneven: bool = field(default=False, compare=False)


Calls = tuple[np.ndarray, np.ndarray]  # of both sides, as rows of the calls of their traces
NO_CALLS: Calls = (np.zeros(0, dtype="int64"), np.zeros(0, dtype="int64"))


@dataclass(frozen=True)
class LongOnes:
    """Single executions that take far longer than the others of their kernel: how many
    in all units, and what they take beyond the others, in ns a unit."""

    count: int = 0
    ns: int = 0


@dataclass(frozen=True)
class Change:
    """One cause of the change: `change_ns` a unit, + is slower, at `repeats` places of a unit.

    `where` names modules, neighbouring kernels or shapes, the widest first; `host` what the host
    did, outermost first. `values` are the sentence's own. `long_ones` are single long executions of
    its kernels on both sides, which are changes of their own: `before` and `after` are without what
    these take beyond the others. `calls` are those that it is about, of one unit at least; of idle
    time `longest` is the longest interval of each side instead.
    """

    code: ChangeCode
    change_ns: int
    repeats: int = 1
    where: tuple[str, ...] = ()
    before: tuple[KernelTime, ...] = ()
    after: tuple[KernelTime, ...] = ()
    host: tuple[str, ...] = ()
    evidence: Evidence = "ordered"
    values: Mapping[str, str | int | float] = field(default_factory=lambda: MappingProxyType({}))
    long_ones: tuple[LongOnes, LongOnes] = (LongOnes(), LongOnes())
    calls: Calls = field(default=NO_CALLS, compare=False, repr=False)
    longest: tuple[Stretch | None, Stretch | None] = field(default=(None, None), compare=False)

    @property
    def before_ns(self) -> int:
        """Return the time of the baseline's kernels, in ns a unit."""
        return sum(each.ns for each in self.before)

    @property
    def after_ns(self) -> int:
        """Return the time of the candidate's kernels, in ns a unit."""
        return sum(each.ns for each in self.after)


@dataclass(frozen=True)
class ShapedTime:
    """Kernels of one name with one set of shapes in one unit; `flops` of all of them, None where
    the file does not tell their operations. `shortest_ns` and `longest_ns` are those of one
    execution, on average over the units."""

    time: KernelTime
    shapes: str
    flops: int | None
    shortest_ns: int = 0
    longest_ns: int = 0


@dataclass(frozen=True)
class ClassTime:
    """Operators of one class: how many kernels of a unit they have on each side, and their time in
    ns."""

    op_class: str
    counts: tuple[float, float]
    before_ns: int
    after_ns: int


@dataclass(frozen=True)
class Layers:
    """What repeats in a unit: so many copies of so many kernels, at `depth` 0 or inside others."""

    copies: int
    kernels: int
    depth: int


@dataclass(frozen=True)
class UnitTimes:
    """The unit of work that both sides are compared by, and its mean time on each, in ns.

    `counts` is how many units each side has, `works` what each of them processes.
    """

    kind: UnitKind
    name: str
    evidence: UnitEvidence
    counts: tuple[int, int]
    before_ns: int
    after_ns: int
    works: tuple[Work, Work]
    busy_ns: tuple[int, int]  # of which anything runs
    kernels: tuple[float, float]  # on average
    on_device: bool  # kernels of a device, not operators of the host
    others: frozenset[OtherKernels] = frozenset()  # that `kernels` counts on either side
    has_starts: bool = True  # else `busy_ns` is the sum of all that runs
    unprofiled_ns: tuple[float, float] | None = None  # of a verdict on un-profiled runs
    of_other_runs: bool = False  # than those that the verdict compares, of a command
    end_with_kernels: bool = False  # repeats without the time until the next one begins
    pauses_ns: tuple[int, int] | None = None  # that time, on average

    @property
    def change_ns(self) -> int:
        """Return how much longer a unit of the candidate takes, in ns."""
        return self.after_ns - self.before_ns


@dataclass(frozen=True)
class IdleTime:
    """How long the device waits for one cause in a unit, in ns; `cause` is '' where it is none by
    itself."""

    kind: CauseKind
    cause: str
    ns: int


@dataclass(frozen=True)
class UnitParts:
    """The mean unit in ns: what it computes, only communicates, only copies, and is idle for, which
    add up to it; None where the file has no starts."""

    computing_ns: int
    communication_ns: int
    copies_ns: int
    idle_ns: int


@dataclass(frozen=True)
class HostWait:
    """Calls of the host of one name that wait for the device in a whole file: how many, and their
    time in ns."""

    name: str
    count: int
    ns: int


@dataclass(frozen=True)
class UnitOfSide:
    """The units of one side. `launched_ns` is the time of the kernels of a unit that the host
    launched in the file, `earlier_ns` of those that ran in a unit, or before the only one where it
    begins behind them, and were launched before the file began, in `earlier_layers` layers
    (0 where they repeat in none); None where the file has no launches.
    `graph_launches` and `graph_kernels` are of graphs, in a unit, `graph_call` what launches them.
    `devices` are those of the file. `after_ns` is how long the kernels of a unit run after it
    ends. `host_waits` are of the whole file, the longest first. `devices_alike` counts those of
    the file that run kernels of the one that is compared, with it. `at_once_ns` is what kernels
    that compute take of a unit while another one of them runs already."""

    median_ns: int
    shortest_ns: int
    longest_ns: int
    parts: UnitParts | None
    launched_ns: int | None
    earlier_ns: int | None
    earlier_layers: int
    graph_launches: float
    graph_kernels: float
    devices: int
    idle: tuple[IdleTime, ...]
    after_ns: int
    graph_call: str = ""
    host_waits: tuple[HostWait, ...] = ()
    devices_alike: int = 1
    at_once_ns: int = 0


# Why two traces are not compared by what changed: two phases of one model, another number of
# devices, stages of a pipeline, weights of other sizes, so little in common that these are two
# models, or more names than are aligned.
Difference = Literal[
    "capture", "phases", "sizes", "devices", "stages", "weights", "models", "names", "no_times"
]


@dataclass(frozen=True)
class Explanation:
    """What changed, the largest change first. `change_ns` of all changes and `rest_ns` add up to
    the change of the unit exactly. `difference` says why the sides do different work. `classes` is
    what each class of operators takes on both sides, the one of most time first. `drift` is the
    ratio of the times of kernels that are the same on both sides, None where none are. `layers` is
    what repeats in a unit of each side, `kernels` those of most time. With `has_other_kernels`
    changes are by operator, since kernels have other names on the other device. `pairs` are calls
    that are the same on both sides, one of each: what lies between two of them is the same
    place. `ranks` is how two files of ranks belong together, None of others. `graph` is what one
    file captures and the other one replays, None of any other pair. `sides` is what a unit of each
    side consists of, None where there is no order of kernels. `batch` is how many times as
    large the tensors of the candidate are in one dimension, None where most are not. `products`
    are the matrix products of each side, of two phases and of two devices. `weights` are sizes of
    weights of each side that the other one has none of, where these tell two models. `data_types`
    are the types that the heavy operators of each side compute in, None where they are the same, or
    not known. `device` is that of both files, None where they differ or name none. `interval_ns`
    is the 95 % interval of the change of the mean where that is no change, None of others."""

    outcome: Outcome
    unit: UnitTimes
    changes: tuple[Change, ...] = ()
    difference: Difference | None = None
    classes: tuple[ClassTime, ...] = ()
    drift: float | None = None
    layers: tuple[tuple[Layers, ...], tuple[Layers, ...]] = ((), ())
    kernels: tuple[tuple[ShapedTime, ...], tuple[ShapedTime, ...]] = ((), ())
    has_other_kernels: bool = False
    pairs: Calls = field(default=NO_CALLS, compare=False, repr=False)
    ranks: RankPair | None = None
    graph: CapturedGraph | None = None
    sides: tuple[UnitOfSide, UnitOfSide] | None = None
    batch: float | None = None
    earlier: Explanation | None = None
    products: tuple[tuple[Product, ...], tuple[Product, ...]] = ((), ())
    weights: tuple[tuple[Size, ...], tuple[Size, ...]] = ((), ())
    data_types: tuple[str, str] | None = None
    device: str | None = None
    interval_ns: tuple[int, int] | None = None

    @property
    def rest_ns(self) -> int:
        """Return what no change accounts for, in ns a unit."""
        return self.unit.change_ns - sum(change.change_ns for change in self.changes)
