"""Pareto: which sides are not beaten in latency, output difference and memory together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fusescope.analysis.compare.multiple.comparison import MultipleComparison
from fusescope.analysis.experiment import MAX_DIFFERENCE

Cost = Literal["output_difference", "memory"]
LEAST_DIFFERENCE = 1e-8  # on a logarithmic axis: what is below, 0 too, stands there
MEMORY_APART = 0.01  # of a peak: pages of a process that nearer ones differ by are no cost
COSTS: tuple[Cost, Cost] = ("output_difference", "memory")


@dataclass(frozen=True)
class Point:
    """A side by its position: latency in ns, costs by name, None where not known. It is dominated
    by sides that are shown to be faster and have no larger cost."""

    side: int
    latency_ns: float
    costs: dict[Cost, float | None]
    dominated_by: tuple[int, ...]


@dataclass(frozen=True)
class Pareto:
    """Points of the sides that are ranked; `costs` are those that all of them have."""

    points: tuple[Point, ...]
    costs: tuple[Cost, ...]

    @property
    def front(self) -> tuple[int, ...]:
        """Sides that no other one dominates."""
        return tuple(point.side for point in self.points if not point.dominated_by)


def pareto(multiple: MultipleComparison) -> Pareto | None:
    """The points; None where fewer than two sides have times, or no cost is known of all.

    The outputs of several recordings have no common baseline, so their differences are left out.
    Differences up to MAX_DIFFERENCE are rounding and count as equal, as do peaks of memory within
    MEMORY_APART; so do latencies that cannot be told apart, which dominate nothing.
    """
    found: list[tuple[int, float, dict[Cost, float | None]]] = []
    for at, entry in enumerate(multiple.entries):
        latency = entry.figures["latency"].value
        if latency is not None and at not in multiple.best.unranked:
            found.append((at, latency, {cost: entry.figures[cost].value for cost in COSTS}))
    told: tuple[Cost, ...] = COSTS if multiple.is_one_recording else ("memory",)
    costs = tuple(cost for cost in told if all(of[cost] is not None for _, _, of in found))
    if len(found) < 2 or not costs:
        return None

    def beaten(at: int, own: dict[Cost, float | None]) -> tuple[int, ...]:
        return tuple(
            other
            for other, _, of in found
            if (other, at) in multiple.best.faster
            and all(_is_no_larger(cost, of[cost], own[cost]) for cost in costs)
        )

    points = tuple(Point(at, latency, own, beaten(at, own)) for at, latency, own in found)
    return Pareto(points, costs)


def _is_no_larger(cost: Cost, value: float | None, other: float | None) -> bool:
    value, other = value or 0.0, other or 0.0
    if cost == "memory":
        return value <= other * (1 + MEMORY_APART)
    return value <= max(other, MAX_DIFFERENCE)
