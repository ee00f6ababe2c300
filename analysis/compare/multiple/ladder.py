"""Ladder: what each step between the variants of an engine brings, from the first rung to the last.

Steps have to add up to the whole, and trimmed means of the ratios of neighbours do not. So each
rung's time is that which the page shows of it: the baseline's × their ratio, which is paired inside
blocks. A step is the difference of two such times, and its interval that of the difference of their
trimmed means (statistics.yuen_between): from or to the baseline, it is the interval of the verdict.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.multiple.rungs import RUNGS, StepCode
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.latency import are_paired
from fusescope.analysis.compare.timing.samples import record_times
from fusescope.analysis.compare.timing.statistics import trimmed_mean, yuen_between
from fusescope.analysis.compare.timing.verdict import VerdictOutcome, paired_verdict
from fusescope.analysis.experiment import ExperimentRecord

if TYPE_CHECKING:
    from fusescope.analysis.compare.multiple.comparison import MultipleComparison

MIN_RUNGS = 3
Noise = Literal["known", "unknown", "control_differs"]


class Gain(msgspec.Struct, frozen=True):
    """Time per run that is saved, in whole ns: below 0 it is lost. `low` <= `value` <= `high`, None
    below 5 blocks."""

    value: int
    low: int | None
    high: int | None


class Rung(msgspec.Struct, frozen=True):
    """A variant and its typical un-profiled time."""

    variant: str
    time_ns: int


class LadderStep(msgspec.Struct, frozen=True):
    """From the rung `before` to `after`. `outcome` is whether its interval is above or below 0;
    `direct` is that of the verdict on these two alone, which does not go by way of the baseline
    and may differ where either is close."""

    code: StepCode
    before: Rung
    after: Rung
    gain: Gain
    outcome: VerdictOutcome
    direct: VerdictOutcome


class Ladder(msgspec.Struct, frozen=True):
    """Steps between neighbours; their gains add up to `total`, to the ns.

    `baseline` is the variant that all are paired with. Intervals are at 1 - `alpha`, the verdict's
    level in this recording: those of all steps hold together at 95 %. `whole` is what all steps
    together are called, '' where that is the name of the last rung. `direct` is the verdict on the
    first and the last rung alone.
    """

    steps: tuple[LadderStep, ...]
    total: Gain
    outcome: VerdictOutcome
    direct: VerdictOutcome
    baseline: str
    alpha: float
    blocks: int
    noise: Noise
    whole: str

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """The first one, and where each step leads to."""
        return (self.first, *(step.after for step in self.steps))

    @property
    def first(self) -> Rung:
        """Where it begins."""
        return self.steps[0].before

    @property
    def last(self) -> Rung:
        """Where it ends."""
        return self.steps[-1].after


def ladder_of(compared: Comparison | MultipleComparison) -> Ladder | None:
    """The ladder between the lowest and the highest rung that are compared, through all recorded
    between them; None where these are not two steps or more of one recording and one engine."""
    sides: tuple[Side, ...]
    if isinstance(compared, Comparison):
        sides = (compared.baseline, compared.candidate)
    else:
        sides = compared.sides
    first = sides[0]
    if first.experiment is None or first.variant is None:
        return None
    own = [side for side in sides if are_paired(first, side) and side.variant is not None]
    names = [side.variant.name for side in own if side.variant is not None]
    return ladder(first.experiment.record, names) if len(own) == len(sides) else None


def ladder(record: ExperimentRecord, compared: list[str]) -> Ladder | None:
    """`ladder_of` variants of one recording by name, the baseline of the comparison first."""
    environments = {record.environment_of(name) for name in compared}
    engine = record.engine_of(compared[0]).name
    rungs = RUNGS.get(engine) if len(environments) == 1 else None
    if rungs is None:
        return None
    times = _Times(record, compared[0])
    of_engine = [name for name in times.centres if record.environment_of(name) in environments]
    rung = {record.own_name(name): name for name in of_engine}
    recorded = [rung[name] for name in rungs.variants if name in rung]
    at = [recorded.index(name) for name in compared if name in recorded]
    names = recorded[min(at) : max(at) + 1] if at else []
    if len(names) < MIN_RUNGS:
        return None
    of = {name: Rung(name, times.whole_ns(name)) for name in names}
    steps = []
    for before, after in pairwise(names):
        gain = times.gain(before, after)
        steps.append(
            LadderStep(
                code=rungs.steps[record.own_name(before), record.own_name(after)],
                before=of[before],
                after=of[after],
                gain=gain,
                outcome=times.outcome(gain),
                direct=paired_verdict(record, before, after).outcome,
            )
        )
    total = times.gain(names[0], names[-1])
    ends = (record.own_name(names[0]), record.own_name(names[-1]))
    is_whole = ends == (rungs.variants[0], rungs.variants[-1])
    return Ladder(
        steps=tuple(steps),
        total=total,
        outcome=times.outcome(total),
        direct=paired_verdict(record, names[0], names[-1]).outcome,
        baseline=compared[0],
        alpha=times.alpha,
        blocks=len(times.common(names[0], names[-1])),
        noise=times.noise if total.low is not None else "unknown",
        whole=rungs.whole if is_whole else "",
    )


class _Times:
    """Times of one recording, each by way of the baseline: `centres` are the trimmed means of
    ln(time / time of the baseline) of those variants that have any."""

    def __init__(self, record: ExperimentRecord, baseline: str) -> None:
        own = record_times(record.variant(baseline)).mean
        self._baseline_log = trimmed_mean(own.to_numpy(dtype=float))
        self._ratios: dict[str, pd.Series] = {}
        for variant in record.variants:
            found = (record_times(variant).mean - own).dropna()
            if len(found):
                self._ratios[variant.name] = found
        self.centres = {
            name: trimmed_mean(found.to_numpy(dtype=float)) for name, found in self._ratios.items()
        }
        verdict = paired_verdict(record, baseline, baseline)
        self.alpha = verdict.alpha
        self.noise: Noise = "control_differs" if verdict.reason == "control_differs" else "known"

    def ns(self, name: str) -> float:
        """As `Verdict.times_ns` has it."""
        return math.exp(self._baseline_log + self.centres[name]) * 1e9

    def whole_ns(self, name: str) -> int:
        return round(self.ns(name))

    def common(self, *names: str) -> pd.Index:
        """Blocks that all of these have, and the baseline."""
        blocks = self._ratios[names[0]].index
        for name in names[1:]:
            blocks = blocks.intersection(self._ratios[name].index)
        return blocks

    def gain(self, before: str, after: str) -> Gain:
        """Of whole times, so that gains add up. The bounds are those of the ratio × the time
        before."""
        value = self.whole_ns(before) - self.whole_ns(after)
        blocks = self.common(before, after)
        one, other = (
            self._ratios[name].loc[blocks].to_numpy(dtype=float) for name in (before, after)
        )
        estimate = yuen_between(one, other)
        if estimate is None:
            return Gain(value, None, None)
        half_width = estimate.interval(self.alpha)[1] - estimate.mean
        change = self.centres[after] - self.centres[before]
        low, high = (
            -self.ns(before) * _expm1(change + bound) for bound in (half_width, -half_width)
        )
        return Gain(value, min(value, round(low)), max(value, round(high)))

    def outcome(self, gain: Gain) -> VerdictOutcome:
        """What the interval says, where the two copies of the baseline agree."""
        if gain.low is None or gain.high is None:
            return "noise_unknown"
        if self.noise == "control_differs" or gain.low <= 0 <= gain.high:
            return "cannot_tell"
        return "faster" if gain.low > 0 else "slower"


def _expm1(change: float) -> float:
    """exp - 1 of a bound that few blocks may put anywhere."""
    return float(np.expm1(np.clip(change, -50.0, 50.0)))
