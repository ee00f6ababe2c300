"""The way from the baseline's time to the candidate's, step by step, as a still picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fusescope.analysis import units
from fusescope.analysis.axis import Tick, bars_start, time_ticks, time_ticks_between
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.messages import Message
from fusescope.analysis.report.text import signed_duration, unbroken
from fusescope.analysis.wording.explanation.waterfall import steps_of
from fusescope.analysis.wording.waterfall import Step, StepKind, ends_ns

_START = Message("the axis begins at {start:duration}")


@dataclass(frozen=True)
class Bar:
    """One step: `left` and `width` are fractions of the axis, `end` is where the next one starts.

    `kind` as in analysis.wording.waterfall.
    """

    label: str
    note: str
    text: str
    kind: StepKind
    left: float
    width: float
    end: float


@dataclass(frozen=True)
class Waterfall:
    """Bars from one time to another; ticks are fractions of the axis. `start` says where the axis
    begins that cuts both totals, '' where it begins at 0."""

    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    start: str = ""


def waterfall(comparison: Comparison) -> Waterfall | None:
    """The picture; None where the change of the time or the groups are not known."""
    steps = steps_of(comparison)
    return falling(steps) if steps else None


def falling(steps: Sequence[Step]) -> Waterfall:
    """The picture of steps from a total to another one."""
    ends = ends_ns(steps)
    start = bars_start(ends)
    low, high = start or min(0, *ends), max(1, *ends)

    def at(ns: float) -> float:
        return max(0.0, (ns - low) / (high - low))

    if start:
        ticks = time_ticks_between(start, high)
    else:
        ticks = tuple(Tick(at(tick.at * high), tick.text) for tick in time_ticks(high))
    bars = (
        _bar(step, at(end - step.value_ns), at(end)) for step, end in zip(steps, ends, strict=True)
    )
    return Waterfall(tuple(bars), ticks, _START.text(start=start) if start else "")


def _bar(step: Step, start: float, end: float) -> Bar:
    text = units.duration if step.kind == "total" else signed_duration
    return Bar(
        label=step.label,
        # Notes of patterns are names: their hyphens stay.
        note=unbroken(step.note) if step.kind == "term" else step.note,
        text=text(step.value_ns),
        kind=step.kind,
        left=min(start, end),
        width=abs(end - start),
        end=end,
    )
