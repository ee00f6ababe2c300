"""Why a compiler left kernels apart that hand a tensor from one to the other. Needs no torch.

The compiler asks of pairs of operations whether they may be fused, and names a reason for some of
those it refuses. What it says of the largest parts of two kernels that hand on a tensor is the
reason; where it says nothing, the reason is derived from what the two are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fusescope.analysis.experiment import DerivedReason, NotFused
from fusescope.analysis.text import clean_text

MAX_CHARS = 200  # of what the engine says


@dataclass(frozen=True)
class Operation:
    """One operation of the compiler's schedule: the buffers that it reads and writes, and the
    extents of its loops, those of a reduction apart. One of a library has none."""

    name: str
    reads: frozenset[str]
    writes: frozenset[str]
    loops: tuple[str, ...] = ()
    reduced: tuple[str, ...] = ()
    is_library: bool = False


@dataclass(frozen=True)
class Refusal:
    """What was said of two sets of operations, by their names."""

    first: frozenset[str]
    second: frozenset[str]
    said: str


@dataclass
class Told:
    """Of one graph: operations by kernel in the order they run, and refusals in the order they
    were said."""

    kernels: dict[str, list[Operation]] = field(default_factory=dict)
    refusals: list[Refusal] = field(default_factory=list)


def not_fused(told: Told, names: Mapping[str, str]) -> list[NotFused]:
    """Pairs of kernels that hand on a tensor, in the order they run, with why they are apart.
    `names` are those that the graph has for kernels; of others nothing is told."""
    found = []
    for first, second in _neighbours(told):
        if first not in names or second not in names:
            continue
        said = _said(told, told.kernels[first], told.kernels[second])
        reason = said or _derived(told, first, second)
        by: Literal["engine", "derived"] = "engine" if said else "derived"
        found.append(NotFused(names[first], names[second], by, reason))
    return found


def _neighbours(told: Told) -> Iterator[tuple[str, str]]:
    order = list(told.kernels)
    for place, first in enumerate(order):
        for second in order[place + 1 :]:
            if _hands_on(told.kernels[first], told.kernels[second]):
                yield first, second


def _hands_on(first: Sequence[Operation], second: Sequence[Operation]) -> bool:
    writes = {buffer for one in first for buffer in one.writes}
    return any(not writes.isdisjoint(one.reads) for one in second)


def _said(told: Told, first: Sequence[Operation], second: Sequence[Operation]) -> str:
    """The engine's words on the largest parts, the latest of equally large ones."""
    left, right = {one.name: one for one in first}, {one.name: one for one in second}
    best, words = 0, ""
    for refusal in told.refusals:
        if not (refusal.first <= left.keys() and refusal.second <= right.keys()):
            continue
        parts = [left[name] for name in refusal.first], [right[name] for name in refusal.second]
        size = len(refusal.first) + len(refusal.second)
        if size >= best and _hands_on(*parts):
            best, words = size, clean_text(" ".join(refusal.said.split()), MAX_CHARS)
    return words


def _derived(told: Told, first: str, second: str) -> DerivedReason:
    left, right = told.kernels[first], told.kernels[second]
    if any(one.is_library for one in (*left, *right)):
        return "library"
    if _is_between(told, first, second):
        return "between"
    writers = [one for one in left if any(one.writes & other.reads for other in right)]
    readers = [one for one in right if any(one.reads & other.writes for other in left)]
    if any(one.reduced for one in writers):
        return "reduction"
    if {one.loops + one.reduced for one in writers} != {one.loops + one.reduced for one in readers}:
        return "ranges"
    order = list(told.kernels)
    if any(
        told.kernels[name][0].is_library
        for name in order[order.index(first) + 1 : order.index(second)]
    ):
        return "order"
    return "silent"


def _is_between(told: Told, first: str, second: str) -> bool:
    """Whether another kernel needs the first one's results and makes something for the second."""
    order = list(told.kernels)
    reached = [first]
    for name in order[order.index(first) + 1 : order.index(second)]:
        if any(_hands_on(told.kernels[one], told.kernels[name]) for one in reached):
            reached.append(name)
    return any(_hands_on(told.kernels[name], told.kernels[second]) for name in reached[1:])
