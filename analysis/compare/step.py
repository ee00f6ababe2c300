"""What a run's change of time went to: computing, communication, copies, or idle time."""

from __future__ import annotations

from typing import Literal

import msgspec

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import Side
from fusescope.analysis.metrics.step import NoStep, StepParts, mean_step, step_of, why_no_step

StepPart = Literal["computing", "communication", "copies", "idle"]
PARTS: tuple[StepPart, ...] = ("computing", "communication", "copies", "idle")
_MOSTLY_PROFILER = 2.0  # the change as profiled over that without the profiler


class StepChange(msgspec.Struct, frozen=True):
    """Candidate - baseline in ns: of the whole run as profiled, and of each part that a side has;
    `leading` is the part that changed most in the direction of the whole."""

    whole_ns: int
    parts: dict[StepPart, int]
    leading: StepPart

    @property
    def share(self) -> float:
        """The leading part's change / that of the whole; above 1 where others took some back."""
        return self.parts[self.leading] / self.whole_ns


def part_ns(step: StepParts, part: StepPart) -> int:
    """Time of one part of a run in ns."""
    found: int = getattr(step, f"{part}_ns")
    return found


def parts_of(side: Side) -> StepParts | None:
    """The mean run of a side in parts; None where its file does not tell them."""
    return mean_step(side.trace)


def why_no_parts(side: Side) -> NoStep | None:
    """Why `parts_of` has nothing for a side; None where it has."""
    return why_no_step(side.trace)


def steps(comparison: Comparison) -> tuple[StepParts | None, StepParts | None]:
    """The run of each side that timelines show in parts; None where its file does not tell them."""
    return step_of(comparison.baseline.trace), step_of(comparison.candidate.trace)


def mean_steps(comparison: Comparison) -> tuple[StepParts | None, StepParts | None]:
    """The mean run of each side in parts; None where its file does not tell them."""
    return parts_of(comparison.baseline), parts_of(comparison.candidate)


def step_change(
    comparison: Comparison, between: tuple[StepParts | None, StepParts | None] | None = None
) -> StepChange | None:
    """What the change of the mean runs, or that `between` two given ones, went to.

    None where the verdict names no change, and where the runs as profiled do not change the same
    way, or more than twice as much as without the profiler: then most of it is the profiler's.
    """
    before, after = mean_steps(comparison) if between is None else between
    outcome = comparison.verdict.outcome
    if before is None or after is None:
        return None
    whole_ns = after.span_ns - before.span_ns
    if not comparison.has_changes or outcome not in ("faster", "slower"):
        return None
    if whole_ns == 0 or (whole_ns < 0) != (outcome == "faster"):
        return None
    total = comparison.ledger.reconciliation
    measured_ns = total.delta_ns if total.of == "unprofiled_wall" else None
    if measured_ns is not None and abs(whole_ns) > _MOSTLY_PROFILER * abs(measured_ns):
        return None
    parts = {
        part: part_ns(after, part) - part_ns(before, part)
        for part in PARTS
        if part_ns(after, part) or part_ns(before, part)
    }
    leading = max(parts, key=lambda part: parts[part] / whole_ns)
    return StepChange(whole_ns, parts, leading)
