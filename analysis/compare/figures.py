"""The figures of a comparison: baseline -> candidate -> change, each with its basis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from fusescope.analysis.compare.comparison import ChangeKind, CounterCode, Figure, FigureCode
from fusescope.analysis.compare.roofs import UnderRoofs
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.single import unprofiled_ns
from fusescope.analysis.compare.timing.latency import (
    are_of_mean_runs,
    leading_ns,
    mixes_runs,
    profiler_inflation,
    typical_cpu_ns,
    typical_ns,
)
from fusescope.analysis.compare.timing.verdict import TIMED, Verdict
from fusescope.analysis.metrics.cache_use import CacheUse, cache_use, compiled_nodes
from fusescope.analysis.metrics.counters import (
    MEASURES,
    OF_CORES,
    counted_flops,
    has_split_cores,
    total_counters,
)
from fusescope.analysis.metrics.device import DeviceUse, device_use
from fusescope.analysis.metrics.roofline import share_of_roof
from fusescope.analysis.metrics.small_ops import ShortOps, SmallOps
from fusescope.analysis.metrics.spans import lacks_kernels, run_spans
from fusescope.analysis.metrics.traffic import bytes_moved
from fusescope.analysis.metrics.utilisation import (
    counted_utilisation,
    heavy_operators,
    time_at_peak_ns,
    utilisation,
    why_no_heavy,
)
from fusescope.analysis.quantity import Basis, Quantity, Reason, ratio
from fusescope.analysis.trace import UNIT_RUNS, Trace

Pair = tuple[Quantity, Quantity]
_PAUSES = 0.01  # of the time from the first run to the last, beside them
# Of whole runs, and of the process that makes them.
OF_RUNS = ("latency", "throughput", "cpu_time", "compute_utilisation", "memory")
# Times, and what follows from them: counts and sizes are as they are whatever runs differ by.
OF_TIMES = (
    "latency", "throughput", "cpu_time", "device_busy", "device_idle", "dispatch_gap",
    "light_time", "launch_time", "copy_time", "small_op_time", "short_op_time",
    "compute_utilisation", "operator_utilisation", "roofline_share", "cache_utilisation",
)  # fmt: skip
# Of traces with kernels of a device; launch time and copies only where there are any.
DEVICE_FIGURES = (
    "kernels", "device_busy", "device_idle", "launches", "launch_time", "copies", "copy_time",
)  # fmt: skip

# Of measures that are no counters of the device: why there is none.
_NO_COUNTER: Mapping[str, Reason] = {
    "occupancy": "not_recorded",
    "copy_bandwidth": "no_large_copies",
}


def figures(
    baseline: Side,
    candidate: Side,
    verdict: Verdict,
    small: tuple[SmallOps, SmallOps],
    short: tuple[ShortOps, ShortOps],
    under: tuple[UnderRoofs, UnderRoofs],
    cache: Quantity,
) -> tuple[Figure, ...]:
    """All figures in the order in which they are shown; codes are explained in analysis/wording.

    `under` are the operators of both sides under their roofs, `cache` the size of the modelled one.
    """
    sides = (baseline, candidate)
    # Beside single runs the time of a file that does not mark its runs is not a latency.
    mixed = mixes_runs(baseline, candidate)
    known = [not mixed or side.trace.has_runs for side in sides]
    per_run_reason: Reason = "no_times" if all(known) else "runs_unknown"
    latency = _pair(_where(known, _latencies(sides, verdict)), "ns", per_run_reason)
    batches = [_batch(side) for side in sides]
    # A file that does not mark its runs may hold any number of them.
    counted = [
        is_known and (verdict.of in TIMED or side.trace.has_runs)
        for is_known, side in zip(known, sides, strict=True)
    ]
    rates = _where(
        counted,
        [
            None if time.value is None else batch * 1e9 / time.value
            for time, batch in zip(latency, batches, strict=True)
        ],
    )
    rate_reason: Reason = "no_times" if all(counted) else "runs_unknown"
    return (
        Figure("latency", *latency),
        Figure("throughput", *_without_pauses(_pair(rates, "1/s", rate_reason), sides)),
        Figure(
            "cpu_time",
            *_pair([typical_cpu_ns(side.trace) for side in sides], "ns", "not_recorded"),
        ),
        *_small_figures(small, known),
        Figure("short_op_time", *_fractions([s.time for s in short]), kind="points"),
        Figure("short_op_count", *_fractions([s.count for s in short]), kind="points"),
        *_device_figures(sides, known),
        _utilisation(sides, latency, under),
        *_operator_figures(sides, under),
        *_cache_figures(sides, known, cache),
        Figure("memory", *_memory(baseline), *_memory(candidate)),
        _output_difference(baseline, candidate),
        *_agreement(baseline, candidate),
        Figure("dispatch_gap", *_gaps(sides)),
        Figure(
            "profiler_inflation",
            *_pair(
                [profiler_inflation(side.trace) for side in sides],
                "factor",
                "no_samples" if sides[0].variant is None or sides[0].has_model else "other_runs",
            ),
            kind="none",
        ),
        *_counter_figures(sides),
    )


def _small_figures(small: tuple[SmallOps, SmallOps], known: Sequence[bool]) -> tuple[Figure, ...]:
    """How much of it is light work; nothing of a side whose classes are mostly unknown."""
    classed = [not one.mostly_unknown for one in small]

    def pair(pick: str, unit: str, told: Sequence[bool]) -> Pair:
        values = []
        for one, is_classed, is_told in zip(small, classed, told, strict=True):
            reason: Reason | None = (
                "runs_unknown" if not is_told else None if is_classed else "classes_unknown"
            )
            value = None if reason else getattr(one, pick)
            reason = reason or (None if value is not None else "no_times")
            values.append(Quantity(value, unit, "measured", reason))
        return values[0], values[1]

    always = (True, True)
    return (
        Figure("small_op_time", *pair("time", "fraction", always), kind="points"),
        Figure("small_op_count", *pair("count", "fraction", always), kind="points"),
        Figure("light_time", *pair("light_ns", "ns", known)),
        Figure("light_count", *pair("light_count", "count", known)),
    )


def _device_figures(sides: tuple[Side, Side], known: Sequence[bool]) -> tuple[Figure, ...]:
    """What the devices did in a run; nothing where neither file has kernels of one."""
    uses = [device_use(side.trace) for side in sides]
    if uses == [None, None]:
        return ()

    def pair(pick: str, unit: str, reason: Reason) -> Pair:
        shown = _where(known, [getattr(use, pick, None) for use in uses])
        reason = reason if all(known) else "runs_unknown"
        first, second = (
            _quantity(
                value,
                unit,
                "no_kernels"
                if use is None
                else "runs_unknown"
                if reason == "no_idle" and not side.trace.has_runs
                else reason,
            )
            for value, use, side in zip(shown, uses, sides, strict=True)
        )
        return first, second

    found = [use for use in uses if use is not None]
    shown = [
        Figure("kernels", *pair("kernels", "count", "no_kernels")),
        Figure("device_busy", *pair("busy_ns", "ns", "no_start_times")),
        Figure("device_idle", *pair("idle", "fraction", "no_idle"), kind="points"),
        Figure("launches", *pair("launches", "count", "no_launches")),
    ]
    if any(use.launch_ns is not None for use in found):
        shown.append(Figure("launch_time", *_launch_times(uses, pair)))
    if any(use.copies for use in found):
        shown.append(Figure("copies", *pair("copies", "count", "no_kernels")))
        shown.append(Figure("copy_time", *pair("copy_ns", "ns", "no_kernels")))
    return tuple(shown)


def _launch_times(
    uses: Sequence[DeviceUse | None], pair: Callable[[str, str, Reason], Pair]
) -> Pair:
    """Return the host's time in calls that launch; a file may have the calls without their ends."""
    first, second = (
        replace(quantity, reason="no_launch_times")
        if use is not None and use.launches is not None and quantity.reason == "no_launches"
        else quantity
        for quantity, use in zip(pair("launch_ns", "ns", "no_launches"), uses, strict=True)
    )
    return first, second


def _latencies(sides: tuple[Side, Side], verdict: Verdict) -> list[float | None]:
    """The times whose ratio the verdict's speedup is; those of each side without a verdict."""
    if verdict.times_ns is not None:
        return list(verdict.times_ns)
    if verdict.of in TIMED:
        return [unprofiled_ns(side) for side in sides]
    if are_of_mean_runs(*(side.trace for side in sides)):
        return [leading_ns(side.trace, verdict.of) for side in sides]
    return [typical_ns(side.trace, verdict.of) for side in sides]


def _without_pauses(rates: Pair, sides: tuple[Side, Side]) -> Pair:
    """Return rates without those of units of work between which a file shows more time: what they
    take by themselves does not say how many run in a second."""
    first, second = (
        replace(rate, value=None, reason="time_between_runs")
        if rate.value is not None and _has_pauses(side.trace)
        else rate
        for rate, side in zip(rates, sides, strict=True)
    )
    return first, second


def _has_pauses(trace: Trace) -> bool:
    """Return whether the units of work that are the runs of a trace have time between them."""
    runs = trace.profiled_runs
    if len(runs) < 2 or not runs["kind"].isin(UNIT_RUNS).all() or runs["start_ns"].isna().any():
        return False
    starts, dur_ns = (runs[name].to_numpy("int64") for name in ("start_ns", "dur_ns"))
    span_ns = int((starts + dur_ns).max() - starts.min())
    return span_ns - int(dur_ns.sum()) > _PAUSES * span_ns


def _where(known: Sequence[bool], values: Sequence[float | None]) -> list[float | None]:
    return [value if is_known else None for is_known, value in zip(known, values, strict=True)]


def _pair(
    values: list[float | None], unit: str, reason: Reason, basis: Basis = "measured"
) -> tuple[Quantity, Quantity]:
    first, second = (_quantity(value, unit, reason, basis) for value in values)
    return first, second


def _quantity(
    value: float | None, unit: str, reason: Reason, basis: Basis = "measured"
) -> Quantity:
    """The value, or why there is none."""
    return Quantity(value, unit, basis, None if value is not None else reason)


def _fractions(values: list[float | None]) -> tuple[Quantity, Quantity]:
    return _pair(values, "fraction", "no_times")


def _batch(side: Side) -> int:
    batch = side.experiment.record.model.batch if side.experiment else None
    return batch or 1


def _gaps(sides: tuple[Side, Side]) -> Pair:
    """The mean time of a run in which no operator ran."""
    values = []
    for side in sides:
        is_known = side.trace.has_runs or side.trace.profiled_runs.empty
        gaps = run_spans(side.trace)["gap_ns"].dropna()
        value = float(gaps.mean()) if len(gaps) and is_known else None
        reason: Reason = "no_start_times" if is_known else "runs_unknown"
        if lacks_kernels(side.trace):
            reason = "kernels_missing"
        values.append(_quantity(value, "ns", reason))
    return values[0], values[1]


def _utilisation(
    sides: tuple[Side, Side], latency: Pair, under: tuple[UnderRoofs, UnderRoofs]
) -> Figure:
    """FLOPs of the model / (latency x peak): the same FLOPs for fused and unfused.

    FLOPs that the device counted go before those from shapes. Products of 8-bit numbers have
    their own peak, so with both it is sum(FLOPs / peak) / latency.
    """
    values = []
    for side, time, one in zip(sides, latency, under, strict=True):
        counted = counted_flops(side.trace)
        top = one.roofs.peak
        basis: Basis = "modelled"
        if counted is not None:
            value, reason = utilisation(counted, time.value, top.value), top.reason
            basis = "assumed" if top.basis == "assumed" else "counter"
        else:
            ideal, reason = time_at_peak_ns(side.trace, one.roofs.tops)
            value = ratio(ideal, time.value)
        values.append(Quantity(value, "fraction", basis, None if value else reason or time.reason))
    return Figure("compute_utilisation", values[0], values[1], kind="points")


def _operator_figures(
    sides: tuple[Side, Side], under: tuple[UnderRoofs, UnderRoofs]
) -> tuple[Figure, ...]:
    """Of the operators whose FLOPs are counted, by the profile: against peak and roof."""
    used: list[Quantity] = []
    shares: list[Quantity] = []
    for side, one in zip(sides, under, strict=True):
        heavy = heavy_operators(side.trace)
        for into, (value, reason) in (
            (used, counted_utilisation(heavy, one.roofs.tops)),
            (shares, share_of_roof(heavy, one.operators.loc[heavy.index])),
        ):
            reason = why_no_heavy(side.trace) if heavy.empty else reason
            into.append(Quantity(value, "fraction", "modelled", reason))
    return (
        Figure("operator_utilisation", used[0], used[1], kind="points"),
        Figure("roofline_share", shares[0], shares[1], kind="points"),
    )


def _cache_figures(
    sides: tuple[Side, Side], known: Sequence[bool], size: Quantity
) -> tuple[Figure, ...]:
    opaque = [side.graph is not None and compiled_nodes(side.graph) > 0 for side in sides]
    uses = [
        cache_use(side.graph, int(size.value or 0))
        if side.graph is not None and not is_opaque
        else None
        for side, is_opaque in zip(sides, opaque, strict=True)
    ]

    def quantities(unit: str, pick: str) -> Pair:
        values = []
        for use, is_opaque in zip(uses, opaque, strict=True):
            reason: Reason = "no_graph" if use is None else "no_misses"
            reason = "inside_unknown" if is_opaque else reason
            values.append(_quantity(_number(use, pick), unit, reason, "modelled"))
        return values[0], values[1]

    def in_cache(unit: str, pick: str) -> Pair:
        """The same of the modelled cache, which is that of the processor."""
        nothing = Quantity(None, unit, "modelled", "on_device")
        one, other = quantities(unit, pick)
        return (
            nothing if sides[0].is_on_device else one,
            nothing if sides[1].is_on_device else other,
        )

    moved: list[Quantity] = []
    for use, side, is_known, is_opaque in zip(uses, sides, known, opaque, strict=True):
        value = float(use.touched_bytes) if use is not None else bytes_moved(side.trace)
        value = value if is_known and not is_opaque else None
        reason: Reason = "inside_unknown" if is_opaque else "no_sizes"
        moved.append(_quantity(value, "bytes", reason, "modelled"))
    return (
        Figure("bytes_moved", moved[0], moved[1]),
        Figure("cache_missed_bytes", *in_cache("bytes", "missed_bytes")),
        Figure("cache_utilisation", *in_cache("fraction", "utilisation"), kind="points"),
        Figure("cache_hit_ratio", *in_cache("fraction", "hit_ratio"), kind="points"),
        Figure("intermediate_bytes", *quantities("bytes", "intermediate_bytes")),
    )


def _counter_figures(sides: tuple[Side, Side]) -> tuple[Figure, ...]:
    """The counters that a side has. No change of means over cores where those are not alike."""
    known = [total_counters(side.trace) for side in sides]
    alike = len({has_split_cores(side.trace) for side in sides} - {None}) < 2
    shown = []
    for measure in MEASURES:
        code = measure.code
        counters = [totals.get(code) for totals in known]
        if counters == [None, None]:
            continue
        values = [None if counter is None else counter.value for counter in counters]
        kind: ChangeKind = "points" if measure.unit == "fraction" else "relative"
        if code in OF_CORES and not alike:
            kind = "none"
        is_estimate = code == "occupancy" and any(
            str(column).startswith("est.") for side in sides for column in side.trace.calls.columns
        )
        basis: Basis = "modelled" if is_estimate else "counter"
        if code == "copy_bandwidth":  # bytes / time of a copy: no counter of the device
            basis = "measured"
        pair = _pair(values, measure.unit, _NO_COUNTER.get(code, "no_counter"), basis)
        shown.append(Figure(CounterCode(code), *pair, kind=kind))
    return tuple(shown)


def _number(use: CacheUse | None, field: str) -> float | None:
    value = getattr(use, field) if use is not None else None
    return None if value is None else float(value)


def _memory(side: Side) -> tuple[Quantity]:
    value = side.variant.peak_memory_bytes if side.variant else None
    told = None if value is None else float(value)
    reason: Reason = "not_recorded"
    if side.is_on_device:  # of older recordings, the host's alone
        told, reason = None, "on_device"
    elif side.variant is None and side.trace.memory:
        reason = "memory_over_time"
    return (_quantity(told, "bytes", reason),)


def _output_difference(baseline: Side, candidate: Side) -> Figure:
    """Relative difference of outputs; only known against the recording's own baseline, and where
    both gave finite numbers of one shape."""
    values = []
    for side in (baseline, candidate):
        difference = side.variant.output_difference if side.variant else None
        value: float | None = None
        reason: Reason = "not_recorded"
        if side.experiment is not None and not side.has_model:
            value = None  # of a command nobody knows the outputs
        elif side.experiment and side.label == side.experiment.record.settings.baseline:
            value = 0.0
        elif difference is not None:
            value = difference.relative
            reason = "outputs_not_numbers" if difference.absolute is None else "outputs_zero"
        values.append(_quantity(value, "number", reason))
    return Figure("output_difference", values[0], values[1], kind="none")


def _agreement(baseline: Side, candidate: Side) -> tuple[Figure, ...]:
    """Classes chosen as the recording's baseline chooses them; only where a side has it."""
    codes: dict[str, FigureCode] = {"top1": "agreement_top1", "top5": "agreement_top5"}
    told = {code: _agreeing(pick, baseline, candidate) for pick, code in codes.items()}
    return tuple(Figure(code, *pair, kind="points") for code, pair in told.items() if pair)


def _agreeing(pick: str, *sides: Side) -> tuple[Quantity, Quantity] | None:
    values = []
    for side in sides:
        agreement = side.variant.agreement if side.variant else None
        values.append(getattr(agreement, pick, None))
    if values == [None, None]:
        return None
    for index, side in enumerate(sides):
        if side.experiment and side.label == side.experiment.record.settings.baseline:
            values[index] = 1.0
    return _pair(values, "fraction", "not_recorded")
