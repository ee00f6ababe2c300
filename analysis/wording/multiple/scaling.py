"""Scaling over batch sizes and threads: what the figures are of, and what speaks against them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from fusescope.analysis import units
from fusescope.analysis.compare.multiple.scaling import Estimated, Scaling, ScalingPoint
from fusescope.analysis.messages import Message, listed, paragraph, say
from fusescope.analysis.units import Column

Measure = Literal[
    "latency", "throughput", "speedup", "efficiency", "batch_gain", "small_op_ratio"
]  # fmt: skip
SCALING_TITLE = Message("Scaling of {model:name}")
LABELS: Mapping[Measure, Message] = {
    "latency": Message("latency"),
    "throughput": Message("throughput"),
    "speedup": Message("speedup by threads"),
    "efficiency": Message("parallel efficiency"),
    "batch_gain": Message("gain by batch"),
    "small_op_ratio": Message("small-op ratio (time)"),
}
HELPS: Mapping[Measure, Message] = {
    "latency": Message("Un-profiled wall time of a run: trimmed mean over blocks. Measured."),
    "throughput": Message(
        "Batch size / latency; of an unknown batch size runs per second. Measured."
    ),
    "speedup": Message(
        "Latency with the fewest threads of the same batch size / this latency. Measured."
    ),
    "efficiency": Message(
        "Speedup by threads / how many times as many threads; 100 % is perfect. Measured."
    ),
    "batch_gain": Message(
        "Throughput / that of the smallest batch with the same threads; 1 means that a larger "
        "batch brings nothing. Measured."
    ),
    "small_op_ratio": Message(
        "Time in light operators / time in all operators. Measured, from the profile."
    ),
}
SCALING_BASIS = Message(
    "All figures are measured, each with its 95 % interval over blocks; the small-op ratio is from "
    "the profile and has none. Parallel efficiency: latency with the fewest threads of the same "
    "batch size / (this latency × how many times as many threads). Gain by batch: throughput / "
    "that of the smallest batch with the same threads. Latency is of the variant by itself; where "
    "variants of one file are compared it is the baseline's × their paired ratio, so the two can "
    "differ a little."
)
# What two recordings of the same graph may differ by, as in the verdict.
_APART = 0.12
_CLOSE_THROUGHPUT = Message(
    "Throughput with {settings} is within the {apart:percent} by which two recordings of the same "
    "graph can differ."
)
_CLOSE_RUN = Message(
    "A run with {settings} is within the {apart:percent} by which two recordings of the same graph "
    "can differ."
)
APART = Message(
    "Every setting is a recording of its own: neither machine nor drift is controlled between "
    "them, and two recordings of the same graph, made one after the other, can differ by 12 %."
)
_MACHINES = Message("They were recorded on several machines, which do not compare: {names:name}.")
_ENGINES = Message("They were recorded with several engines: {names:name}.")
_REPEATED = Message(
    "{n:count} recording has the same setting as a newer one and is left out.",
    "{n:count} recordings have the same setting as a newer one and are left out.",
)
_OWN_THREADS = Message("Left out, because they set their own threads: {names:name}.")
_FEW = Message("Fewer than 5 blocks have no interval: {settings}.")
_FORMATS: Mapping[Measure, Callable[[float | None], str]] = {
    "latency": units.duration,
    "throughput": units.rate,
    "speedup": units.factor,
    "efficiency": units.percent,
    "batch_gain": units.factor,
    "small_op_ratio": units.percent,
}


def value_of(point: ScalingPoint, measure: Measure) -> float | None:
    """The value of a measure."""
    found: Estimated | float | None = getattr(point, measure)
    return found.value if isinstance(found, Estimated) else found


def column_of_points(points: Sequence[ScalingPoint], measure: Measure) -> Column | None:
    """Return the unit that a table gives the latencies of these points and their intervals; None of
    what has one unit in any case."""
    if measure != "latency":
        return None
    intervals = (point.latency.interval for point in points)
    bounds = [ns for found in intervals if found for ns in (found.low, found.high)]
    return units.column_of([*(point.latency.value for point in points), *bounds])


def value_text(point: ScalingPoint, measure: Measure, column: Column | None = None) -> str:
    """'4.91 ms', in the unit of the column; a dash where there is none."""
    shown = _FORMATS[measure] if column is None else column.at_least_three
    return shown(value_of(point, measure))


def interval_text(point: ScalingPoint, measure: Measure, column: Column | None = None) -> str:
    """'4.88 to 4.95 ms', in the unit of the column; '' without an interval."""
    found: Estimated | float | None = getattr(point, measure)
    if not isinstance(found, Estimated) or found.interval is None:
        return ""
    shown = _FORMATS[measure] if column is None else column.at_least_three
    low, high = shown(found.interval.low), shown(found.interval.high)
    unit = high.rpartition(" ")[2]
    if unit != high and low.endswith(f" {unit}"):
        low = low.removesuffix(f" {unit}")
    return say("{low} to {high}", low=low, high=high)


def batch_text(point: ScalingPoint) -> str:
    """'16'; a dash where the recording does not know it."""
    return units.count(point.batch)


def setting_text(point: ScalingPoint) -> str:
    """'batch size 4, 2 threads'."""
    if point.batch is None:
        return say("{threads:threads}", threads=point.threads)
    return say(
        "batch size {batch:count}, {threads:threads}", batch=point.batch, threads=point.threads
    )


def best_sentence(scaling: Scaling, variant: str) -> str:
    """Where a variant has its highest throughput and its shortest typical run."""
    points = scaling.of(variant)
    most = max(points, key=lambda point: point.throughput.value)
    shortest = min(points, key=lambda point: point.latency.value)
    fast = [one for one in points if most.throughput.value < (1 + _APART) * one.throughput.value]
    short = [one for one in points if one.latency.value < (1 + _APART) * shortest.latency.value]
    told = say(
        "{variant:name}: highest measured throughput {throughput:rate} with {most}, shortest "
        "typical run {latency:duration} with {shortest}.",
        variant=variant,
        most=setting_text(most),
        throughput=most.throughput.value,
        shortest=setting_text(shortest),
        latency=shortest.latency.value,
    )
    return paragraph(
        told, _close(_CLOSE_THROUGHPUT, fast, most), _close(_CLOSE_RUN, short, shortest)
    )


def _close(message: Message, points: Sequence[ScalingPoint], best: ScalingPoint) -> str:
    """Return which settings are not told apart from the best one; '' where none is close."""
    others = [setting_text(one) for one in points if one is not best]
    return message.text(settings=listed(others), apart=_APART) if others else ""


def doubt_lines(scaling: Scaling) -> tuple[str, ...]:
    """What the reader must know, the most serious first. Names come from files."""
    lines = []
    if len(scaling.machines) > 1:
        lines.append(_MACHINES.text(names=", ".join(scaling.machines)))
    if len(scaling.engines) > 1:
        lines.append(_ENGINES.text(names=", ".join(scaling.engines)))
    lines.append(APART.text())
    few = dict.fromkeys(setting_text(p) for p in scaling.points if p.latency.interval is None)
    if few:
        lines.append(_FEW.text(settings=listed(list(few))))
    if scaling.repeated:
        lines.append(_REPEATED.text(n=scaling.repeated))
    if scaling.threads_variants:
        lines.append(_OWN_THREADS.text(names=", ".join(scaling.threads_variants)))
    return tuple(lines)
