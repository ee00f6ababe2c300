"""Scaling: how one model's variants go with the batch size and the number of threads.

Every setting is a recording of its own, so ratios between settings are unpaired: Welch-type Yuen
over blocks, as for two separate files (timing/statistics.py), each interval at 95 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.compare.timing.latency import log_times
from fusescope.analysis.compare.timing.statistics import trimmed_mean, yuen, yuen_welch
from fusescope.analysis.compare.timing.verdict import SHOWN_ALPHA, Interval
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment, ExperimentRecord
from fusescope.analysis.metrics.small_ops import small_ops
from fusescope.analysis.text import clean_text


@dataclass(frozen=True)
class Estimated:
    """A measured value with its 95 % interval, None below 5 blocks."""

    value: float
    interval: Interval | None = None

    def times(self, factor: float) -> Estimated:
        """The value and its bounds × a factor above 0."""
        bounds = self.interval
        scaled = bounds and Interval(bounds.low * factor, bounds.high * factor)
        return Estimated(self.value * factor, scaled)

    def inverse(self, of: float) -> Estimated:
        """`of` / the value, and the bounds."""
        bounds = self.interval
        turned = bounds and Interval(of / bounds.high, of / bounds.low)
        return Estimated(of / self.value, turned)


@dataclass(frozen=True)
class ScalingPoint:
    """One variant at one setting. `latency` in ns, `throughput` in samples/s.

    `speedup` is the time with the fewest threads of the same batch size / this one, `efficiency`
    that / the factor of threads. `batch_gain` is the throughput / that of the smallest batch with
    the same threads, `batch` None where the recording does not know it. None for the settings that
    they start from. `small_op_ratio` is that of the time, from the profile.
    """

    variant: str
    batch: int | None
    threads: int
    file: str
    blocks: int
    latency: Estimated
    throughput: Estimated
    small_op_ratio: float | None
    speedup: Estimated | None
    efficiency: Estimated | None
    batch_gain: Estimated | None


@dataclass(frozen=True)
class Scaling:
    """Points by variant, batch and threads. `machines` and `engines` are all that recorded them;
    more than one each do not compare. `repeated` counts recordings left out because a newer one has
    the same setting, `threads_variants` names variants left out because they set their own."""

    model: str
    points: tuple[ScalingPoint, ...]
    machines: tuple[str, ...]
    engines: tuple[str, ...]
    repeated: int
    threads_variants: tuple[str, ...]

    @property
    def variants(self) -> tuple[str, ...]:
        """Names in the order of the recordings."""
        return tuple(dict.fromkeys(point.variant for point in self.points))

    def of(self, variant: str) -> tuple[ScalingPoint, ...]:
        """The points of one variant."""
        return tuple(point for point in self.points if point.variant == variant)


def model_key(record: ExperimentRecord) -> tuple[str, str]:
    """What tells models apart at any batch size: a model of the zoo is built for it, so its bytes
    differ; a file stays the same."""
    model = record.model
    return model.source, model.name if model.source == "zoo" else model.sha256


def setting(record: ExperimentRecord) -> tuple[int | None, int]:
    """Batch size and threads."""
    return record.model.batch, record.settings.threads


def scaling(experiments: Sequence[Experiment]) -> Scaling:
    """The scaling of one model. Raises FuseScopeError where the experiments are of several models,
    or all of one setting."""
    models = dict.fromkeys(model_key(one.record) for one in experiments)
    if len(models) > 1:
        names = dict.fromkeys(clean_text(one.record.model.name, 60) for one in experiments)
        raise FuseScopeError("scaling_of_several_models", models=", ".join(names))
    newest: dict[tuple[int | None, int], Experiment] = {}
    for one in sorted(experiments, key=lambda one: one.record.created):
        newest[setting(one.record)] = one
    if len(newest) < 2:
        raise FuseScopeError("scaling_of_one_setting")
    chosen = [newest[key] for key in sorted(newest, key=lambda key: (key[0] or 0, key[1]))]
    records = [one.record for one in chosen]
    names = dict.fromkeys(name for one in chosen for name in one.traces)
    own = tuple(name for name in names if name.startswith("threads:"))
    return Scaling(
        model=records[0].model.name,
        points=tuple(p for name in names if name not in own for p in _points(name, chosen)),
        machines=tuple(dict.fromkeys(record.machine.cpu_model for record in records)),
        engines=tuple(
            dict.fromkeys(f"{of.name} {of.version}" for record in records for of in record.engines)
        ),
        repeated=len(experiments) - len(newest),
        threads_variants=own,
    )


def _points(variant: str, experiments: Sequence[Experiment]) -> Iterator[ScalingPoint]:
    times = {
        setting(one.record): (one, _times(one, variant))
        for one in experiments
        if variant in one.traces
    }
    times = {key: found for key, found in times.items() if len(found[1])}
    for (batch, threads), (one, logs) in times.items():
        fewest = min(other for size, other in times if size == batch)
        smallest = min((size for size, other in times if other == threads), key=lambda n: n or 0)
        speedup = gain = None
        if threads > fewest:
            speedup = _ratio(times[batch, fewest][1], logs)
        if batch is not None and smallest is not None and batch > smallest:
            gain = _ratio(times[smallest, threads][1], logs).times(batch / smallest)
        latency = _latency(logs)
        trace = one.traces[variant]
        small = small_ops(trace)
        yield ScalingPoint(
            variant=variant,
            batch=batch,
            threads=threads,
            file=one.file_name,
            blocks=len(logs),
            latency=latency,
            throughput=latency.inverse((batch or 1) * 1e9),
            small_op_ratio=None if small.mostly_unknown else small.time,
            speedup=speedup,
            efficiency=speedup and speedup.times(fewest / threads),
            batch_gain=gain,
        )


def _times(experiment: Experiment, variant: str) -> np.ndarray:
    return log_times(side_of_variant(experiment, variant).trace, "unprofiled_wall")


def _latency(logs: np.ndarray) -> Estimated:
    """exp of the trimmed mean of ln(seconds), in ns."""
    estimate = yuen(logs)
    interval = None
    if estimate is not None:
        interval = Interval(*(math.exp(bound) for bound in estimate.interval(SHOWN_ALPHA)))
    return Estimated(math.exp(trimmed_mean(logs)), interval).times(1e9)


def _ratio(before: np.ndarray, after: np.ndarray) -> Estimated:
    """Time of `before` / time of `after`."""
    estimate = yuen_welch(before, after)
    interval = None
    if estimate is not None:
        low, high = estimate.interval(SHOWN_ALPHA)
        interval = Interval(math.exp(-high), math.exp(-low))
    return Estimated(math.exp(trimmed_mean(before) - trimmed_mean(after)), interval)
