"""The figures of a comparison: baseline -> candidate -> change, each with its basis."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.compare.assumptions import Assumptions, cache_size, peak
from analysis.compare.comparison import Figure, Side
from analysis.compare.latency import has_runs, profiler_inflation, typical_cpu_ns, typical_ns
from analysis.compare.verdict import Verdict
from analysis.metrics.cache_use import CacheUse, cache_use
from analysis.metrics.small_ops import ShortOps, SmallOps
from analysis.metrics.spans import run_spans
from analysis.metrics.traffic import bytes_moved
from analysis.metrics.utilisation import model_flops, utilisation
from analysis.quantity import Basis, Quantity

Pair = tuple[Quantity, Quantity]


def figures(
    baseline: Side,
    candidate: Side,
    verdict: Verdict,
    small: tuple[SmallOps, SmallOps],
    short: tuple[ShortOps, ShortOps],
    assumptions: Assumptions,
) -> tuple[Figure, ...]:
    """All figures in the order in which they are shown; codes are explained in analysis/wording."""
    sides = (baseline, candidate)
    # Beside single runs the time of a file that does not mark its runs is no latency.
    known = [verdict.reason != "runs_unknown" or has_runs(side.trace) for side in sides]
    per_run_reason = "no_times" if all(known) else "runs_unknown"
    latency = _pair(
        _where(known, [typical_ns(side.trace, verdict.of) for side in sides]), "ns", per_run_reason
    )
    batches = [_batch(side) for side in sides]
    rates = [
        None if time.value is None else batch * 1e9 / time.value
        for time, batch in zip(latency, batches, strict=True)
    ]
    same_batch = batches[0] == batches[1]
    throughput_change = verdict.throughput_change if same_batch else None
    gaps = [_mean_gap(side) for side in sides]
    return (
        Figure("latency", *latency, paired_change=verdict.latency_change),
        Figure("throughput", *_pair(rates, "1/s", per_run_reason), paired_change=throughput_change),
        Figure(
            "cpu_time",
            *_pair([typical_cpu_ns(side.trace) for side in sides], "ns", "not_recorded"),
        ),
        Figure("small_op_time", *_fractions([s.time for s in small]), kind="points"),
        Figure("small_op_count", *_fractions([s.count for s in small]), kind="points"),
        Figure(
            "light_time",
            *_pair(_where(known, [s.light_ns for s in small]), "ns", per_run_reason),
        ),
        Figure(
            "light_count",
            *_pair(_where(known, [s.light_count for s in small]), "count", per_run_reason),
        ),
        Figure("short_op_time", *_fractions([s.time for s in short]), kind="points"),
        Figure("short_op_count", *_fractions([s.count for s in short]), kind="points"),
        _utilisation(sides, latency, assumptions),
        *_cache_figures(sides, known, assumptions),
        Figure("memory", *_memory(baseline), *_memory(candidate)),
        _output_difference(baseline, candidate),
        Figure("dispatch_gap", *_pair(gaps, "ns", "no_start_times")),
        Figure(
            "profiler_inflation",
            *_pair([profiler_inflation(side.trace) for side in sides], "factor", "no_samples"),
            kind="none",
        ),
    )


def _where(known: Sequence[bool], values: Sequence[float | None]) -> list[float | None]:
    return [value if is_known else None for is_known, value in zip(known, values, strict=True)]


def _pair(
    values: list[float | None], unit: str, reason: str, basis: Basis = "measured"
) -> tuple[Quantity, Quantity]:
    first, second = (
        Quantity(value, unit, basis, None if value is not None else reason) for value in values
    )
    return first, second


def _fractions(values: list[float | None]) -> tuple[Quantity, Quantity]:
    return _pair(values, "fraction", "no_times")


def _batch(side: Side) -> int:
    batch = side.experiment.record.model.batch if side.experiment else None
    return batch or 1


def _mean_gap(side: Side) -> float | None:
    gaps = run_spans(side.trace)["gap_ns"].dropna()
    has_runs = bool((side.trace.profiled_runs["kind"] != "file").any())
    return float(gaps.mean()) if len(gaps) and has_runs else None


def _utilisation(sides: tuple[Side, Side], latency: Pair, assumptions: Assumptions) -> Figure:
    """FLOPs of the model / (latency x peak): the same FLOPs for fused and unfused."""
    values = []
    for side, time in zip(sides, latency, strict=True):
        flops, reason = model_flops(side.trace)
        top = peak(assumptions, side)
        value = utilisation(flops, time.value, top.value)
        values.append(
            Quantity(value, "fraction", "modelled", None if value else reason or top.reason)
        )
    return Figure("compute_utilisation", values[0], values[1], kind="points")


def _cache_figures(
    sides: tuple[Side, Side], known: Sequence[bool], assumptions: Assumptions
) -> tuple[Figure, ...]:
    size = cache_size(assumptions, *sides)
    uses = [
        cache_use(side.graph, int(size.value or 0)) if side.graph is not None else None
        for side in sides
    ]

    def quantities(unit: str, pick: str) -> Pair:
        quantities = [
            Quantity(value, unit, "modelled", reason)
            for use in uses
            for value in [_number(use, pick)]
            for reason in ["no_graph" if use is None else "no_misses" if value is None else None]
        ]
        return quantities[0], quantities[1]

    moved = [
        float(use.touched_bytes) if use is not None else bytes_moved(side.trace)
        for use, side in zip(uses, sides, strict=True)
    ]
    return (
        Figure("bytes_moved", *_pair(_where(known, moved), "bytes", "no_sizes", "modelled")),
        Figure("cache_missed_bytes", *quantities("bytes", "missed_bytes")),
        Figure("cache_utilisation", *quantities("fraction", "utilisation"), kind="points"),
        Figure("cache_hit_ratio", *quantities("fraction", "hit_ratio"), kind="points"),
        Figure("intermediate_bytes", *quantities("bytes", "intermediate_bytes")),
    )


def _number(use: CacheUse | None, field: str) -> float | None:
    value = getattr(use, field) if use is not None else None
    return None if value is None else float(value)


def _memory(side: Side) -> tuple[Quantity]:
    value = side.variant.peak_memory_bytes if side.variant else None
    reason = None if value is not None else "not_recorded"
    return (Quantity(None if value is None else float(value), "bytes", "measured", reason),)


def _output_difference(baseline: Side, candidate: Side) -> Figure:
    """Relative difference of outputs; only known against the recording's own baseline."""
    values = []
    for side in (baseline, candidate):
        difference = side.variant.output_difference if side.variant else None
        value = difference.relative if difference else None
        if side.experiment and side.label == side.experiment.record.settings.baseline:
            value = 0.0
        values.append(
            Quantity(value, "number", "measured", None if value is not None else "not_recorded")
        )
    return Figure("output_difference", values[0], values[1], kind="none")
