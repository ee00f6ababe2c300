"""MultipleComparison: one baseline and several candidates, and which of them may be the fastest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fusescope.analysis.compare import DEFAULT_ASSUMPTIONS, compare
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.best import Best, find_best
from fusescope.analysis.compare.multiple.names import distinct_names
from fusescope.analysis.compare.naming import short_names
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.latency import are_paired
from fusescope.analysis.compare.timing.verdict import Verdict
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.quantity import Quantity

MAX_SIDES = 8
# Columns of the table beside the speedup; light time belongs to the small-op ratio.
FIGURES = (
    "latency", "throughput", "small_op_time", "light_time", "short_op_time", "compute_utilisation",
    "cache_missed_bytes", "memory", "output_difference", "agreement_top1",
)  # fmt: skip

_PER_RUN = ("latency", "throughput", "light_time")  # of these


@dataclass(frozen=True, eq=False)
class Entry:
    """One side: its figures by code, and the verdict against the baseline, None for itself."""

    side: Side
    figures: Mapping[str, Quantity]
    verdict: Verdict | None


@dataclass(frozen=True, eq=False)
class MultipleComparison:
    """Sides of distinct names, the baseline first, and a Comparison of it with each other one.

    Verdicts are corrected for the number of candidates (Bonferroni), in one recording for all of
    its variants; `Verdict.corrected` are the intervals that hold together at 95 %.
    """

    sides: tuple[Side, ...]
    comparisons: tuple[Comparison, ...]
    best: Best

    @property
    def baseline(self) -> Side:
        """What every other side is compared with."""
        return self.sides[0]

    @property
    def is_one_recording(self) -> bool:
        """Whether all sides were recorded together."""
        return all(are_paired(self.baseline, side) for side in self.sides)

    @property
    def leading(self) -> Comparison:
        """The first one whose times compare, which the baseline's own figures are of; else the
        first."""
        timed = (one for one in self.comparisons if one.verdict.speedup is not None)
        return next(timed, self.comparisons[0])

    @property
    def compared(self) -> tuple[Side, ...]:
        """The sides as they are compared, with units of work for runs where those are compared:
        the baseline as in `leading`, and each other one as in its own comparison."""
        compared = (self.leading.baseline, *(one.candidate for one in self.comparisons))
        return tuple(
            replace(one, short_name=side.short_name)
            for one, side in zip(compared, self.sides, strict=True)
        )

    @property
    def entries(self) -> tuple[Entry, ...]:
        """A row of the table for each side, the baseline first. Of a side that shares no unit of
        work with the baseline no time stands beside those of units."""
        leading = self.leading
        own: dict[str, Quantity] = {f.code: f.baseline for f in leading.figures}
        rows = [Entry(self.baseline, own, None)]
        for side, one in zip(self.sides[1:], self.comparisons, strict=True):
            figures: dict[str, Quantity] = {f.code: f.candidate for f in one.figures}
            if one.verdict.of != leading.verdict.of and not one.has_changes:
                figures |= {
                    code: Quantity(None, figures[code].unit, figures[code].basis, "runs_unknown")
                    for code in _PER_RUN
                    if code in figures
                }
            rows.append(Entry(side, figures, one.verdict))
        return tuple(rows)

    @property
    def order(self) -> tuple[int, ...]:
        """Positions of the sides in the order of the table: the baseline, then the fastest first,
        what has no time at the end."""

        def slowness(at: int) -> float:
            speedup = self.comparisons[at - 1].verdict.speedup
            return math.inf if speedup is None else -speedup

        return (0, *sorted(range(1, len(self.sides)), key=slowness))

    @property
    def columns(self) -> tuple[str, ...]:
        """Codes of the figures that a side has, but for those that τ or the size of the modelled
        cache keeps from being compared, because they are not the same for all."""
        rows = self.entries
        unlike = {
            code
            for code, settings in (
                ("short_op_time", {one.tau for one in self.comparisons}),
                ("cache_missed_bytes", {one.cache_size for one in self.comparisons}),
            )
            if len(settings) > 1
        }
        return tuple(
            code
            for code in FIGURES
            if code not in unlike
            and any(code in row.figures and row.figures[code].value is not None for row in rows)
        )


def check_number(sides: int) -> None:
    """Raises FuseScopeError for fewer than two sides, or more than are compared at once."""
    if sides < 2:
        raise FuseScopeError("too_few_variants")
    if sides > MAX_SIDES:
        raise FuseScopeError("too_many_variants", n=sides, limit=MAX_SIDES)


def compare_several(
    sides: Sequence[Side], assumptions: Assumptions = DEFAULT_ASSUMPTIONS
) -> MultipleComparison:
    """The first side with each other one. Raises FuseScopeError for too few or too many."""
    check_number(len(sides))
    names = short_names(*sides) if len(sides) == 2 else distinct_names(sides)  # as of the pair
    named = tuple(replace(side, short_name=name) for side, name in zip(sides, names, strict=True))
    comparisons = tuple(
        compare(named[0], side, assumptions, candidates=len(named) - 1) for side in named[1:]
    )
    verdicts = [comparison.verdict for comparison in comparisons]
    return MultipleComparison(named, comparisons, find_best(named, verdicts))
