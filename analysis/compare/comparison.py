"""Comparison: one baseline, one candidate, and everything that is shown of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NewType

import pandas as pd

from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.groups.fusion import UNPROVEN, Fusion
from fusescope.analysis.compare.ledger import Ledger
from fusescope.analysis.compare.roofs import Roofs
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.verdict import OTHER_WORK, Verdict
from fusescope.analysis.metrics.small_ops import ShortOps, SmallOps
from fusescope.analysis.quantity import Quantity, relative_change
from fusescope.analysis.trace import Diagnostic

if TYPE_CHECKING:
    from fusescope.analysis.compare.explanation.explanation import Explanation
    from fusescope.analysis.ranks.pair import RankPair

ChangeKind = Literal["relative", "points", "none"]
FigureCode = Literal[
    "agreement_top1", "agreement_top5", "bytes_moved", "cache_hit_ratio", "cache_missed_bytes",
    "cache_utilisation", "compute_utilisation", "copies", "copy_time", "cpu_time",
    "device_busy", "device_idle", "dispatch_gap", "intermediate_bytes", "kernels", "latency",
    "launch_time", "launches", "light_count", "light_time", "memory", "operator_utilisation",
    "output_difference", "profiler_inflation", "roofline_share", "short_op_count",
    "short_op_time", "small_op_count", "small_op_time", "throughput",
]  # fmt: skip
CounterCode = NewType("CounterCode", str)  # of a Measure of hardware counters


@dataclass(frozen=True)
class Figure:
    """One figure of the head line: baseline -> candidate -> change.

    `change` is a fraction (relative) or a difference of fractions (points), None when it cannot
    be computed. `code` names label and definition in analysis/wording.
    """

    code: FigureCode | CounterCode
    baseline: Quantity
    candidate: Quantity
    kind: ChangeKind = "relative"

    @property
    def is_known(self) -> bool:
        """Whether a side has a value at all."""
        return self.baseline.value is not None or self.candidate.value is not None

    @property
    def change(self) -> float | None:
        """Computed from the two values that are shown, so it agrees with them in sign."""
        before, after = self.baseline.value, self.candidate.value
        if self.kind == "points":
            return None if before is None or after is None else after - before
        return relative_change(before, after) if self.kind == "relative" else None


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything known of one pair; tables as matching.py and ledger.py describe them.

    What figures rest on: `tau` bounds short operators, `cache_size` is the modelled cache's,
    `peaks` are the arithmetic peaks (baseline, candidate) that utilisation divides by, `roofs`
    those and the bandwidths; `operators` has compare.roofs.ROOFLINE of each side, too. `ranks` is
    how two files of ranks belong together, None of others. It was made
    of `given`, the two sides as they were read, under `assumptions`.
    """

    baseline: Side
    candidate: Side
    verdict: Verdict
    figures: tuple[Figure, ...]
    operators: pd.DataFrame
    op_types: pd.DataFrame
    op_classes: pd.DataFrame
    small_ops: tuple[SmallOps, SmallOps]
    short_ops: tuple[ShortOps, ShortOps]
    tau: Quantity
    cache_size: Quantity
    peaks: tuple[Quantity, Quantity]
    roofs: tuple[Roofs, Roofs]
    fusion: Fusion
    ledger: Ledger
    ranks: RankPair | None
    diagnostics: tuple[Diagnostic, ...]
    given: tuple[Side, Side]
    assumptions: Assumptions
    explained: Explanation | None = None  # where the verdict or a doubt rests on it

    @property
    def has_changes(self) -> bool:
        """False where the times of both sides are not of the same runs, or not of the same work: no
        table has a change."""
        return self.verdict.reason != "runs_unknown" and not self.is_of_other_work

    @property
    def is_of_other_work(self) -> bool:
        """True where so little joins that these are two models or ranks with other work, or where
        the files are of two phases of serving: nothing was fused or missed."""
        return self.verdict.reason in OTHER_WORK

    @cached_property
    def explanation(self) -> Explanation | None:
        """What changed from trace to trace; None of recordings of a model, whose groups are proven,
        and of a side of several files."""
        found = self.explained or explanation_of(self.baseline, self.candidate, self.ranks)
        if found is not None and self.verdict.of in ("command_wall", "command_printed"):
            return replace(found, unit=replace(found.unit, of_other_runs=True))
        if found is None or self.verdict.of != "unprofiled_wall":
            return found
        return replace(found, unit=replace(found.unit, unprofiled_ns=self.verdict.times_ns))

    @property
    def is_explained(self) -> bool:
        """True where what changed is told kernel by kernel, while no group is proven: then changes
        take the place of groups."""
        found = self.explanation
        if found is None or found.outcome not in ("changed", "clock") or not found.changes:
            return False
        return all(group.known_by in UNPROVEN for group in self.fusion.groups)

    def figure(self, code: str) -> Figure:
        """The figure with that code; KeyError when there is none."""
        for figure in self.figures:
            if figure.code == code:
                return figure
        raise KeyError(code)


def explanation_of(baseline: Side, candidate: Side, ranks: RankPair | None) -> Explanation | None:
    """Return what changed from trace to trace, as `Comparison.explanation`."""
    if any(side.has_model or side.files for side in (baseline, candidate)):
        return None
    from fusescope.analysis.compare.explanation import explain  # a third of what a comparison loads

    return explain(baseline.trace, candidate.trace, ranks)
